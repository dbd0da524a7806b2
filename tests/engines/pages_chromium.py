"""A Chromium for tests of pages: what is on the console, what breaks a policy, what axe finds, pictures."""
from selenium import webdriver
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.common.by import By
from selenium.webdriver.support.ui import WebDriverWait

WIDE, PHONE = (1280, 900), (390, 844)

# What breaks a policy is remembered from the first byte of a page on.
WATCH = """
window.broken = [];
document.addEventListener('securitypolicyviolation', (event) => broken.push(event.violatedDirective + ' ' + event.blockedURI));
window.addEventListener('error', (event) => broken.push(String(event.message)));
window.alert = (text) => broken.push('alert ' + text);
"""


class Failed(Exception):
    pass


def check(what, holds):
    if not holds:
        raise Failed(what)


def equals(what, found, wanted):
    check(f"{what}: expected {repr(wanted)[:2000]}, found {repr(found)[:2000]}", found == wanted)


def parts(version):
    return [int(part) for part in version.split(".")]


class Browser:
    def __init__(self, axe, pictures):
        options = webdriver.ChromeOptions()
        options.binary_location = "/usr/bin/chromium"
        for argument in ("--headless=new", "--no-sandbox", "--hide-scrollbars", "--disable-dev-shm-usage"):
            options.add_argument(argument)
        options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
        self.driver = webdriver.Chrome(service=Service("/usr/bin/chromedriver"), options=options)
        self.driver.execute_cdp_cmd("Page.addScriptToEvaluateOnNewDocument", {"source": WATCH})
        self.axe, self.pictures = axe.read_text(), pictures
        self.size(WIDE)
        self.media()

    def size(self, size, mobile=False):
        self.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride",
                                    {"width": size[0], "height": size[1], "deviceScaleFactor": 1, "mobile": mobile})

    def media(self, scheme="light", media=""):
        self.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {
            "media": media, "features": [{"name": "prefers-color-scheme", "value": scheme},
                                         {"name": "prefers-reduced-motion", "value": "reduce"}]})  # no click on what still moves

    def open(self, url):
        self.driver.get("about:blank")  # a new fragment alone would load nothing
        self.driver.get(url)

    def run(self, script, *arguments):
        return self.driver.execute_script(script, *arguments)

    def at(self, name):
        return self.driver.find_element(By.ID, name)

    def text(self, name):
        return self.at(name).text

    def wait(self, what, condition):
        try:
            WebDriverWait(self.driver, 60).until(lambda _: condition())
        except Exception as error:
            raise Failed(f"waited for: {what}") from error

    def picture(self, name):
        self.driver.save_screenshot(str(self.pictures / f"{name}.png"))

    def check_quiet(self, where, allowed=()):
        """Nothing on the console, no policy broken, no error."""
        equals(f"{where}: what broke", self.run("return window.broken"), [])
        lines = [line["message"] for line in self.driver.get_log("browser")
                 if not any(word in line["message"] for word in allowed)]
        equals(f"{where}: the console", lines, [])

    def check_axe(self, where):
        self.run(self.axe)
        found = self.driver.execute_async_script(
            "const done = arguments[0]; axe.run({resultTypes: ['violations', 'incomplete']}).then(done, (error) => done({error: String(error)}));")
        check(f"{where}: axe failed: {found.get('error')}", "violations" in found)
        rules = [(rule["id"], [node["html"][:120] for node in rule["nodes"][:3]]) for rule in found["violations"]]
        equals(f"{where}: axe", rules, [])
        check(f"{where}: axe looked at nothing", len(found["passes"]) > 10)
