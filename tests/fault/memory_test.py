#!/usr/bin/env python3
"""Lets allocations of every command fail, one at a time or from one on, and looks at how the command ends.

    memory_test.py PROGRAM LIBRARY [--per-command N] [--kind new|malloc] [--only TEXT] [--number N[+]]

LIBRARY is failing_memory.cc, built. A command without memory ends with exit 5 and an error line, or does without.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
from fault_world import COMMANDS, Command, World, run_all

ALLOWED_EXITS = {0, 5}
NUM_IN_SETUP = 4  # of allocations before the command begins, which is the same work for every command


@dataclass(frozen=True)
class Refusal:
    """Allocation `number` of this kind fails, "+" with all later ones."""

    command: Command
    kind: str
    number: str

    def __str__(self) -> str:
        return f"{self.command.name} [FAIL_MEMORY={self.kind}:{self.number}]"


@dataclass(frozen=True)
class Preload:
    """Runs the program behind the library."""

    library: Path

    def environment(self, **further: str) -> dict[str, str]:
        return {**os.environ, "LD_PRELOAD": str(self.library), **further}

    def count(self, world: World, command: Command | None, kind: str) -> int:
        """Allocations of one run; None: of the program that only says its version."""
        with tempfile.TemporaryDirectory() as folder:
            log = Path(folder) / "count"
            environment = self.environment(FAIL_MEMORY=kind, COUNT_MEMORY=str(log))
            if command is None:
                words = [str(world.program), "--version", "--json"]
                subprocess.run(words, env=environment, capture_output=True, check=True)
            else:
                with world.place(command) as place:
                    world.run(command, place, [], env=environment)
            return int(log.read_text())

    def judge(self, world: World, case: Refusal) -> list[str]:
        with world.place(case.command) as place:
            environment = self.environment(FAIL_MEMORY=f"{case.kind}:{case.number}")
            run = world.run(case.command, place, [], env=environment)
            found: list[str] = world.faults(case.command, place, run)
            if not found and run.exit_code not in ALLOWED_EXITS:
                found.append(f"exit {run.exit_code}, expected 5 or 0: {run.said.strip()[-300:]}")
            if run.exit_code == 5 and "error[E-" not in run.said:
                found.append(f"exit 5 without an error line: {run.said.strip()[-300:]}")
            return found


def spread(first: int, last: int, num: int, turn: int) -> list[int]:
    """`num` numbers of [first, last], evenly spaced; the start differs from turn to turn."""
    count = last - first + 1
    if count <= num:
        return list(range(first, last + 1))
    step = count / num
    begin = turn * 0.381966 % 1.0 * step
    return [first + int(begin + i * step) for i in range(num)]


def plan(world: World, preload: Preload, commands: list[Command], kinds: list[str], num: int) -> list[Refusal]:
    cases = []
    for kind in kinds:
        setup = preload.count(world, None, kind)
        for turn, command in enumerate(commands):
            last = preload.count(world, command, kind)
            numbers = spread(1, setup, NUM_IN_SETUP, turn) + spread(setup + 1, last, num, turn)
            # Not for malloc: libraries in C assert that they got some when they ask again.
            lasting = ["", "", "", "+" if kind == "new" else ""]
            cases += [Refusal(command, kind, f"{number}{lasting[i % 4]}") for i, number in enumerate(numbers)]
    return cases


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("program", type=Path)
    parser.add_argument("library", type=Path)
    parser.add_argument("--per-command", type=int, default=6)
    parser.add_argument("--kind", choices=["new", "malloc"])
    parser.add_argument("--only", default="", help="commands whose name holds this")
    parser.add_argument("--number", help="this allocation alone")
    options = parser.parse_args()
    commands = [command for command in COMMANDS if options.only in command.name]
    kinds = [options.kind] if options.kind else ["new", "malloc"]
    begin = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="stoker_memory_") as scratch:
        world = World(options.program.resolve(), Path(scratch))
        world.make()
        world.learn(commands)
        preload = Preload(options.library.resolve())
        if options.number:
            cases = [Refusal(command, kind, options.number) for command in commands for kind in kinds]
        else:
            cases = plan(world, preload, commands, kinds, options.per_command)
        num_bad = run_all(cases, lambda case: preload.judge(world, case))
    print(f"{len(cases)} runs with a refused allocation, {num_bad} at fault, {time.monotonic() - begin:.0f} s")
    return 1 if num_bad else 0


if __name__ == "__main__":
    sys.exit(main())
