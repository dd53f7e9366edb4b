#!/usr/bin/env python3
"""Measures what the feed into a GPU promises, one figure after the other, and says whether each bar is met.

    python3 -m bench.gpu_figures --build build --data /dev/shm/clips4000 [names …]

A data set that is not there is made with the built-in voice. Every figure is kept as JSON in
bench/results/gpu-feed-NAME.json with the command that gave it. A bar that is missed makes the exit status 1.
"""

import argparse
import datetime
import json
import os
import sys
from collections.abc import Callable
from pathlib import Path

from bench.program import RunFailed, completed, ended, last_words, run_stoker
from bench.record import RESULTS, Bars, Json, gpu_name, processor

CLIPS = 4000
FEW_CORES = 6
GPU = ("--mel-place", "gpu")


class Runner:
    """Runs `stoker bench feed` on the GPU, on as many cores as asked for, and keeps the commands."""

    def __init__(self, options: argparse.Namespace) -> None:
        self.program = str((options.build / "stoker").resolve())
        self.data: Path = options.data
        self.limit_s: float = options.limit_s
        self.cores = sorted(os.sched_getaffinity(0))
        self.commands: list[str] = []
        if not (self.data / "metadata.csv").exists():
            words = ["--out", str(self.data), "--clips", str(CLIPS), "--lengths", "ljspeech"]
            run_stoker(self.program, "data", "make", *words, tells=False)

    def bench(self, *arguments: str, cores: int | None = None) -> list[Json]:
        count = min(cores or len(self.cores), len(self.cores))
        fixed = ["--device", "cuda", "--json"]
        if "--consumer" in arguments:  # the default number of workers, which leaves a core to a trainer
            fixed += ["--repeat", "1"]
        else:
            fixed += ["--repeat", "2", "--threads", str(count)]
        command = [self.program, "bench", "feed", "--data", str(self.data), *fixed, *arguments]
        self.commands.append(" ".join(["stoker bench feed --data DATA", *fixed, *arguments]))
        done = completed(["taskset", "-c", ",".join(map(str, self.cores[:count])), *command], self.limit_s)
        if done.returncode != 0:
            raise RunFailed(f"{' '.join(command)}: {last_words(done.stderr)}")
        rows: list[Json] = json.loads(done.stdout)["rows"]
        return rows


def paths(runner: Runner, bars: Bars) -> Json:
    """The whole feed by every way that crosses the bus."""
    rows = runner.bench("--path", "cached,pcm,files", *GPU, "--seconds", "1.2")
    for row in rows:
        if row["path"] != "files":
            bars.at_least(f"{row['path']}: share of the bus from ready slots", row["ready_share_of_bus"], 0.95)
            bars.at_least(f"{row['path']}: share of the reference", row["share_of_limit"], 0.85)
    return {"rows": rows}


def six_cores(runner: Runner, bars: Bars) -> Json:
    """Cached mels with few cores."""
    rows = runner.bench("--path", "cached", *GPU, "--seconds", "1.2", cores=FEW_CORES)
    bars.at_least("cached, 6 cores: share of the reference", rows[0]["share_of_limit"], 0.80)
    return {"rows": rows}


def resident(runner: Runner, bars: Bars) -> Json:
    """Rows that stay in GPU memory, as mels and as samples."""
    rows = runner.bench("--path", "resident", "--grid", "gpu.mel_place=cpu,gpu", "--seconds", "1.2")
    for row in rows:
        bars.at_least(f"{row['way']}: clips/s", row["clips_per_s"], 1_000_000)
    return {"rows": rows}


def add_steadiness(bars: Bars, row: Json) -> None:
    name = row["path"]
    bars.at_most(f"{name}: stall share", row["stall_share"], 0.005)
    bars.at_least(f"{name}: AU", row["au"], 0.995)
    bars.at_most(f"{name}: interval CV", row["interval_cv"], 0.05)
    bars.at_most(f"{name}: p99/p50", row["p99_over_p50"], 1.10)
    if row["gpu_util_mean"] is not None:
        bars.at_least(f"{name}: GPU in use, mean of seconds, %", row["gpu_util_mean"], 95)
        bars.at_least(f"{name}: GPU in use, least second, %", row["gpu_util_min"], 70)


