"""Runs the program that is measured, and ends a benchmark with one line where it cannot be run."""

from __future__ import annotations

import json
import os
import shlex
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from bench.record import Json

LIMIT_S = 600.0
EXIT_NOT_RUN = 2  # as of a wrong option: a bar that is missed ends with 1
STATUS_STARVED = 1  # of `stoker diagnose`, where the consumer waits for the feed


class RunFailed(RuntimeError):
    """The program gave no result; the message says why in one line."""


def last_words(said: str) -> str:
    """The program's error with its help, else the last line that it said."""
    lines = [line.strip() for line in said.splitlines() if line.strip()]
    errors = [line for line in lines if line.startswith(("error", "help:"))]
    return " ".join(errors or lines[-1:] or ["it said nothing"])


def completed(words: Sequence[str | os.PathLike[str]], limit_s: float = LIMIT_S) -> subprocess.CompletedProcess[str]:
    """Of a command that came to an end, well or not."""
    command = [os.fspath(word) for word in words]
    try:
        return subprocess.run(command, check=False, capture_output=True, text=True, timeout=limit_s)
    except subprocess.TimeoutExpired as error:
        raise RunFailed(f"{shlex.join(command)} did not end within {limit_s:g} s") from error
    except OSError as error:
        raise RunFailed(f"{command[0]} cannot be run: {error.strerror}") from error


def run_stoker(
    program: Path | str, *words: str, limit_s: float = LIMIT_S, statuses: tuple[int, ...] = (0,), tells: bool = True
) -> Json:
    """The JSON object that the command prints; it has to end with one of these statuses."""
    command = [str(program), *words, "--json"]
    if shutil.which(program) is None and not Path(program).exists():
        raise RunFailed(f"there is no program {program}: build it with `make`, or name the one to measure")
    began = time.monotonic()
    if tells:
        print(f"$ {shlex.join(command)[:300]}", file=sys.stderr, flush=True)
    done = completed(command, limit_s)
    if done.returncode not in statuses:
        raise RunFailed(f"{shlex.join(command)} ended with {done.returncode}: {last_words(done.stderr)}")
    if tells:
        print(f"  {time.monotonic() - began:.1f} s", file=sys.stderr, flush=True)
    return dict(json.loads(done.stdout))


def ended(main: Callable[[], int]) -> int:
    """The status of a benchmark, where a program that could not be run is one line and no traceback."""
    try:
        return main()
    except RunFailed as error:
        print(f"error: {error}", file=sys.stderr)
        return EXIT_NOT_RUN
