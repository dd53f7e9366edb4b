#!/usr/bin/env python3
"""Measures what the feed promises under load, one figure after the other, and says whether each bar is met.

    bench/feed_figures.py --build build --data2000 A --data13100 B [names …]

Data sets that are not there are made with the built-in voice. Every figure is kept as JSON in
bench/results/feed-NAME.json with the commands that gave it. A bar that is missed makes the exit status 1.
demand-16 is promised for sixteen cores and only measured where it is named.
"""

import argparse
import datetime
import json
import os
import re
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from bench.program import ended, run_stoker
from bench.record import RESULTS, ROOT, Bars, Json, processor

RUN_LIMIT_S = 3600.0  # four hundred windows on three paths take most of an hour
CALM_CV = 0.05
ENOUGH_S = 30.0


class Runner:
    def __init__(self, options: argparse.Namespace) -> None:
        self.program = str((options.build / "stoker").resolve())
        self.folders: dict[int, Path] = {2000: options.data2000, 13100: options.data13100}
        self.ready: set[int] = set()
        self.commands: list[str] = []
        self.keep: Callable[[Json], None] = lambda _: None  # writes what there is so far

    def data(self, clips: int) -> str:
        folder = self.folders[clips]
        if clips not in self.ready:
            if not (folder / "metadata.csv").exists():
                self.run("data", "make", "--out", str(folder), "--clips", str(clips), "--lengths", "ljspeech")
            self.run("precompute", "--data", str(folder))
            self.ready.add(clips)
        return str(folder)

    @property
    def small(self) -> str:
        return self.data(2000)

    @property
    def large(self) -> str:
        return self.data(13100)

    def run(self, *arguments: str) -> Json:
        self.commands.append(" ".join(["stoker", *arguments]))
        return run_stoker(self.program, *arguments, limit_s=RUN_LIMIT_S, tells=False)

    def bench(self, data: str, *arguments: str) -> list[Json]:
        rows: list[Json] = self.run("bench", "feed", "--data", data, "--device", "cpu", *arguments)["rows"]
        return rows


def supply(runner: Runner, bars: Bars) -> Json:
    """Clips a second and processor time, cached and on the fly."""
    common = ("--dtype", "f16,f32", "--seconds", "10", "--repeat", "5")
    rows = runner.bench(runner.small, "--path", "cached,files", *common)
    rows += runner.bench(runner.large, "--path", "cached", *common)
    for row in rows:
        name = f"{row['path']} {row['dtype']}"
        cached = row["path"] == "cached"
        bar = 8_000.0 if not cached else 150_000.0 if row["dtype"] == "f16" else 120_000.0
        bars.at_least(f"{name}: clips/s", row["clips_per_s"], bar)
        bars.at_most(f"{name}: CPU s per 1,000", row["cpu_s_per_1000_clips"], 0.015 if cached else 0.25)
        bars.at_most(f"{name}: MB beside the batches", row["rss_mb"] - row["buffers_mb"], 64.0)
    return {"rows": rows}


def demand(runner: Runner, bars: Bars) -> Json:
    """A consumer that asks for a fixed rate, beside the same one fed from memory."""
    rows: list[Json] = []
    for path, rate, seconds in (("cached", "50000", "6"), ("files", "4000", "40")):
        rows += runner.bench(runner.small, "--path", path, "--demand", rate, "--seconds", seconds, "--repeat", "2")
    for row in rows:
        memory = row["from_memory"]
        bars.at_least(f"{row['path']}: batches", row["batches"], 2_000)
        bars.at_most(f"{row['path']}: stall share", row["stall_share"], 0.005)
        bars.at_most(f"{row['path']}: CV above memory", row["interval_cv"] - memory["interval_cv"], 0.02)
        bars.at_most(f"{row['path']}: p99/p50 above memory", row["p99_over_p50"] - memory["p99_over_p50"], 0.05)
    # Of many intervals one in a hundred is beyond p99 wherever it occurs: hence a data set of long epochs.
    ends = runner.bench(runner.large, "--demand", "50000", "--seconds", "3", "--repeat", "1")
    for row in ends:
        bars.at_most("longest interval at an epoch's end, of p99", row["longest_epoch_gap_ms"] / row["p99_ms"], 1.0)
    return {"rows": rows, "epoch_ends": ends}


