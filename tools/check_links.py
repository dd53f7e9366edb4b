#!/usr/bin/env python3
"""Fails when a page of the docs links to a file that is not there, or when no page links to it."""

import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
LINK = re.compile(r"\]\(([^)#:]+)(?:#[^)]*)?\)")
START = ROOT / "README.md"


def main() -> int:
    pages = {path.resolve() for path in [START, ROOT / "CONTRIBUTING.md", *(ROOT / "docs").rglob("*.md")]}
    reached = {START.resolve()}
    waiting = [START.resolve()]
    broken = 0
    while waiting:
        page = waiting.pop()
        for name in LINK.findall(page.read_text(encoding="utf-8")):
            target = (page.parent / name).resolve()
            if not target.exists():
                print(f"{page.relative_to(ROOT)}: links to {name}, which is not there")
                broken += 1
            elif target in pages and target not in reached:
                reached.add(target)
                waiting.append(target)
    lost = sorted(str(page.relative_to(ROOT)) for page in pages - reached)
    for name in lost:
        print(f"{name}: no page that README.md reaches links here")
    return 1 if broken or lost else 0


if __name__ == "__main__":
    sys.exit(main())
