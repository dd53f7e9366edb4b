#!/usr/bin/env python3
"""Every proof that needs a GPU, within the time that a lent machine allows.

    python3 -m bench.gpu_proofs --build build --out FOLDER [--group memory …] [--step NAME …]
        [--budget-s 540] [--list]

Each step is a command of this repository with a limit of its own; a step that does not fit into what is left of the
budget is not begun, and one that outlasts its limit is ended with all its children, so that those behind it still get
their turn. Steps that ask what is right, not how fast it is, begin side by side before all others; the rest have the
machine to themselves. FOLDER gets a log of each step, the records that it keeps, and summary.json with the state, the
seconds and the last lines of each. Exit 1 when a step failed, 2 when one was left out or ended.
"""

from __future__ import annotations

import argparse
import contextlib
import datetime
import json
import os
import shlex
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from pathlib import Path

from bench.record import Json, gpu_name, processor

TAIL_LINES = 12


@dataclass(frozen=True)
class Step:
    """One proof: words may name {stoker}, {build}, {out} and {python}. What --json prints is kept in a file."""

    name: str
    group: str
    limit_s: float
    words: str
    # Its verdict is the same beside other work, and it takes a small part of the card's memory.
    bears_company: bool = False


def bench_train(name: str, group: str, limit_s: float, words: str) -> Step:
    return Step(name, group, limit_s, f"{{stoker}} bench train --json --device cuda {words}")


def table(name: str, limit_s: float, cells: str) -> Step:
    words = f"{{python}} -m bench.train.table --stoker {{stoker}} --cell {cells} --keep-json {{out}}/train-table.json"
    return Step(name, "table", limit_s, words)


STEPS = [
    Step("train-device", "tests", 240, "{build}/tests/train/test_train_device", bears_company=True),
    Step("feed-device", "tests", 120, "{build}/tests/feed/test_feed_device", bears_company=True),
    # One of its tests compares what the card has free before and after.
    Step("feed-device-paths", "tests", 120, "{build}/tests/feed/test_feed_device_paths"),
    Step("bench-device", "tests", 60, "{build}/tests/bench/test_bench_device"),
    Step(
        "replays-memcheck",
        "memory",
        400,
        "compute-sanitizer --tool memcheck --kernel-name kns=stoker --error-exitcode 9 "
        "{build}/tests/train/test_train_device --gtest_filter=*ManyReplays*",
        bears_company=True,
    ),
    Step(
        "kill-and-resume",
        "memory",
        240,
        "{python} tests/e2e/train_kill_test.py {stoker} --device cuda --graphs on --precision bf16",
        bears_company=True,
    ),
    Step(
        "half-precision",
        "memory",
        240,
        "{python} -m bench.train.half_precision --stoker {stoker} --out {out}/half "
        "--keep-json {out}/train-half-precision.json",
        bears_company=True,
    ),
    Step(
        "auto-batch",
        "memory",
        300,
        "{python} -m bench.train.auto_batch --stoker {stoker} --out {out}/auto --fraction 0.15 "
        "--keep-json {out}/train-auto.json",
    ),
    bench_train("train-pcm", "training", 240, "--loader native --model-size normal --path pcm --seconds 120"),
    Step(
        "speed",
        "training",
        300,
        "{python} -m bench.train.speed --stoker {stoker} --seconds 12 --keep-json {out}/train-speed.json",
    ),
    table("table-tiny", 200, "tiny:32"),
    table("table-small", 560, "small:8 small:16 small:32"),
    table("table-normal", 200, "normal"),
    Step(
        "clone",
        "voice",
        590,
        "{python} -m bench.train.clone --stoker {stoker} --out {out}/clone --seconds 480 "
        "--keep-json {out}/train-clone.json",
    ),
    Step(
        "gpu-causes",
        "diagnose",
        590,
        "{python} -m bench.diagnose.inject --build {build} --out {out}/trials --device cuda --trials 5 "
        "--calibration-s 1 --calm-s 3 --keep-json {out}/diagnose-gpu.json",
    ),
    Step(
        "look",
        "look",
        240,
        "{python} -m bench.look --stoker {stoker} --out {out}/look --keep-json {out}/look.json",
        bears_company=True,
    ),
]