def demand_16(runner: Runner, bars: Bars) -> Json:
    """A consumer that asks for nine tenths of what sixteen cores can bring, with steps of several lengths.

    Its intervals are to be as even as promised, or as even as those of the same consumer fed from memory. Where the
    machine itself stopped that one, the row is measured once more.
    """
    rows: list[Json] = []
    started = time.monotonic()
    for frames in ("40000", "160000"):
        for path, seconds in (("cached", "1"), ("files", "1.5")):
            common = ("--demand", "90%", "--repeat", "1", "--batch-frames", frames, "--seconds", seconds)
            row = runner.bench(runner.small, "--path", path, *common)[0]
            if row["from_memory"]["interval_cv"] > CALM_CV and time.monotonic() - started < ENOUGH_S:
                row = runner.bench(runner.small, "--path", path, *common)[0]
            row["batch_frames"] = int(frames)
            rows.append(row)
            memory = row["from_memory"]
            name = f"{path}, steps of {row['step_ms']:.3g} ms"
            bars.at_most(f"{name}: stall share", row["stall_share"], 0.005)
            bars.at_most(f"{name}: interval CV", row["interval_cv"], max(0.05, memory["interval_cv"] + 0.02))
            bars.at_most(f"{name}: p99/p50", row["p99_over_p50"], max(1.10, memory["p99_over_p50"] + 0.05))
            print(f"{name}: {row['clips_per_s']:,.0f} clips/s", flush=True)
            runner.keep({"rows": rows})
    return {"rows": rows}


def first(runner: Runner, bars: Bars) -> Json:
    """Time to the first batch: after open, from process start, and with a cold index."""
    found: Json = {}
    for name, data in (("2000", runner.small), ("13100", runner.large)):
        after_open: list[float] = []
        whole: list[float] = []
        for _ in range(7):
            started = time.monotonic()
            result = runner.run("stream", "--data", data, "--batches", "1", "--device", "cpu")
            whole.append(time.monotonic() - started)
            after_open.append(result["first_batch_s"] - result["open_s"])
        found[name] = {"after_open_s": statistics.median(after_open), "process_s": statistics.median(whole)}
        bars.at_most(f"{name} clips: first batch after open, s", found[name]["after_open_s"], 0.005)
    bars.at_most("2000 clips: from process start to exit, s", found["2000"]["process_s"], 0.1)
    if os.geteuid() == 0:
        subprocess.run(["sync"], check=True)
        Path("/proc/sys/vm/drop_caches").write_text("3\n", encoding="utf-8")
        started = time.monotonic()
        result = runner.run("data", "info", runner.large)
        found["cold_index_s"] = time.monotonic() - started
        bars.at_most("13100 rows: cold index, s", found["cold_index_s"], 1.0)
        runner.run("verify", "--data", runner.large)
    return found


def neighbour(runner: Runner, bars: Bars) -> Json:
    """One of the cores taken by somebody else, then given back."""
    alone = runner.bench(runner.small, "--seconds", "4", "--repeat", "2")[0]["clips_per_s"]
    spin = "while True: pass"
    busy = subprocess.Popen(["taskset", "-c", "0", sys.executable, "-c", spin])
    try:
        beside = runner.bench(runner.small, "--seconds", "4", "--repeat", "2")[0]["median_clips_per_s"]
    finally:
        busy.kill()
        busy.wait()
    back = runner.bench(runner.small, "--seconds", "1.5", "--repeat", "1")[0]["clips_per_s"]
    bars.at_least("beside a busy neighbour, of alone", beside / alone, 0.5)
    bars.at_least("after it has gone, of alone", back / alone, 0.8)
    return {"alone": alone, "beside": beside, "back": back}


def tuner(runner: Runner, bars: Bars) -> Json:
    """From one worker and depth one to the best fixed setting."""
    fixed = runner.bench(
        runner.small,
        "--set", "data.auto_tune_performance=false",
        "--grid", "data.num_workers=1,2,3", "--grid", "data.prefetch_buffer_size=1,4,8",
        "--seconds", "2", "--repeat", "2",
    )  # fmt: skip
    best = max(row["median_clips_per_s"] for row in fixed)
    runs: list[Json] = []
    log = "/tmp/stoker-tuner.jsonl"
    for _ in range(10):
        row = runner.bench(
            runner.small,
            "--set", "data.num_workers=1", "--set", "data.prefetch_buffer_size=1",
            "--seconds", "15", "--repeat", "1", "--tuner-log", log,
        )[0]  # fmt: skip
        replay = runner.run("bench", "feed", "--replay-tuner", log)
        runs.append(
            {
                "of_best": row["clips_per_s"] / best,
                "moves": len(row["tuner"]["moves"]),
                "end": row["settings_at_end"],
                "replays": replay["same_moves"],
            }
        )
    bars.at_least("runs of ten that reach 90 %", sum(run["of_best"] >= 0.9 for run in runs), 9)
    bars.at_least("logs of ten that replay", sum(run["replays"] for run in runs), 10)
    return {"best_fixed_clips_per_s": best, "runs": runs}


def shared_bytes(pid: int) -> int:
    """What a process has of the cache's files, in bytes: a page that four map counts a quarter."""
    total = 0
    inside = False
    for line in Path(f"/proc/{pid}/smaps").read_text(encoding="utf-8").splitlines():
        if re.match(r"^[0-9a-f]+-[0-9a-f]+ ", line):
            inside = ".stk" in line
        elif inside and line.startswith("Pss:"):
            total += int(line.split()[1]) * 1024
    return total


