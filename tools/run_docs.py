#!/usr/bin/env python3
"""Executes every fenced `sh` block of the given pages, so that no command in the docs can go stale.

The blocks of one page run in order in one empty folder with `stoker` on PATH and the examples at hand. `make` lines are
checked against the Makefile without being run. A block after `<!-- not run: reason -->` is passed over with its reason.
"""

import argparse
import os
import re
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
BLOCK = re.compile(
    r"^(?P<skip><!-- not run: (?P<why>[^>]*) -->\s*\n)?(?P<indent> *)```sh\n(?P<body>.*?)^ *```$",
    re.MULTILINE | re.DOTALL,
)


@dataclass
class Block:
    line: int
    body: str
    why_not: str | None


def blocks_of(text: str) -> list[Block]:
    found = []
    for match in BLOCK.finditer(text):
        line = text.count("\n", 0, match.start("body")) + 1
        indent = len(match.group("indent"))
        body = "\n".join(row[indent:] for row in match.group("body").split("\n"))
        found.append(Block(line, body, match.group("why")))
    return found


def runnable(body: str) -> str:
    """The block with `make …` turned into a dry run in the repository."""
    return re.sub(r"^make\b", f"make -n -C {ROOT} --no-print-directory > /dev/null", body, flags=re.MULTILINE)


def run_page(page: Path, environment: dict[str, str]) -> int:
    failures = 0
    with tempfile.TemporaryDirectory() as folder:
        for block in blocks_of(page.read_text(encoding="utf-8")):
            where = f"{page.relative_to(ROOT)}:{block.line}"
            if block.why_not is not None:
                print(f"{where}: not run: {block.why_not}")
                continue
            command = ["bash", "-euo", "pipefail", "-c", runnable(block.body)]
            done = subprocess.run(
                command, cwd=folder, env=environment, capture_output=True, text=True, check=False, timeout=300
            )
            print(f"{where}: {'ok' if done.returncode == 0 else 'FAILED'}")
            if done.returncode != 0:
                failures += 1
                print(f"{block.body}\n{done.stdout[-2000:]}{done.stderr[-2000:]}")
    return failures


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--build", type=Path, default=ROOT / "build")
    parser.add_argument("pages", type=Path, nargs="*")
    options = parser.parse_args()
    pages = options.pages or [
        ROOT / "README.md",
        *sorted((ROOT / "docs" / "guide").glob("*.md")),
        *sorted((ROOT / "docs" / "fa").glob("*.md")),
    ]
    environment = dict(os.environ, PATH=f"{options.build.resolve()}:{os.environ['PATH']}")
    environment["NO_COLOR"] = "1"
    failures = sum(run_page(page.resolve(), environment) for page in pages)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
