#!/usr/bin/env python3
"""Prints the figures of the source tree that CONTRIBUTING.md names: sizes of folders, of files, and who includes whom.

    tools/house.py [--list] [--check] [ROOT]

--list names the files behind the figures, --check fails where a figure is past its bound.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections import Counter, defaultdict
from dataclasses import dataclass
from pathlib import Path

SUFFIXES = {".h", ".cc", ".cu", ".cuh"}
HEADERS = {".h", ".cuh"}
INCLUDE = re.compile(r'^\s*#\s*include\s*"(stoker/[^"]+)"', re.MULTILINE)
MOST_FILES_IN_FOLDER = 45
FLAT_BY_DESIGN = {"cli"}  # one file a command
SHORT_LINES = 30
MOST_SHORT_SHARE = 0.08
MOST_ONE_INCLUDER_SHARE = 0.20
COMMENT = re.compile(r"^\s*(//|/\*|\*)")


@dataclass(frozen=True)
class House:
    """What the tree is made of."""

    lines: dict[str, list[str]]  # by path below src/stoker
    includers: dict[str, set[str]]  # of each header: files that include it, its own source and tests aside

    @property
    def headers(self) -> list[str]:
        return [name for name in self.lines if Path(name).suffix in HEADERS]

    def folders(self) -> Counter[str]:
        return Counter(str(Path(name).parent) for name in self.lines)

    def short(self) -> list[str]:
        """CUDA stubs aside: their length is that of the interface they replace."""
        return [n for n, text in self.lines.items() if len(text) < SHORT_LINES and not Path(n).stem.endswith("_stub")]

    def one_includer(self) -> list[str]:
        """Headers that a single file besides their own source needs; those that only tests include count too."""
        return [name for name in self.headers if len(self.includers[name]) <= 1]


def own_source(header: str, path: str) -> bool:
    """x.h belongs to x.cc, x_cpu.cc, x_cuda.cu, x_stub.cc."""
    a, b = Path(header), Path(path)
    same_name = re.fullmatch(rf"{re.escape(a.stem)}(_cpu|_cuda|_stub|_x86|_portable)?", b.stem)
    return a.parent == b.parent and same_name is not None


def read(root: Path) -> House:
    source = root / "src" / "stoker"
    lines: dict[str, list[str]] = {}
    includers: dict[str, set[str]] = defaultdict(set)
    for base in (source, root / "tests", root / "bench", root / "examples", root / "bindings"):
        for path in sorted(base.rglob("*")):
            if path.suffix not in SUFFIXES:
                continue
            text = path.read_text(encoding="utf-8")
            name = str(path.relative_to(source)) if base == source else str(path.relative_to(root))
            if base == source:
                lines[name] = text.splitlines()
            for header in INCLUDE.findall(text):
                included = header.removeprefix("stoker/")
                if not own_source(included, name):
                    includers[included].add(name)
    return House(lines, includers)


def share(part: int, whole: int) -> str:
    return f"{part} of {whole} ({100 * part / whole:.0f} %)"


def faults(house: House) -> list[str]:
    found = [
        f"{folder}: {count} files, at most {MOST_FILES_IN_FOLDER}"
        for folder, count in sorted(house.folders().items())
        if count > MOST_FILES_IN_FOLDER and folder not in FLAT_BY_DESIGN
    ]
    if len(house.short()) > MOST_SHORT_SHARE * len(house.lines):
        found.append(f"files under {SHORT_LINES} lines: {len(house.short())} of {len(house.lines)}")
    if len(house.one_includer()) > MOST_ONE_INCLUDER_SHARE * len(house.headers):
        found.append(f"headers with one includer: {len(house.one_includer())} of {len(house.headers)}")
    return found


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("root", type=Path, nargs="?", default=Path(__file__).resolve().parent.parent)
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--check", action="store_true")
    options = parser.parse_args()
    house = read(options.root)
    total = sum(map(len, house.lines.values()))
    comments = sum(bool(COMMENT.match(line)) for text in house.lines.values() for line in text)
    folder, most = house.folders().most_common(1)[0]
    print("| figure | value |\n|---|---|")
    print(f"| files, lines | {len(house.lines):,}, {total:,} |")
    print(f"| lines a file | {total / len(house.lines):.0f} |")
    print(f"| largest folder | `{folder}`, {most} files |")
    print(f"| files under {SHORT_LINES} lines | {share(len(house.short()), len(house.lines))} |")
    print(f"| headers with one includer | {share(len(house.one_includer()), len(house.headers))} |")
    print(f"| lines that are comments | {100 * comments / total:.1f} % |")
    if options.list:
        for title, names in (("short", house.short()), ("one includer", house.one_includer())):
            print(f"\n{title}:")
            for name in names:
                print(f"  {name} {len(house.lines[name])} {' '.join(sorted(house.includers.get(name, ())))}")
    found = faults(house) if options.check else []
    for fault in found:
        print(fault, file=sys.stderr)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
