#!/usr/bin/env python3
"""Compares the settings that `stoker config recommend` gives with the best of a grid, on three unlike data sets.

    bench/recommend.py --build build --work FOLDER

Many tiny files, a few long ones, and a data set whose cache is there already. The grid is workers x buffer x tier;
its best cells and the recommended file then take turns there and back, one process each, so that what drifts hits all
of them. Rates are geometric means of the rounds: on a virtual machine a cached feed runs at one of two speeds a third
apart, whatever its settings, so the median of a few windows is a throw of a coin; the ratio of the medians is kept
beside it, and all rounds. The recommended file is used as a user would: `--config FILE`. Kept as
bench/results/recommend.json. The exit status is 1 where the recommended settings reach less than 95 % of the best of
the grid.
"""

import argparse
import datetime
import json
import math
import os
import statistics
import sys
from pathlib import Path
from typing import NamedTuple

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from bench.program import ended, run_stoker
from bench.record import RESULTS, ROOT, Json, processor

RESULT = RESULTS / "recommend.json"
BAR = 0.95
DEPTHS = (2, 8, 32)
FIXED = ["--device", "cpu", "--set", "data.auto_tune_performance=false"]


class DataSet(NamedTuple):
    name: str
    clips: int
    lengths: str
    is_cached: bool


DATA_SETS = (
    DataSet("tiny", 3000, "uniform:0.5-1", False),
    DataSet("long", 60, "uniform:40-60", False),
    DataSet("cached", 1200, "ljspeech", True),
)


class Cell(NamedTuple):
    path: str  # as `bench feed --path` names it
    tier: str  # cache.tier
    workers: int
    depth: int

    def text(self) -> str:
        return f"{self.path}{' in memory' if self.tier == 'ram' else ''}, {self.workers} workers, buffer {self.depth}"


class Runner:
    def __init__(self, options: argparse.Namespace) -> None:
        self.program = str((options.build / "stoker").resolve())
        self.work: Path = options.work
        self.scale: float = options.scale

    def run(self, *arguments: str) -> Json:
        return run_stoker(self.program, *arguments, "--quiet", tells=False)

    def prepare(self, data_set: DataSet) -> str:
        folder = self.work / data_set.name
        clips = max(20, round(data_set.clips * self.scale))
        if not (folder / "metadata.csv").exists():
            self.run("data", "make", "--out", str(folder), "--clips", str(clips), "--lengths", data_set.lengths)
        if data_set.is_cached:
            self.run("precompute", "--data", str(folder))
        return str(folder)

    def rate(self, data: str, cell: Cell, seconds: float, windows: int) -> list[float]:
        row = self.run(
            *("bench", "feed", "--data", data, *FIXED, "--path", cell.path, "--threads", str(cell.workers)),
            *("--prefetch-buffer-size", str(cell.depth), "--cache-tier", cell.tier),
            *("--seconds", str(seconds), "--repeat", str(windows)),
        )
        windows_found: list[float] = row["rows"][0]["windows_clips_per_s"]
        return windows_found

    def recommended_rate(self, data: str, config: str, path: str, seconds: float) -> list[float]:
        row = self.run(
            *("bench", "feed", "--data", data, "--config", config, "--path", path),
            *("--seconds", str(seconds), "--repeat", "1"),
        )
        windows_found: list[float] = row["rows"][0]["windows_clips_per_s"]
        return windows_found


def geometric_mean(values: list[float]) -> float:
    return math.exp(statistics.fmean(map(math.log, values)))


def interval_of_ratio(own: list[float], other: list[float]) -> tuple[float, float]:
    """Two standard errors about the ratio, of rounds taken in pairs: what slows both does not count."""
    each = [math.log(a / b) for a, b in zip(own, other, strict=True)]
    middle = statistics.fmean(each)
    error = statistics.stdev(each) / len(each) ** 0.5 if len(each) > 1 else 0.0
    return math.exp(middle - 2 * error), math.exp(middle + 2 * error)


def grid(workers: list[int]) -> list[Cell]:
    tiers = [("files", "disk"), ("pcm", "disk"), ("cached", "disk"), ("cached", "ram")]
    return [Cell(path, tier, count, depth) for path, tier in tiers for count in workers for depth in DEPTHS]


