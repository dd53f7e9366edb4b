"""What the proofs of training share: running the program, and keeping a record with its bars."""

from __future__ import annotations

import datetime
import json
import shlex
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from bench.feed_figures import RESULTS, Bars, processor

Json = dict[str, Any]


class RunFailed(RuntimeError):
    """The program ended with an error, which the message holds."""

    def __init__(self, words: list[str], status: int, said: str) -> None:
        super().__init__(f"{shlex.join(words)} ended with {status}:\n{said.strip()}")
        self.status = status
        self.said = said


def run_stoker(program: Path, *words: str, limit_s: float = 600.0, statuses: tuple[int, ...] = (0,)) -> Json:
    """The JSON object that the command prints; it has to end with one of these statuses."""
    command = [str(program), *words, "--json"]
    began = time.monotonic()
    print(f"$ {shlex.join(command)[:300]}", file=sys.stderr, flush=True)
    done = subprocess.run(command, check=False, capture_output=True, text=True, timeout=limit_s)
    if done.returncode not in statuses:
        raise RunFailed(command, done.returncode, done.stderr)
    print(f"  {time.monotonic() - began:.1f} s", file=sys.stderr, flush=True)
    return dict(json.loads(done.stdout))


def gpu_name() -> str | None:
    """As the driver names it; None without one."""
    try:
        words = ["nvidia-smi", "--query-gpu=name", "--format=csv,noheader"]
        said = subprocess.run(words, check=True, capture_output=True, text=True)
    except (OSError, subprocess.CalledProcessError):
        return None
    return said.stdout.strip().splitlines()[0]


def module_of(script: Path) -> str:
    """As `python3 -m` takes it."""
    return ".".join(script.resolve().relative_to(RESULTS.parents[1]).with_suffix("").parts)


def finish(name: str, figures: Json, bars: Bars, kept: Path | None) -> int:
    """Prints every bar, keeps the record, and says by the exit status whether all are met. The default place is the
    file of this name among the results."""
    record = {
        "date": datetime.date.today().isoformat(),
        "machine": processor(),
        "gpu": gpu_name(),
        "command": shlex.join(["python3", "-m", module_of(Path(sys.argv[0])), *sys.argv[1:]]),
        **figures,
        "bars": bars.rows,
        "ok": bars.ok(),
    }
    for row in bars.rows:
        print(f"{'pass' if row['ok'] else 'FAIL'}  {row['name']}: {row['found']:,.4g}, {row['bar']}", file=sys.stderr)
    target = kept or RESULTS / f"{name}.json"
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")
    print(f"kept in {target}", file=sys.stderr)
    return 0 if bars.ok() else 1
