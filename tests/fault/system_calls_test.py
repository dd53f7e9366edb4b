#!/usr/bin/env python3
"""Lets system calls of every command fail, one at a time, and looks at how the command ends and what it leaves behind.

    system_calls_test.py PROGRAM [--every] [--only TEXT] [--per-call N]

Needs strace, and skips (exit 77) where it cannot trace. Calls of the dynamic loader and of the option parser are left
out: as many as there are before the program starts its first thread. strace counts in each thread by itself, so call 3
fails in every thread that gets so far.
"""

from __future__ import annotations

import argparse
import collections
import re
import shutil
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
from fault_world import COMMANDS, Command, World, run_all

SKIPPED = 77
CALL_LINE = re.compile(r"^(\d+) +(\w+)\(")
FIRST_OWN_CALL = "clone3"  # the thread that waits for signals
MEMORY = ["ENOMEM"]
CHANGE = ["EIO", "EACCES", "ENOSPC", "EINTR"]
LOOK = ["EIO", "EACCES", "ENOMEM", "EINTR"]
# A call and the errors that Linux documents for it or that network file systems give.
ERRORS = {
    "openat": ["EMFILE", *LOOK],
    "openat2": ["EMFILE", "EAGAIN", *LOOK],
    "read": ["EIO", "EINTR", "EAGAIN"],
    "pread64": ["EIO", "EINTR", "EAGAIN", "ENOMEM"],
    "write": ["EIO", "ENOSPC"],
    "pwrite64": ["EIO", "EINTR", "EAGAIN", "ENOSPC"],
    "mmap": MEMORY,
    "munmap": MEMORY,
    "mprotect": MEMORY,
    "madvise": [*MEMORY, "EIO"],
    "fstat": LOOK,
    "newfstatat": LOOK,
    "statfs": LOOK,
    "fstatfs": LOOK,
    "fsync": ["EIO", "ENOSPC", "EINTR"],
    "renameat": CHANGE,
    "ftruncate": CHANGE,
    "fallocate": CHANGE,
    "flock": ["EINTR", "EAGAIN", "ENOMEM"],
    "getdents64": ["EIO", "ENOMEM", "EINTR"],
    "unlinkat": CHANGE,
    "mkdirat": CHANGE,
    "close": ["EIO"],
    "clone3": ["EAGAIN", "ENOMEM"],
    "sched_setaffinity": ["EINVAL"],
    "sched_getaffinity": ["EINVAL"],
}
# An interruption alone must not be noticed, but the standard library does not repeat this call.
REPEATED_BY_NONE = {"newfstatat"}
# A lock that another process holds is waited for.
WAITED_FOR = {("flock", "EAGAIN")}


@dataclass(frozen=True)
class Injection:
    """`error` at call `number` of each thread, or from there on."""

    command: Command
    call: str
    error: str
    number: int
    lasting: bool = False

    @property
    def option(self) -> str:
        return f"inject={self.call}:error={self.error}:when={self.number}{'+' if self.lasting else ''}"

    def __str__(self) -> str:
        return f"{self.command.name} [{self.option}]"


def strace(*options: str) -> list[str]:
    # Without a filter in the kernel each call of the program would stop twice.
    return ["strace", "-f", "--seccomp-bpf", "-qq", *options]


def can_trace() -> bool:
    if shutil.which("strace") is None:
        return False
    done = subprocess.run([*strace("-e", "trace=openat"), "true"], capture_output=True, check=False)
    return done.returncode == 0


def count_calls(world: World, command: Command | None) -> dict[str, int]:
    """The largest number of each call in one thread; None counts what comes before any command."""
    with tempfile.TemporaryDirectory() as folder:
        log = Path(folder) / "strace"
        before = strace("-o", str(log), "-e", f"trace={','.join(ERRORS)}")
        if command is None:
            subprocess.run([*before, str(world.program), "--version"], capture_output=True, check=True)
        else:
            with world.place(command) as place:
                world.run(command, place, before)
        counts: dict[tuple[str, str], int] = collections.Counter()
        for line in log.read_text(errors="replace").splitlines():
            if not (match := CALL_LINE.match(line)):
                continue
            if command is None and match[2] == FIRST_OWN_CALL:
                break
            counts[(match[1], match[2])] += 1
    most: dict[str, int] = collections.Counter()
    for (_, call), number in counts.items():
        most[call] = max(most[call], number)
    return most


def chosen(numbers: range, per_call: int, turn: int) -> list[int]:
    """All of them, or `per_call` that are spread out and differ from turn to turn."""
    if len(numbers) <= per_call:
        return list(numbers)
    step = len(numbers) / per_call
    return [numbers[int((i * step + turn * 7) % len(numbers))] for i in range(per_call)]


def plan(world: World, commands: list[Command], per_call: int, every: bool) -> list[Injection]:
    loader = count_calls(world, None)
    cases: list[Injection] = []
    for command in commands:
        for call, most in sorted(count_calls(world, command).items()):
            # A thread's own first calls have small numbers too, but so have the loader's in the main thread.
            numbers = range(loader.get(call, 0) + 1, most + 1)
            errors = ERRORS[call]
            if every:
                cases += [Injection(command, call, error, n) for n in numbers for error in errors]
                cases += [
                    Injection(command, call, error, n, True)
                    for n in numbers[:: 1 + len(numbers) // 8]
                    for error in errors
                ]
                continue
            for n in chosen(numbers, per_call, len(cases)):
                error = errors[len(cases) % len(errors)]
                cases.append(Injection(command, call, error, n, lasting=len(cases) % 3 == 0))
    return [case for case in cases if not (case.lasting and (case.call, case.error) in WAITED_FOR)]


def judge(world: World, case: Injection) -> list[str]:
    with world.place(case.command) as place:
        # The trace goes to a file: the program's own stderr is looked at.
        before = strace("-o", "/dev/null", "-e", f"trace={case.call}", "-e", case.option)
        run = world.run(case.command, place, before)
        found: list[str] = world.faults(case.command, place, run)
        is_repeated = case.error == "EINTR" and not case.lasting and case.call not in REPEATED_BY_NONE
        if is_repeated and run.exit_code != 0:
            found.append(f"one {case.error} was not repeated: exit {run.exit_code} {run.said.strip()[-200:]}")
        return found


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("program", type=Path)
    parser.add_argument("--every", action="store_true", help="every error at every call")
    parser.add_argument("--per-call", type=int, default=1, help="calls of a kind that fail, in each command")
    parser.add_argument("--only", default="", help="commands whose name holds this")
    parser.add_argument("--call", default="", help="only this system call")
    options = parser.parse_args()
    if not can_trace():
        print("strace is not installed or may not trace: no system call was made to fail")
        return SKIPPED
    commands = [command for command in COMMANDS if options.only in command.name]
    begin = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="stoker_calls_") as scratch:
        world = World(options.program.resolve(), Path(scratch))
        world.make()
        world.learn(commands)
        cases = plan(world, commands, options.per_call, options.every)
        if options.call:
            cases = [case for case in cases if case.call == options.call]
        num_bad = run_all(cases, lambda case: judge(world, case))
    print(f"{len(cases)} runs with a failing call, {num_bad} at fault, {time.monotonic() - begin:.0f} s")
    return 1 if num_bad else 0


if __name__ == "__main__":
    sys.exit(main())
