#!/usr/bin/env python3
"""Fails when an HTML file has a tag that is not closed, an image without text, or two equal ids."""

import sys
from html.parser import HTMLParser
from pathlib import Path

VOID = {"meta", "link", "img", "br", "hr", "input"}


class Checker(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.ids: set[str] = set()
        self.faults: list[str] = []

    def look_at(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        values = dict(attributes)
        identity = values.get("id")
        if identity is not None:
            if identity in self.ids:
                self.faults.append(f"id {identity} twice")
            self.ids.add(identity)
        if tag == "img" and not values.get("alt"):
            self.faults.append("image without alternative text")
        if tag == "svg" and not values.get("aria-label"):
            self.faults.append("chart without a label")

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.look_at(tag, attrs)
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.look_at(tag, attrs)

    def handle_endtag(self, tag: str) -> None:
        if not self.open or self.open.pop() != tag:
            self.faults.append(f"</{tag}> at {self.getpos()} closes something else")


def main() -> int:
    checker = Checker()
    checker.feed(Path(sys.argv[1]).read_text(encoding="utf-8"))
    checker.close()
    faults = checker.faults + [f"<{tag}> is not closed" for tag in checker.open]
    for fault in faults:
        print(fault)
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
