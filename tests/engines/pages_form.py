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
    browser.at("program").send_keys("./train.sh --epochs 5")
    browser.at("scheduler").send_keys("Slurm")
    job = browser.text("job-command")
    check(f"the command of the job: {job}", job.startswith("kiln job --dsl - --host zen4 --scheduler slurm <<'JSON'") and job.endswith("\nJSON"))
    pathlib.Path("job.sh").write_text(job + "\n")
    browser.at("infrastructure").send_keys("$(touch y)")
    check("an infrastructure is one word of a shell", "--infrastructure '$(touch y)'" in browser.text("job-command"))
    browser.at("infrastructure").clear()
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


def check_job(browser, ask_url, silent_url):
    """The script of a job, to copy; what a server says that has the pages alone, and what is refused."""
    browser.open(f"{ask_url}/ask.html")
    check("no script before it is asked for", not browser.at("job-script").is_displayed())
    box = browser.at("application")
    box.clear()
    box.send_keys("pytorch")
    browser.at("host").send_keys("zen4")
    browser.at("program").send_keys("./train.sh --epochs '<b>5</b>'")
    browser.at("scheduler").send_keys("Slurm")
    browser.at("job").click()
    browser.wait("the script", lambda: browser.at("job-script").is_displayed())
    script = browser.at("script").get_attribute("textContent")
    check(f"a script of Slurm: {script}", script.startswith("#!/bin/bash\n#SBATCH --job-name=job\n") and "./train.sh --epochs '<b>5</b>'" in script)
    pathlib.Path("shown.sh").write_text(script)
    copy = browser.driver.find_element(By.CSS_SELECTOR, "#job-script button")
    equals("the copy button", copy.get_attribute("aria-label"), "Copy: The job script")
    copy.click()
    browser.wait("it is copied", lambda: copy.text in ("Copied", "Selected: press Ctrl+C"))
    browser.check_quiet("the job script")
    browser.check_axe("the job script")
    browser.at("version").send_keys("2")
    check("a changed question hides the script", not browser.at("job-script").is_displayed())
    browser.at("infrastructure").send_keys("none")
    browser.at("job").click()
    browser.wait("a refusal", lambda: "none" in browser.text("job-said") and "Asking" not in browser.text("job-said"))
    check("no script of a refused question", not browser.at("job-script").is_displayed())
    browser.driver.get_log("browser")
    browser.open(f"{silent_url}/ask.html")
    browser.at("job").click()
    browser.wait("that nobody writes it", lambda: "answers no questions" in browser.text("job-said"))
    browser.driver.get_log("browser")


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