def shared(runner: Runner, bars: Bars) -> Json:
    """The RAM tier is one copy for all processes of the machine."""
    command = [runner.program, "bench", "feed", "--data", runner.large, "--cache-tier", "ram", "--device", "cpu"]
    command += ["--seconds", "12", "--repeat", "1", "--json"]
    sums: list[int] = []
    for count in (1, 4):
        readers = [subprocess.Popen(command, stdout=subprocess.DEVNULL) for _ in range(count)]
        time.sleep(7 + 2 * count)
        sums.append(sum(shared_bytes(reader.pid) for reader in readers))
        for reader in readers:
            reader.terminate()
            reader.wait()
    bars.at_least("one reader holds the cache, MB", sums[0] / 1e6, 1_000)
    bars.at_most("four readers, of one", sums[1] / max(sums[0], 1), 1.1)
    return {"one_bytes": sums[0], "four_bytes": sums[1]}


def switches(runner: Runner, bars: Bars) -> Json:
    """What each switch of the loader does, and naive against native."""
    rows = runner.bench(runner.small, "--loader", "naive,native", "--path", "cached,files", "--seconds", "4")
    rows += runner.bench(
        runner.small,
        "--grid", "data.optimize_cpu_gpu_overlap=true,false",
        "--grid", "data.prefetch_buffer_size=1,8",
        "--seconds", "2",
    )  # fmt: skip
    for row in rows:
        if row["loader"] == "native" and "speed_up" in row:
            bars.at_least(f"{row['path']}: native over naive", row["speed_up"], 1.5)
    return {"rows": rows}


def instruments(runner: Runner, bars: Bars) -> Json:
    """What a record of every batch costs: with and without, in turn, as fast as the feed can.

    Many short windows, for a machine's speed drifts by more than a record costs; and no tuner, which may leave the two
    with other buffers.
    """
    rows: list[Json] = []
    for path, dtype in (("cached", "f16"), ("cached", "f32"), ("files", "f32")):
        how = ("--path", path, "--dtype", dtype, "--seconds", "80", "--repeat", "400")
        still = ("--set", "data.auto_tune_performance=false")
        both = runner.bench(runner.small, "--instruments", "on,off", *how, *still)
        rows += both
        cost = next(row["instruments_cost"] for row in both if "instruments_cost" in row)
        between = f"{100 * cost['lowest_rate']:.2f} to {100 * cost['highest_rate']:.2f} %"
        bars.at_most(f"{path} {dtype}: share of the rate ({between})", cost["median_rate"], 0.005)
    return {"rows": rows}


FIGURES: dict[str, Callable[[Runner, Bars], Json]] = {
    "supply": supply,
    "demand": demand,
    "first": first,
    "neighbour": neighbour,
    "switches": switches,
    "shared": shared,
    "tuner": tuner,
    "instruments": instruments,
}
NAMED_ONLY: dict[str, Callable[[Runner, Bars], Json]] = {"demand-16": demand_16}


def measure(runner: Runner, name: str, folder: Path) -> bool:
    runner.commands.clear()
    bars = Bars()

    def keep(result: Json) -> None:
        kept = {
            "date": datetime.date.today().isoformat(),
            "machine": f"{processor()}, {os.cpu_count()} cores",
            "command": f"bench/feed_figures.py {name}",
            "commands": sorted(set(runner.commands)),
            "bars": bars.rows,
            "result": result,
        }
        folder.mkdir(parents=True, exist_ok=True)
        (folder / f"feed-{name}.json").write_text(json.dumps(kept, indent=1) + "\n", encoding="utf-8")

    runner.keep = keep
    try:
        keep((FIGURES | NAMED_ONLY)[name](runner, bars))
    except (RuntimeError, OSError, KeyError, json.JSONDecodeError) as error:
        print(f"{name}: {error}", file=sys.stderr)
        return False
    for row in bars.rows:
        print(f"{'ok  ' if row['ok'] else 'MISS'} {name}: {row['name']} {row['found']:.4g} ({row['bar']})")
    return bars.ok()


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=Path, default=ROOT / "build")
    parser.add_argument("--data2000", type=Path, default=Path("/tmp/stoker-2000"))
    parser.add_argument("--data13100", type=Path, default=Path("/tmp/stoker-13100"))
    parser.add_argument("--results", type=Path, default=RESULTS)
    parser.add_argument("names", nargs="*", help=f"default: all of {', '.join(FIGURES)}; also {', '.join(NAMED_ONLY)}")
    options = parser.parse_args()
    unknown = [name for name in options.names if name not in FIGURES | NAMED_ONLY]
    if unknown:
        parser.error(f"no such figure: {', '.join(unknown)}")
    runner = Runner(options)
    verdicts = [measure(runner, name, options.results) for name in options.names or list(FIGURES)]
    return 0 if all(verdicts) else 1


if __name__ == "__main__":
    sys.exit(ended(main))
