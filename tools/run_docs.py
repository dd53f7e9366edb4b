#!/usr/bin/env python3
"""Executes every fenced `sh` and `python` block of the given pages, so that nothing in the docs can go stale.

The blocks of one page run in order in one empty folder with `stoker` on PATH and the package of the build folder; the
`python` blocks of a page share one interpreter, as in a notebook. `make` lines are checked against the Makefile without
being run. A block after `<!-- not run: reason -->` is passed over with its reason, a `python` block after
`<!-- needs: torch -->` where that name cannot be imported.
A block after `<!-- from FILE -->` must be lines of that file, which is compiled elsewhere.
Each guide has a sister of the same name in docs/fa with the same blocks; these are compared and not run again.
"""

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
BLOCK = re.compile(
    r"^(?:<!-- not run: (?P<why>[^>]*) -->\s*\n|<!-- needs: (?P<needs>[\w.]+) -->\s*\n)?"
    r"(?P<indent> *)```(?P<language>sh|python)\n(?P<body>.*?)^ *```$",
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
    language: str = "sh"
    needs: str | None = None


def blocks_of(text: str) -> list[Block]:
    found = []
    for match in BLOCK.finditer(text):
        line = text.count("\n", 0, match.start("body")) + 1
        indent = len(match.group("indent"))
        body = "\n".join(row[indent:] for row in match.group("body").split("\n"))
        found.append(Block(line, body, match.group("why"), match.group("language"), match.group("needs")))
    return found


def runnable(body: str) -> str:
    """The block with `make …` turned into a dry run in the repository."""
    return re.sub(r"^make\b", f"make -n -C {ROOT} --no-print-directory > /dev/null", body, flags=re.MULTILINE)


# Reads a block a line and answers each with what came of it.
INTERPRETER = """
import json, pkgutil, sys, traceback
answers, sys.stdout = sys.stdout, sys.stderr
names = {"__name__": "page"}
for line in sys.stdin:
    block, said, missing = json.loads(line), "", ""
    try:
        pkgutil.resolve_name(block["needs"] or "sys")
    except (ImportError, AttributeError):
        missing = block["needs"]
    try:
        if not missing:
            exec(compile("\\n" * (block["line"] - 1) + block["body"], block["page"], "exec"), names)
    except BaseException:
        said = traceback.format_exc()
    print(json.dumps({"said": said, "missing": missing}), file=answers, flush=True)
"""


class PythonPage:
    """The interpreter of one page, started with its first block."""

    def __init__(self, page: str, folder: str, environment: dict[str, str]) -> None:
        self.page, self.folder, self.environment = page, folder, environment
        self.process: subprocess.Popen[str] | None = None

    def run(self, block: Block) -> tuple[str, str]:
        """What went wrong, and the name that the block needs and that is not there."""
        if self.process is None:
            self.process = subprocess.Popen(
                [sys.executable, "-c", INTERPRETER],
                cwd=self.folder,
                env=self.environment,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                text=True,
            )
        assert self.process.stdin is not None and self.process.stdout is not None
        request = {"page": self.page, "line": block.line, "body": block.body, "needs": block.needs}
        self.process.stdin.write(json.dumps(request) + "\n")
        self.process.stdin.flush()
        answer = self.process.stdout.readline()
        if not answer:
            return f"the interpreter ended with {self.process.wait()}", ""
        said: dict[str, str] = json.loads(answer)
        return said["said"], said["missing"]

    def close(self) -> str:
        """What is wrong with how the interpreter ended."""
        if self.process is None:
            return ""
        assert self.process.stdin is not None and self.process.stdout is not None
        self.process.stdin.close()
        self.process.stdout.close()
        return "" if self.process.wait(60) == 0 else f"the interpreter ended with {self.process.returncode}"


def run_shell(block: Block, folder: str, environment: dict[str, str]) -> str:
    """What went wrong."""
    command = ["bash", "-euo", "pipefail", "-c", runnable(block.body)]
    done = subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, check=False, timeout=300
    )
    return "" if done.returncode == 0 else f"{done.stdout[-2000:]}{done.stderr[-2000:]}" or f"exit {done.returncode}"


def run_page(page: Path, environment: dict[str, str]) -> int:
    failures = 0
    name = str(page.relative_to(ROOT)) if page.is_relative_to(ROOT) else page.name
    with tempfile.TemporaryDirectory() as folder:
        python = PythonPage(name, folder, environment)
        for block in blocks_of(page.read_text(encoding="utf-8")):
            missing, said = "", ""
            if block.why_not is None and block.language == "python":
                said, missing = python.run(block)
            elif block.why_not is None:
                said = run_shell(block, folder, environment)
            why_not = block.why_not or (f"{missing} is not there" if missing else None)
            verdict = "FAILED" if said else "ok" if why_not is None else f"not run: {why_not}"
            print(f"{name}:{block.line}: {verdict}")
            if said:
                failures += 1
                print(f"{block.body}\n{said}")
        if said := python.close():
            failures += 1
            print(f"{name}: FAILED: {said}")
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
    environment["PYTHONPATH"] = str(options.build.resolve() / "python")
    faults = [fault for page in pages for fault in misquotes(page)] + sister_faults()
    print("\n".join(faults), end="\n" if faults else "")
    failures = len(faults) + sum(run_page(page.resolve(), environment) for page in pages)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
