#!/usr/bin/env python3
"""Fails when a page names a setting, an option or a file of this repository that is not there.

It reads the `words in code` of README, CONTRIBUTING and docs. Settings (with the names of myxtts) and
options are those of docs/reference, which the program writes itself, and those of the programs in bench; the keys under
features.mel are the recipe's.
"""

import argparse
import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SPAN = re.compile(r"`([^`\n]+)`")
FENCE = re.compile(r"^```.*?^```", re.MULTILINE | re.DOTALL)
DOTTED = re.compile(r"(?<![\w./-])[a-z_]+(?:\.[a-z_0-9]+)+(?![\w/(-])")
OPTION = re.compile(r"(?<![\w-])--[a-z][a-z0-9-]+")
PATH = re.compile(r"(?<![\w./-])(?:src|docs|tools|tests|bench|cmake|examples)/[\w./-]*\w")
BENCH_OPTION = re.compile(r'add_argument\(\s*"(--[a-z-]+)"')
RECIPE_KEY = re.compile(r'visit\("(\w+)"')
# Dotted words that are no settings: files by their ending, and names of Python by their first word.
ENDINGS = re.compile(r"bin|cc|csv|cuh?|gz|h|html|jsonl?|md|model|png|py|ring|scp|so|stk|svg|tsv|txt|wav|yaml")
PYTHON = {
    "bench",
    "batch",
    "feed",
    "lhotse",
    "librosa",
    "numpy",
    "self",
    "stoker",
    "tf",
    "tools",
    "torch",
    "torchaudio",
}
# Files of the kernel.
KERNEL = {"pids.max"}
# Options of other programs.
OTHER_OPTIONS = {"--check", "--fmad", "--list", "--quick", "--stoker"}


def pages(root: Path) -> list[Path]:
    named = [root / "README.md", root / "CONTRIBUTING.md", *(root / "docs").rglob("*.md")]
    return sorted(page for page in named if page.is_file() and "reference" not in page.parts)


def reference(root: Path) -> str:
    return "".join(page.read_text(encoding="utf-8") for page in sorted((root / "docs/reference").glob("*.md")))


def known_settings(root: Path, text: str) -> set[str]:
    known = {name for span in SPAN.findall(text) for name in DOTTED.findall(span)}
    recipe = (root / "src/stoker/config/mel_recipe.cc").read_text(encoding="utf-8")
    return known | {f"features.mel.{key}" for key in RECIPE_KEY.findall(recipe)}


def bench_options(root: Path) -> set[str]:
    """Of the programs that measure: results name the command that printed them."""
    texts = (path.read_text(encoding="utf-8") for path in sorted((root / "bench").rglob("*.py")))
    return {name for text in texts for name in BENCH_OPTION.findall(text)}


def is_setting(word: str) -> bool:
    if word in KERNEL:
        return False
    return word.split(".")[0] not in PYTHON and not ENDINGS.fullmatch(word.rsplit(".", maxsplit=1)[-1])


def faults_of(root: Path, page: Path, settings: set[str], options: set[str]) -> list[str]:
    text = FENCE.sub("", page.read_text(encoding="utf-8"))
    faults = []
    for span in SPAN.findall(text):
        faults += [f"setting {name}" for name in DOTTED.findall(span) if is_setting(name) and name not in settings]
        faults += [f"option {name}" for name in OPTION.findall(span) if name not in options]
        # A room of the engine is named without the folder of all layers.
        places = (root, root / "src" / "stoker")
        faults += [f"file {name}" for name in PATH.findall(span) if not any((at / name).exists() for at in places)]
    return [f"{page.relative_to(root)}: no {fault} is there" for fault in faults]


def main() -> int:
    parser = argparse.ArgumentParser(description="Fails when a page names a setting, option or file that is not there.")
    parser.add_argument("--root", type=Path, default=ROOT)
    root = parser.parse_args().root
    text = reference(root)
    settings = known_settings(root, text)
    options = set(OPTION.findall(text)) | bench_options(root) | OTHER_OPTIONS
    faults = [fault for page in pages(root) for fault in faults_of(root, page, settings, options)]
    print("\n".join(faults))
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
