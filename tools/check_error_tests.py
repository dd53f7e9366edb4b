#!/usr/bin/env python3
"""Every code of docs/reference/errors.md must be named by some test: by itself or by its constant.

check_error_tests.py [ROOT]
"""

import re
import sys
from pathlib import Path

CODE = re.compile(r"`(E-[A-Z0-9-]+)`")
DECLARED = re.compile(r'ErrorCode\s+(k\w+)\s*\{\s*"(E-[A-Z0-9-]+)"')
NAME = re.compile(r"\bk[A-Z]\w*|\bE-[A-Z0-9]+(?:-[A-Z0-9]+)*")
SUFFIXES = {".cc", ".cu", ".h", ".py", ".sh"}


def texts(folder: Path) -> list[str]:
    paths = sorted(path for path in folder.rglob("*") if path.suffix in SUFFIXES)
    return [path.read_text(encoding="utf-8") for path in paths]


def untested(root: Path) -> list[str]:
    page = (root / "docs" / "reference" / "errors.md").read_text(encoding="utf-8")
    constants = {code: name for text in texts(root / "src") for name, code in DECLARED.findall(text)}
    # The tests of this check name codes that it plants.
    tests = [path for path in texts(root / "tests") if "check_error_tests" not in path]
    named = {name for text in tests for name in NAME.findall(text)}
    return [code for code in CODE.findall(page) if code not in named and constants.get(code) not in named]


def main() -> int:
    root = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).resolve().parents[1]
    missing = untested(root)
    for code in missing:
        print(f"docs/reference/errors.md: {code}: no test names it; cause it in tests/e2e/data_error_help_test.py")
    return 1 if missing else 0


if __name__ == "__main__":
    sys.exit(main())