def gemm(runner: Runner, bars: Bars) -> Json:
    """A trainer of matrix products that asks for nine tenths of the supply; the naive loader at the same demand."""
    rows: list[Json] = []
    for path in ("cached", "pcm"):
        place = GPU if path == "pcm" else ()
        rows += runner.bench("--path", path, *place, "--consumer", "gemm", "--demand", "90%", "--seconds", "4")
        bars.at_least(f"{path}: batches", rows[-1]["batches"], 5_000)
        add_steadiness(bars, rows[-1])
    demand = f"{0.9 * rows[0]['supply_clips_per_s']:.0f}"
    naive = ("--path", "cached", "--loader", "naive", "--consumer", "gemm", "--demand", demand, "--seconds", "2")
    rows += runner.bench(*naive)
    return {"rows": rows}


def gemm_large(runner: Runner, bars: Bars) -> Json:
    """The same with batches four times as large, whose steps are as much longer."""
    large = ("--consumer", "gemm", "--demand", "90%", "--batch-frames", "160000", "--seconds", "4")
    rows = runner.bench("--path", "cached", *large)
    bars.at_least("cached: batches", rows[0]["batches"], 5_000)
    add_steadiness(bars, rows[0])
    return {"rows": rows}


def gemm_20ms(runner: Runner, bars: Bars) -> Json:
    """The same at a usual trainer's pace: what the feed costs its steps."""
    rows = runner.bench("--path", "cached,pcm", *GPU, "--consumer", "gemm", "--step-ms", "20", "--seconds", "3")
    for row in rows:
        add_steadiness(bars, row)
        bars.at_most(f"{row['path']}: cost of a step", row["step_cost"], 0.005)
    return {"rows": rows}


def naive(runner: Runner, _: Bars) -> Json:
    """The naive loader as fast as it can."""
    return {"rows": runner.bench("--path", "cached,files", "--loader", "naive", "--seconds", "1")}


FIGURES: dict[str, Callable[[Runner, Bars], Json]] = {
    "gpu-feed": paths,
    "gpu-feed-6-cores": six_cores,
    "gpu-feed-resident": resident,
    "gpu-feed-gemm": gemm,
    "gpu-feed-gemm-large": gemm_large,
    "gpu-feed-gemm-20ms": gemm_20ms,
    "gpu-feed-naive": naive,
}


def measure(name: str, options: argparse.Namespace) -> bool:
    runner, bars = Runner(options), Bars()
    try:
        result = FIGURES[name](runner, bars)
    except RunFailed as fault:
        print(f"{name}: {fault}", file=sys.stderr)
        return False
    record = {
        "date": datetime.date.today().isoformat(),
        "machine": processor(),
        "cores": len(runner.cores),
        "command": runner.commands[0],
        "commands": runner.commands,
        "bars": bars.rows,
        "result": result | {"gpu": gpu_name()},
    }
    options.out.mkdir(parents=True, exist_ok=True)
    (options.out / f"{name}.json").write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")
    for bar in bars.rows:
        print(f"{'ok  ' if bar['ok'] else 'MISS'} {name} {bar['name']}: {bar['found']:.4g} ({bar['bar']})", flush=True)
    return bars.ok()


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=Path, default=Path("build"))
    parser.add_argument("--data", type=Path, default=Path("/dev/shm/stoker-clips-4000"))
    parser.add_argument("--out", type=Path, default=RESULTS)
    parser.add_argument("--limit-s", type=float, default=60.0, help="for one command")
    parser.add_argument("names", nargs="*", help=f"of {', '.join(FIGURES)} (default: all)")
    options = parser.parse_args()
    return 0 if all([measure(name, options) for name in options.names or FIGURES]) else 1


if __name__ == "__main__":
    sys.exit(ended(main))
