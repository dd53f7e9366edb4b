"""`python -m stoker` and the script `stoker`: the command, which is a program of its own inside the package."""

from __future__ import annotations

import importlib.util
import os
import sys
from typing import NoReturn

from stoker.errors import StokerError
from stoker.program import program_path


def is_own_bench(arguments: list[str]) -> bool:
    """`bench` without the name of one of the command's benchmarks: the figures of the feed through Python."""
    has_name = arguments[1:2] != [] and not arguments[1].startswith("-")
    return arguments[:1] == ["bench"] and not has_name and importlib.util.find_spec("stoker.bench") is not None


def run_program(arguments: list[str]) -> NoReturn:
    """Becomes the program: signals, exit status and terminal are its own."""
    try:
        program = program_path()
    except StokerError as error:
        sys.exit(f"stoker: {error}")
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
