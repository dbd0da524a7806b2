#!/usr/bin/env python3
"""Holds an export of pages to what it promises: index_export_pages.py FOLDER IMAGES. Every page is well-formed, leads nowhere but to
files and anchors that are there, names nothing elsewhere, has its policy before all that the policy is about, and labels for
who cannot see; data.js has so many rows. Prints a line for each breach; the exit code is 1 then."""
import html.parser
import json
import pathlib
import re
import sys
import urllib.parse

VOID = {"meta", "link", "img", "input", "br", "hr", "path", "rect", "circle", "polyline"}
POLICY = re.compile(r"default-src 'none'; ")


class Page(html.parser.HTMLParser):
    """One page: what is open, ids, links, and what is wrong."""

    def __init__(self, text):
        super().__init__(convert_charrefs=True)
        self.open, self.ids, self.links, self.named, self.wrong, self.policy = [], set(), [], [], [], False
        self.headings, self.landmarks, self.title = [], set(), ""
        self.feed(text)
        self.close()
        if self.open:
            self.wrong.append(f"<{self.open[-1]}> is not closed")
        if not text.startswith("<!doctype html>\n<html lang=\"en\">"):
            self.wrong.append("no doctype or no language")

    def handle_starttag(self, tag, attributes):
        if tag not in VOID:
            self.open.append(tag)
        names = [name for name, _ in attributes]
        if len(names) != len(set(names)):
            self.wrong.append(f"<{tag}> has an attribute twice")
        given = dict(attributes)
        for name in names:
            if name.startswith("on") or name in ("style", "srcdoc", "action", "formaction", "http-equiv") and tag != "meta":
                self.wrong.append(f"<{tag} {name}>")
        if given.get("http-equiv") == "Content-Security-Policy":
            self.policy = bool(POLICY.match(given["content"])) and "unsafe" not in given["content"]
        if tag in ("script", "link", "style") and not self.policy:
            self.wrong.append(f"<{tag}> before the policy")
        if tag == "script" and "src" not in given:
            self.wrong.append("a script inside the page")
        if "id" in given:
            if given["id"] in self.ids:
                self.wrong.append(f"the id {given['id']} twice")
            self.ids.add(given["id"])
        self.links += [given[name] for name in ("href", "src") if name in given]
        for name in ("for", "aria-labelledby", "aria-describedby", "list", "form"):
            self.named += (given.get(name) or "").split()
        if re.fullmatch("h[1-6]", tag):
            self.headings.append(int(tag[1]))
        self.landmarks.add(tag)
        if tag == "img" and "alt" not in given:
            self.wrong.append("a picture without words")

    def handle_endtag(self, tag):
        if tag in VOID:
            return
        if not self.open or self.open.pop() != tag:
            self.wrong.append(f"</{tag}> closes nothing at line {self.getpos()[0]}")

    def handle_data(self, data):
        if self.open and self.open[-1] == "title":
            self.title += data

    def check(self):
        if not self.policy:
            self.wrong.append("no policy")
        if self.headings[:1] != [1] or self.headings.count(1) != 1:
            self.wrong.append(f"headings {self.headings}")
        if any(after > before + 1 for before, after in zip(self.headings, self.headings[1:])):
            self.wrong.append(f"a heading leaves out a level: {self.headings}")
        if "main" not in self.landmarks or not self.title.strip():
            self.wrong.append("no main or no title")
        for name in self.named:
            if name not in self.ids:
                self.wrong.append(f"names {name}, which is not there")


def check_links(folder, path, page, pages):
    for link in page.links:
        parts = urllib.parse.urlsplit(link)
        if parts.scheme or parts.netloc or link.startswith("/"):
            page.wrong.append(f"leads elsewhere: {link}")
            continue
        target = (path.parent / urllib.parse.unquote(parts.path)).resolve() if parts.path else path
        if not target.is_relative_to(folder) or not target.is_file():
            page.wrong.append(f"leads nowhere: {link}")
        elif parts.fragment and target in pages and target.name != "compare.html" and parts.fragment not in pages[target].ids:
            page.wrong.append(f"leads to no anchor: {link}")


def check_data(folder, images):
    text = (folder / "data.js").read_text(encoding="utf-8")
    start, end = "window.kilnCatalogue = ", ";\n"
    wrong = []
    if not text.startswith(start) or not text.endswith(end):
        wrong.append("is no statement")
    data = json.loads(text[len(start):-len(end)])
    if len(data["rows"]) != images:
        wrong.append(f"has {len(data['rows'])} rows")
    wrong += [f"has {mark!r}" for mark in "<>&\u2028\u2029\u202e" if mark in text]
    for row in data["rows"]:
        path = row[1] or f"images/{row[0].replace(':', '/')}.html"
        if not (folder / path).is_file():
            wrong.append(f"leads nowhere: {path}")
    return wrong


def main(arguments):
    folder = pathlib.Path(arguments[0]).resolve()
    pages = {path: Page(path.read_text(encoding="utf-8")) for path in sorted(folder.rglob("*.html"))}
    wrong = [f"data.js: {line}" for line in check_data(folder, int(arguments[1]))]
    for path, page in pages.items():
        page.check()
        check_links(folder, path, page, pages)
        wrong += [f"{path.relative_to(folder)}: {line}" for line in page.wrong]
    for path in folder.rglob("*"):
        if path.suffix in (".js", ".css") and re.search(r"https?:|@import|\burl\(", path.read_text(encoding="utf-8")) and path.name not in ("data.js", "packages.js"):
            wrong.append(f"{path.name}: names an address")
    print("\n".join(wrong) if wrong else f"{len(pages)} pages")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
