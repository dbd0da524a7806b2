"""The form that asks: from a file, from a server that answers, from one that does not. For pages_browser.py."""
import json
import pathlib

from selenium.webdriver.common.by import By

from pages_chromium import check, equals


def check_form(browser, pages):
    browser.open(f"{pages}/ask.html")
    check("from a file it says that it can ask nobody", browser.at("from-file").is_displayed() and not browser.at("served").is_displayed())
    box = browser.at("application")
    box.clear()
    box.send_keys("pytorch")
    browser.at("version").send_keys("2.6")
    browser.at("host").send_keys("zen4")
    command = browser.text("command")
    check(f"the command: {command}", command.startswith("kiln select --dsl - --host zen4 --explain <<'JSON'") and command.endswith("\nJSON"))
    pathlib.Path("asked.sh").write_text(command + "\n")
    document = json.loads(browser.at("document").get_attribute("value"))
    equals("the document", document["optimisation"]["app_type-ai_training"]["ai_framework-pytorch"], {"version": "2.6"})
    browser.at("host").send_keys("'; touch x")
    check("a host is one word of a shell", "--host 'zen4'\\''; touch x'" in browser.text("command"))
    browser.check_quiet("the form")
    browser.picture("ask-file")


def check_answer(browser, ask_url):
    browser.open(f"{ask_url}/ask.html")
    check("served it can ask", browser.at("served").is_displayed() and not browser.at("from-file").is_displayed())
    box = browser.at("application")
    box.clear()
    box.send_keys("pytorch")
    browser.at("host").send_keys("zen4")
    browser.at("ask").click()
    browser.wait("an answer", lambda: "The answer" in browser.text("answer"))
    answer = browser.text("answer")
    check(f"the answer has its reasons: {answer}", "pytorch:" in answer and "host zen4" in answer)
    link = browser.driver.find_element(By.CSS_SELECTOR, "#answer .name a")
    name, target = link.text, link.get_attribute("href")
    browser.at("ladder").click()
    hosts = len(browser.driver.find_elements(By.CSS_SELECTOR, "#hosts option"))
    browser.wait("all rungs", lambda: len(browser.driver.find_elements(By.CSS_SELECTOR, "#rungs tbody tr")) == hosts)
    times = [float(text.split(", ")[1].split(" ")[0]) for text in cells_of(browser, "#rungs td:nth-child(3)") if "times as fast" in text]
    equals("the fastest host first", times, sorted(times, reverse=True))
    check("some hosts have another answer", len(set(cells_of(browser, "#rungs td:nth-child(2)"))) > 1)
    browser.check_quiet("the answer", ["/v1/select?host="])  # 404 where no image suits a host
    browser.run("scrollTo(0, 0)")
    browser.picture("ask-answer")
    browser.check_axe("the answer")
    browser.open(target)
    equals("the answer's page", browser.driver.find_element(By.TAG_NAME, "h1").text, name)


def check_documents(browser, ask_url, silent_url):
    """A document that is dropped, one that is wrong, and a server that has the pages alone."""
    browser.open(f"{ask_url}/ask.html")
    drop(browser, "dropped.json", '{"optimisation": {"enable_opt_build": true, "app_type": "ai_training", "app_type-ai_training": '
         '{"config": {"ai_framework": "jax"}}}}')
    browser.wait("the file", lambda: "dropped.json was read" in browser.text("file-said"))
    browser.at("ask").click()
    browser.wait("its answer", lambda: "jax:" in browser.text("answer"))
    drop(browser, "bad.json", "{no json")
    browser.wait("the bad file", lambda: "bad.json" in browser.text("file-said"))
    browser.at("ask").click()
    browser.wait("a refusal", lambda: "not valid JSON" in browser.text("answer"))
    browser.driver.get_log("browser")  # the refusal's status is on the console, as it should be
    browser.open(f"{silent_url}/ask.html")
    browser.at("ask").click()
    browser.wait("that nobody answers", lambda: "answers no questions" in browser.text("answer"))
    browser.driver.get_log("browser")


def cells_of(browser, selector):
    return browser.run("return [...document.querySelectorAll(arguments[0])].map((c) => c.textContent)", selector)


def drop(browser, name, text):
    browser.run("""
      const moved = new DataTransfer();
      moved.items.add(new File([arguments[1]], arguments[0], {type: 'application/json'}));
      document.getElementById('drop').dispatchEvent(new DragEvent('drop', {dataTransfer: moved, bubbles: true, cancelable: true}));""", name, text)
