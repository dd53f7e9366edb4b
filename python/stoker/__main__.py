"""`python -m stoker` and the script `stoker`: the command, which is a program of its own inside the package."""

from __future__ import annotations

import importlib.util
import os
import sys
from pathlib import Path
from typing import NoReturn


def find_program() -> Path | None:
    """bin/stoker of an installed package; beside build/python where the package is imported from a build folder."""
    package = Path(__file__).parent
    extension = importlib.util.find_spec("stoker._engine")
    folders = [package] if extension is None or extension.origin is None else [package, Path(extension.origin).parent]
    candidates = [folder / "bin" / "stoker" for folder in folders] + [folders[-1].parents[1] / "stoker"]
    return next((path for path in candidates if path.is_file() and os.access(path, os.X_OK)), None)


def is_own_bench(arguments: list[str]) -> bool:
    """`bench` without the name of one of the command's benchmarks: the figures of the feed through Python."""
    has_name = arguments[1:2] != [] and not arguments[1].startswith("-")
    return arguments[:1] == ["bench"] and not has_name and importlib.util.find_spec("stoker.bench") is not None


def run_program(arguments: list[str]) -> NoReturn:
    """Becomes the program: signals, exit status and terminal are its own."""
    program = find_program()
    if program is None:
        sys.exit(
            f"stoker: expected the program bin/stoker in {Path(__file__).parent}, found none; "
            "install the package again, or build it here: make program"
        )
    os.execv(program, [str(program), *arguments])


def main() -> int:
    """Runs the command with the arguments of this process."""
    arguments = sys.argv[1:]
    if is_own_bench(arguments):
        bench = importlib.import_module("stoker.bench")
        return int(bench.main(arguments[1:]) or 0)
    run_program(arguments)


if __name__ == "__main__":
    sys.exit(main())
