#!/usr/bin/env python3
"""Runs commands under limits on threads, address space and file sizes: each ends in time, well or by a named error.

    limits_test.py PROGRAM [--steps N] [--only TEXT]

Limits on threads do not hold for root: as root the program runs as the user `nobody`.
"""

from __future__ import annotations

import argparse
import os
import pwd
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))
from fault_world import COMMANDS, Command, World, run_all

NAMES = {
    "precompute",
    "precompute again",
    "verify --fix",
    "data check",
    "stream cached",
    "stream runtime",
    "stream auto",
    "cache export",
    "features",
}
# What an exit must say: no storage error may come from a limit on memory, and the reverse.
ALLOWED = {
    "threads": {0: "", 5: "error[E-THREAD-START]"},
    "memory": {0: "", 5: "error[E-"},
    "file": {0: "", 4: "error[E-IO-FILELIMIT]"},
}
ULIMIT = {"threads": "-u", "memory": "-v", "file": "-f"}


@dataclass(frozen=True)
class Limited:
    """A command under `ulimit` of this kind."""

    command: Command
    kind: str
    value: int

    @property
    def before(self) -> list[str]:
        return ["bash", "-c", f'ulimit {ULIMIT[self.kind]} {self.value} && exec "$@"', "bash"]

    def __str__(self) -> str:
        return f"{self.command.name} [ulimit {ULIMIT[self.kind]} {self.value}]"


def as_other_user() -> dict[str, Any]:
    """Root is exempt from limits on threads."""
    if os.geteuid() != 0:
        return {}
    nobody = pwd.getpwnam("nobody")
    return {"user": nobody.pw_uid, "group": nobody.pw_gid, "extra_groups": []}


def runs_as(world: World, options: dict[str, Any]) -> bool:
    words = [str(world.program), "--version"]
    try:
        done = subprocess.run(words, capture_output=True, check=False, cwd=world.folder, **options)
    except OSError:
        return False
    return done.returncode == 0


def lowest_memory_kib(world: World) -> int:
    """From here on the dynamic loader gets the program to its first own line."""
    low, high = 1024, 4 << 20
    while high - low > 1024:
        middle = (low + high) // 2
        words = ["bash", "-c", f'ulimit -v {middle} && exec "$@"', "bash", str(world.program), "--version"]
        done = subprocess.run(words, capture_output=True, check=False)
        low, high = (low, middle) if done.returncode in (0, 5) else (middle, high)
    return high


def plan(world: World, commands: list[Command], steps: int) -> list[Limited]:
    cases = []
    floor = lowest_memory_kib(world)
    span = 256 << 10
    for turn, command in enumerate(commands):
        shift = turn * span // steps // len(commands)
        cases += [Limited(command, "memory", floor + shift + i * span // steps) for i in range(steps)]
        cases += [Limited(command, "threads", number) for number in range(1, 9)]
        cases += [Limited(command, "file", number) for number in (0, 1, 4, 16, 64)]
    return cases


def judge(world: World, case: Limited, user: dict[str, Any]) -> list[str]:
    with world.place(case.command) as place:
        options: dict[str, Any] = {"cwd": world.folder}
        if case.kind == "threads":
            options |= user
            for path in [place, *place.rglob("*")]:
                os.chown(path, user.get("user", -1), user.get("group", -1))
        run = world.run(case.command, place, case.before, **options)
        found: list[str] = world.faults(case.command, place, run)
        allowed = ALLOWED[case.kind]
        if not found and (run.exit_code not in allowed or allowed[run.exit_code] not in run.said):
            found.append(f"exit {run.exit_code}, expected {allowed}: {run.said.strip()[-300:]}")
        return found


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("program", type=Path)
    parser.add_argument("--steps", type=int, default=6, help="limits on memory for each command")
    parser.add_argument("--only", default="", help="commands whose name holds this")
    parser.add_argument("--kind", default="", choices=["", *ULIMIT])
    options = parser.parse_args()
    commands = [command for command in COMMANDS if command.name in NAMES and options.only in command.name]
    begin = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="stoker_limits_") as scratch:
        world = World(options.program.resolve(), Path(scratch))
        world.folder.chmod(0o755)
        world.make()
        world.learn(commands)
        user = as_other_user()
        cases = [case for case in plan(world, commands, options.steps) if options.kind in ("", case.kind)]
        if not runs_as(world, user):
            print("an ordinary user may not run the program here: limits on threads were not tried")
            cases = [case for case in cases if case.kind != "threads"]
        num_bad = run_all(cases, lambda case: judge(world, case, user))
    print(f"{len(cases)} runs under a limit, {num_bad} at fault, {time.monotonic() - begin:.0f} s")
    return 1 if num_bad else 0


if __name__ == "__main__":
    sys.exit(main())