@dataclass
class Asked:
    build: Path
    out: Path
    budget_s: float

    def command(self, step: Step) -> list[str]:
        places = {"stoker": self.build / "stoker", "build": self.build, "out": self.out, "python": sys.executable}
        words = step.words
        for name, place in places.items():
            words = words.replace(f"{{{name}}}", shlex.quote(str(place)))
        return shlex.split(words)


def end_group(process: subprocess.Popen[bytes]) -> None:
    """A step may have started programs of its own, some of which outlive it."""
    for number in (signal.SIGTERM, signal.SIGKILL):
        with contextlib.suppress(ProcessLookupError, subprocess.TimeoutExpired):
            os.killpg(process.pid, number)
            process.wait(timeout=5)


def run_step(command: list[str], log: Path, limit_s: float) -> Json:
    began = time.monotonic()
    said = log.with_suffix(".json") if "--json" in command else log
    with said.open("ab") as out, log.open("ab") as talk:
        try:
            process = subprocess.Popen(command, stdout=out, stderr=talk, start_new_session=True)
        except OSError as error:
            return {"state": "failed", "seconds": 0.0, "tail": [str(error)]}
        try:
            status = process.wait(timeout=limit_s)
            state = "passed" if status == 0 else "failed"
        except subprocess.TimeoutExpired:
            end_group(process)
            status, state = -1, "ended"
    tail = log.read_text(encoding="utf-8", errors="replace").splitlines()[-TAIL_LINES:]
    return {"state": state, "status": status, "seconds": round(time.monotonic() - began, 1), "tail": tail}


def prove(asked: Asked, step: Step, began: float) -> Json:
    command = asked.command(step)
    row: Json = {"name": step.name, "group": step.group, "command": shlex.join(command)}
    left_s = asked.budget_s - (time.monotonic() - began)
    # A step that cannot come to its end tells nothing; half of its limit is often enough.
    if left_s < step.limit_s / 2:
        return row | {"state": "left out", "tail": [f"{left_s:.0f} s were left, its limit is {step.limit_s}"]}
    return row | run_step(command, asked.out / f"{step.name}.log", min(step.limit_s, left_s))


def in_turn(asked: Asked, steps: list[Step]) -> Iterator[Json]:
    """The rows as they come: first of those that bear company, then one after the other."""
    began = time.monotonic()
    together = [step for step in steps if step.bears_company]
    with ThreadPoolExecutor(max_workers=max(1, len(together))) as pool:
        for done in as_completed([pool.submit(prove, asked, step, began) for step in together]):
            yield done.result()
    for step in steps:
        if not step.bears_company:
            yield prove(asked, step, began)


def run_all(asked: Asked, steps: list[Step]) -> list[Json]:
    rows: list[Json] = []
    for row in in_turn(asked, steps):
        rows.append(row)
        print(f"{row['state']:8} {row['name']} {row.get('seconds', 0)} s", flush=True)
        keep(asked, rows)
    return rows


def keep(asked: Asked, rows: list[Json]) -> None:
    record = {"date": datetime.date.today().isoformat(), "machine": processor(), "gpu": gpu_name(), "steps": rows}
    (asked.out / "summary.json").write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    groups = list(dict.fromkeys(step.group for step in STEPS))
    names = [step.name for step in STEPS]
    parser.add_argument("--build", type=Path, default=Path("build"))
    parser.add_argument("--out", type=Path, default=Path("build/gpu-proofs"))
    parser.add_argument("--group", nargs="+", choices=groups, default=groups)
    parser.add_argument("--step", nargs="+", choices=names, default=names, help="only these of them")
    parser.add_argument("--budget-s", type=float, default=540)
    parser.add_argument("--list", action="store_true", help="print the steps, run nothing")
    said = parser.parse_args()
    asked = Asked(said.build.resolve(), said.out.resolve(), said.budget_s)
    steps = [step for step in STEPS if step.group in said.group and step.name in said.step]
    if said.list:
        for step in steps:
            print(f"{step.group:10} {step.name:18} {step.limit_s:4} s  {shlex.join(asked.command(step))}")
        return 0
    shutil.rmtree(asked.out, ignore_errors=True)
    asked.out.mkdir(parents=True)
    states = {str(row["state"]) for row in run_all(asked, steps)}
    return 1 if "failed" in states else 2 if states - {"passed"} else 0


if __name__ == "__main__":
    sys.exit(main())