def compare(runner: Runner, data_set: DataSet, options: argparse.Namespace) -> Json:
    data = runner.prepare(data_set)
    config = str(runner.work / f"{data_set.name}.yaml")
    cores = len(os.sched_getaffinity(0))
    advice = runner.run("config", "recommend", "--data", data, "--out", config, "--budget-s", str(options.budget_s))
    tier = str(advice["tier"])
    path = "cached" if tier in ("memory", "gpu") else tier
    workers = sorted({1, max(1, cores // 2), cores, 2 * cores})
    cells = grid(workers)
    found = {cell: statistics.median(runner.rate(data, cell, options.window_s * 2, 2)) for cell in cells}
    finalists = sorted(cells, key=lambda cell: -found[cell])[: options.finalists]
    rates: dict[Cell | None, list[float]] = {cell: [] for cell in (None, *finalists)}
    for round_number in range(options.rounds):
        for cell in list(rates)[:: 1 if round_number % 2 == 0 else -1]:
            seconds = options.window_s * 2
            taken = (
                runner.recommended_rate(data, config, path, seconds)
                if cell is None
                else runner.rate(data, cell, seconds, 1)
            )
            rates[cell] += taken
    best = max(finalists, key=lambda cell: geometric_mean(rates[cell]))
    own = geometric_mean(rates[None])
    best_rate = geometric_mean(rates[best])
    ratio = own / best_rate
    low, high = interval_of_ratio(rates[None], rates[best])
    print(
        f"{data_set.name:<8} {own:>10,.0f} clips/s recommended, {best_rate:>10,.0f} best of the grid "
        f"({best.text()}): {100 * ratio:.1f} % "
        f"({100 * low:.1f} to {100 * high:.1f}) {'pass' if ratio >= BAR else 'FAIL'}",
        flush=True,
    )
    return {
        "data": data_set._asdict(),
        "tier": tier,
        "settings": {each["setting"]: each["value"] for each in advice["settings"]},
        "predicted": advice["clips_per_s"],
        "recommended_clips_per_s": own,
        "best_clips_per_s": best_rate,
        "ratio_low": low,
        "ratio_high": high,
        "median_ratio": statistics.median(rates[None]) / statistics.median(rates[best]),
        "rounds": {"recommended" if cell is None else cell.text(): taken for cell, taken in rates.items()},
        "best": best._asdict(),
        "ratio": ratio,
        "ok": ratio >= BAR,
        "grid": [{**cell._asdict(), "clips_per_s": found[cell]} for cell in cells],
    }


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=Path, default=ROOT / "build")
    parser.add_argument("--work", type=Path, required=True, help="folder for the data sets, which stay")
    parser.add_argument("--budget-s", type=float, default=30, help="of each recommendation")
    parser.add_argument("--window-s", type=float, default=0.3, help="of each cell of the grid")
    parser.add_argument("--rounds", type=int, default=40, help="in which the best cells take turns")
    parser.add_argument("--finalists", type=int, default=3)
    parser.add_argument("--scale", type=float, default=1, help="of the data sets' sizes, for a quick try")
    parser.add_argument("--out", type=Path, default=RESULT)
    options = parser.parse_args()
    options.work.mkdir(parents=True, exist_ok=True)
    runner = Runner(options)
    rows = [compare(runner, data_set, options) for data_set in DATA_SETS]
    report = {
        "date": datetime.datetime.now(datetime.UTC).date().isoformat(),
        "machine": processor(),
        "cores": len(os.sched_getaffinity(0)),
        "command": "bench/recommend.py --work FOLDER",
        "bar": BAR,
        "rows": rows,
        "ok": all(row["ok"] for row in rows),
    }
    options.out.write_text(json.dumps(report, indent=1) + "\n", encoding="utf-8")
    print(f"{'pass' if report['ok'] else 'FAIL'}: at least {100 * BAR:.0f} % of the best on each; {options.out}")
    return 0 if report["ok"] else 1


if __name__ == "__main__":
    sys.exit(ended(main))
