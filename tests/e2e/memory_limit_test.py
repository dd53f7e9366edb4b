"""Under every limit of memory a command ends with its result, or with exit 5 and an error line: never by an abort."""

from __future__ import annotations

import argparse
import os
import resource
import subprocess
import sys
from pathlib import Path

MIB = 1 << 20
STEP_BYTES = MIB // 4
NOT_LOADED = 127  # the loader found no room for the libraries
# Words of libraries that end the process themselves before main() runs.
BEFORE_MAIN = ("libgomp:", "cannot allocate memory in static TLS", "error while loading shared libraries")
MEMORY = 5


def run(command: list[str], limit_bytes: int) -> subprocess.CompletedProcess[str]:
    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_AS, (limit_bytes, limit_bytes))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))

    environment = {**os.environ, "MALLOC_ARENA_MAX": "1"}
    return subprocess.run(
        command, preexec_fn=limit, capture_output=True, text=True, timeout=100, check=False, env=environment
    )


def reached_main(done: subprocess.CompletedProcess[str]) -> bool:
    return done.returncode not in (NOT_LOADED, -11, -9) and not any(word in done.stderr for word in BEFORE_MAIN)


def least_limit(command: list[str]) -> int:
    """The least limit, to a quarter of a MiB, under which the libraries can be loaded."""
    low, high = 0, 4096 * MIB
    while high - low > STEP_BYTES:
        middle = (low + high) // 2
        low, high = (low, middle) if reached_main(run(command, middle)) else (middle, high)
    return high


def sweep(command: list[str]) -> tuple[int, int]:
    """Raises the limit until the command succeeds; returns how often it was out of memory and how often it ran."""
    limit_bytes = least_limit(command)
    num_refused = num_done = 0
    while num_done < 3 and num_refused < 400:
        done = run(command, limit_bytes)
        shown = f"{' '.join(command[1:])} in {limit_bytes / MIB:.2f} MiB: exit {done.returncode}\n{done.stderr}"
        if done.returncode == 0:
            num_done += 1
        elif reached_main(done):
            assert done.returncode == MEMORY, shown
            assert "error[E-" in done.stderr, shown
            num_refused += 1
        limit_bytes += STEP_BYTES
    assert num_done > 0, f"{' '.join(command[1:])} never succeeded"
    return num_refused, num_done


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("program", type=Path)
    program = str(parser.parse_args().program.resolve())
    for command in (["--version"], ["config", "show", "--json"], ["config", "reference", "errors", "--json"]):
        refused, done = sweep([program, *command])
        print(f"{' '.join(command)}: {refused} limits too small, {done} large enough", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
