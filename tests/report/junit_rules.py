"""What GitLab and Jenkins ask of a JUnit report: junit_rules.py FILE

Prints a line for each rule that is broken, and then what the report says: `suite|name|outcome|kind|message|text` a case, in the
escapes of Python. It reads with the standard library's parser, which refuses what is not XML 1.0.
"""
import os
import re
import sys
import xml.etree.ElementTree as tree

ATTRIBUTES = {
    "testsuites": {"name", "tests", "failures", "errors", "skipped", "time"},
    "testsuite": {"name", "tests", "failures", "errors", "skipped", "time", "timestamp"},
    "testcase": {"classname", "name", "time"},
    "failure": {"message", "type"}, "error": {"message", "type"}, "skipped": {"message"},
}
CHILDREN = {"testsuites": {"testsuite"}, "testsuite": {"testcase"}, "testcase": {"failure", "error", "skipped"}}
COUNTS = {"failures": "failure", "errors": "error", "skipped": "skipped"}


def broken(root):
    if root.tag != "testsuites":
        yield "the root is not testsuites"
    for element in root.iter():
        if set(element.attrib) - ATTRIBUTES.get(element.tag, set()) or not set(element.attrib) >= {"name"} & ATTRIBUTES[element.tag]:
            yield f"attributes of {element.tag}: {sorted(element.attrib)}"
        if {child.tag for child in element} - CHILDREN.get(element.tag, set()):
            yield f"in {element.tag}: {[child.tag for child in element]}"
        if "time" in element.attrib and not re.fullmatch(r"\d+\.\d{3}", element.get("time")):
            yield f"time {element.get('time')}"
        if element.tag.startswith("testsuite"):
            cases = list(element.iter("testcase"))
            if element.get("tests") != str(len(cases)) or not cases and element.tag == "testsuite":
                yield f"tests of {element.get('name')}"
            for attribute, tag in COUNTS.items():
                if element.get(attribute) != str(sum(case.find(tag) is not None for case in cases)):
                    yield f"{attribute} of {element.get('name')}"
    names = [(case.get("classname"), case.get("name")) for case in root.iter("testcase")]
    if len(set(names)) < len(names):
        yield "a name twice"
    for case in root.iter("testcase"):
        if len(case) > 1 or "." in case.get("classname"):
            yield f"case {case.get('name')}"
        if len(case) and not (case[0].text or "").startswith(case[0].get("message").split("\n")[0]):
            yield f"the text of {case.get('name')} lacks its message"


def main():
    root = tree.parse(sys.argv[1]).getroot()
    for line in broken(root):
        print("BROKEN", line)
    if os.path.getsize(sys.argv[1]) >= 30_000_000:
        print("BROKEN larger than 30 MB")
    if sum(1 + len(element.attrib) for element in root.iter()) > 250_000:
        print("BROKEN too complex")
    print(root.get("name"))
    for suite in root:
        for case in suite:
            what = case[0] if len(case) else None
            fields = (what.get("type", ""), what.get("message"), what.text) if what is not None else ("", "", "")
            print("|".join([suite.get("name"), case.get("name"), what.tag if what is not None else "passed", *map(ascii, fields)]))


main()
