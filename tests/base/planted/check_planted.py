#!/usr/bin/env python3
"""Proves that the sanitizers and the thread-safety analysis bite: planted bugs must be refused.

Each program is also tried without its bug (or without the check) and must then pass, so that a
compiler that fails for another reason is not taken for a success.
"""

import argparse
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
SOURCES = HERE.parents[2] / "src"
PASSES, SKIPPED = 0, 77


def run(command: list[str]) -> subprocess.CompletedProcess[str]:
    return subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)


def build(compiler: str, source: str, program: Path, flags: list[str]) -> bool:
    command = [compiler, "-std=c++20", "-O1", "-g1", "-pthread", *flags, str(HERE / source), "-o", str(program)]
    done = run(command)
    if done.returncode != 0:
        print(f"{source} does not build with {flags}:\n{done.stderr}")
    return done.returncode == 0


def refused(command: list[str], report: str) -> bool:
    done = run(command)
    bites = done.returncode != 0 and report in done.stderr
    if not bites:
        print(f"{command}: exit {done.returncode}, no {report!r} in\n{done.stderr}")
    return bites


def check_race(compiler: str, folder: Path) -> int:
    plain, checked = folder / "plain", folder / "checked"
    if not (
        build(compiler, "data_race.cc", plain, []) and build(compiler, "data_race.cc", checked, ["-fsanitize=thread"])
    ):
        return 1
    right = run([str(plain)]).returncode == 0 and refused([str(checked)], "ThreadSanitizer: data race")
    return PASSES if right else 1


def check_overflow(compiler: str, folder: Path) -> int:
    program = folder / "overflow"
    flags = ["-fsanitize=address,undefined", "-fno-sanitize-recover=all"]
    if not build(compiler, "overflow.cc", program, flags):
        return 1
    right = (
        run([str(program)]).returncode == 0
        and refused([str(program), "heap"], "AddressSanitizer: heap-buffer-overflow")
        and refused([str(program), "signed"], "signed integer overflow")
    )
    return PASSES if right else 1


def check_unguarded(compiler: str, _folder: Path) -> int:
    if "clang" not in run([compiler, "--version"]).stdout:
        print("only clang has the thread-safety analysis")
        return SKIPPED
    command = [compiler, "-std=c++20", "-fsyntax-only", "-Wthread-safety", "-Werror", f"-I{SOURCES}"]
    source = str(HERE / "unguarded_read.cc")
    right = run([*command, "-DHOLD_THE_LOCK", source]).returncode == 0 and refused(
        [*command, source], "requires holding mutex"
    )
    return PASSES if right else 1


def main() -> int:
    checks = {"race": check_race, "overflow": check_overflow, "unguarded": check_unguarded}
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("check", choices=checks)
    parser.add_argument("--compiler", required=True)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        return checks[options.check](options.compiler, Path(folder))


if __name__ == "__main__":
    sys.exit(main())
