#!/usr/bin/env python3
"""Executes every fenced `sh` block of the given pages, so that no command in the docs can go stale.

The blocks of one page run in order in one empty folder with `stoker` on PATH and the examples at hand. `make` lines are
checked against the Makefile without being run. A block after `<!-- not run: reason -->` is passed over with its reason.
A block after `<!-- from FILE -->` must be lines of that file, which is compiled elsewhere.
Each guide has a sister of the same name in docs/fa with the same blocks; these are compared and not run again.
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
FENCED = re.compile(r"^```\w*\n.*?^```$", re.MULTILINE | re.DOTALL)
QUOTED = re.compile(r"^<!-- from (?P<file>\S+) -->\s*\n```\w*\n(?P<body>.*?)^```$", re.MULTILINE | re.DOTALL)
GUIDE, PERSIAN = ROOT / "docs" / "guide", ROOT / "docs" / "fa"


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


def misquotes(page: Path, root: Path = ROOT) -> list[str]:
    """Blocks that are not lines of the file they name, indentation aside."""
    text = page.read_text(encoding="utf-8")
    faults = []
    for match in QUOTED.finditer(text):
        source = root / match["file"]
        lines = [line.strip() for line in source.read_text(encoding="utf-8").splitlines()] if source.is_file() else []
        wanted = [line.strip() for line in match["body"].splitlines()]
        starts = range(len(lines) - len(wanted) + 1)
        if not any(lines[start : start + len(wanted)] == wanted for start in starts):
            line = text.count("\n", 0, match.start("body")) + 1
            faults.append(f"{page.name}:{line}: FAILED: these are not lines of {match['file']}")
    return faults


def sister_faults(guides: Path = GUIDE, sisters: Path = PERSIAN) -> list[str]:
    """Guides without a Persian sister, and sisters whose blocks differ from the guide's."""
    faults = []
    for guide in sorted(guides.glob("*.md")):
        sister = sisters / guide.name
        if not sister.is_file():
            faults.append(f"{guide.name}: FAILED: no page of this name in {sisters.name}")
            continue
        own, other = (FENCED.findall(page.read_text(encoding="utf-8")) for page in (guide, sister))
        if own != other:
            differing = next((block for block in own if block not in other), f"{len(own)} blocks in the same order")
            faults.append(f"{sisters.name}/{guide.name}: FAILED: expected as in the guide:\n{differing}")
    return faults


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--build", type=Path, default=ROOT / "build")
    parser.add_argument("pages", type=Path, nargs="*")
    options = parser.parse_args()
    pages = options.pages or [
        ROOT / "README.md",
        *sorted(GUIDE.glob("*.md")),
        *sorted(page for page in PERSIAN.glob("*.md") if not (GUIDE / page.name).is_file()),
    ]
    environment = dict(os.environ, PATH=f"{options.build.resolve()}:{os.environ['PATH']}")
    environment["NO_COLOR"] = "1"
    faults = [fault for page in pages for fault in misquotes(page)] + sister_faults()
    print("\n".join(faults), end="\n" if faults else "")
    failures = len(faults) + sum(run_page(page.resolve(), environment) for page in pages)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
