"""What the crossing into Python costs: the supply of `stoker bench feed`, taken by a Python loop instead.

    python -m stoker bench --data DATA --path cached --seconds 3

Windows of the command and of the loop take turns, so that both see the same machine; the best window of each counts.
On a GPU the loop is torch's: every batch becomes torch tensors, at most AHEAD_BATCHES ahead of the card.
"""

from __future__ import annotations

import argparse
import datetime
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import stoker
from stoker.program import program_path

AHEAD_BATCHES = 16
MARK_EVERY = 8  # a mark in the stream takes the driver's lock from the thread that feeds
WARM_S = 0.5
BARS = {"take_us": 15.0, "share_of_command": 0.9}
PATHS = {"cached": "precompute", "files": "runtime"}


def settings_of(options: argparse.Namespace, path: str) -> dict[str, Any]:
    """The settings with which `stoker bench feed` opens its feed for this path."""
    settings: dict[str, Any] = {"data.preprocessing_mode": PATHS[path], "device": options.device}
    if path == "cached":
        settings["gpu.mel_place"] = "cpu"
    if options.batch_size:
        settings["data.batch_size"] = options.batch_size
    if options.workers is not None:
        settings["data.num_workers"] = options.workers
    for given in options.set:
        name, _, value = given.partition("=")
        settings[name] = value
    return settings


class TorchConsumer:
    """Takes every batch as torch tensors and lets the host run a few batches ahead of the card."""

    def __init__(self) -> None:
        import torch

        make_event: Any = torch.cuda.Event
        self.passed = [make_event() for _ in range(AHEAD_BATCHES // MARK_EVERY + 1)]
        self.num_taken = 0

    def take(self, batch: Any) -> None:
        """One batch; its memory goes back once the stream has come to here."""
        batch.to_torch("mel", "tokens")
        self.num_taken += 1
        if self.num_taken % MARK_EVERY == 0:
            mark = self.num_taken // MARK_EVERY
            self.passed[mark % len(self.passed)].record()
            self.passed[(mark + 1) % len(self.passed)].synchronize()

    def finish(self) -> None:
        """Until the card has everything."""
        self.passed[0].record()
        self.passed[0].synchronize()


class PlainConsumer:
    """Looks at what a CPU trainer would: the frames as an array."""

    def take(self, batch: Any) -> None:
        """One batch."""
        batch.mel.__dlpack__()

    def finish(self) -> None:
        """Nothing is under way."""


def window(feed: stoker.Feed, consumer: TorchConsumer | PlainConsumer, seconds: float) -> float:
    """Clips a second, taken as fast as they come for so long; a while before that is warm-up."""
    num_batches = num_clips = 0
    is_warm = False
    begun = time.perf_counter()
    end = begun + WARM_S
    while True:
        for batch in feed:
            consumer.take(batch)
            num_batches += 1
            if num_batches % 16 != 0 or time.perf_counter() < end:
                continue
            consumer.finish()
            now, taken = time.perf_counter(), int(feed.stats()["clips"])
            if is_warm:
                return (taken - num_clips) / (now - begun)
            is_warm, num_clips, begun, end = True, taken, now, now + seconds


def await_ready(feed: stoker.Feed, num_batches: int) -> None:
    """Until so many batches are ready, a fifth of a second at most."""
    deadline = time.perf_counter() + 0.2
    while feed.stats()["ready"] < num_batches and time.perf_counter() < deadline:
        time.sleep(0.002)


def take_us(data: Path, settings: dict[str, Any], num_rounds: int = 40) -> float:
    """Microseconds for a batch that is ready already: the loop, the lease, the array and giving it back."""
    costs: list[float] = []
    settings = settings | {"data.num_workers": 1, "data.auto_tune_performance": False, "data.prefetch_buffer_size": 32}
    with stoker.Feed(data, **settings) as feed:
        while len(costs) < num_rounds:
            loop = iter(feed)
            left = len(feed)
            while left > 0:
                count = min(8, left)
                await_ready(feed, count + 1)
                begun = time.perf_counter()
                for _ in range(count):
                    next(loop).mel.__dlpack__()
                costs.append((time.perf_counter() - begun) / count * 1e6)
                left -= count
            next(loop, None)
    return statistics.median(costs)


def command_window(options: argparse.Namespace, path: str, seconds: float) -> dict[str, Any]:
    """The same by `stoker bench feed`, in a process of its own."""
    command = [str(options.program), "bench", "feed", str(options.data), "--json", "--repeat", "1"]
    command += ["--path", path, "--seconds", str(seconds), "--device", options.device]
    if options.batch_size:
        command += ["--batch-size", str(options.batch_size)]
    if options.workers is not None:
        command += ["--threads", str(options.workers)]
    for given in options.set:
        command += ["--set", given]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"stoker bench feed: {done.stderr.strip()}")
    row: dict[str, Any] = json.loads(done.stdout)["rows"][0]
    return row


def bench_path(options: argparse.Namespace, path: str) -> dict[str, Any]:
    """One path, command and loop in turn."""
    settings = settings_of(options, path)
    consumer = PlainConsumer() if options.device == "cpu" else TorchConsumer()
    seconds = options.seconds / options.repeat
    command: list[float] = []
    loop: list[float] = []
    for _ in range(options.repeat):
        command.append(command_window(options, path, seconds)["clips_per_s"])
        with stoker.Feed(options.data, **settings) as feed:
            loop.append(window(feed, consumer, seconds))
    row = {
        "path": path,
        "device": options.device,
        "python_clips_per_s": max(loop),
        "python_median_clips_per_s": statistics.median(loop),
        "command_clips_per_s": max(command),
        "command_median_clips_per_s": statistics.median(command),
        "share_of_command": max(loop) / max(command),
    }
    if options.device == "cpu":
        row["take_us"] = take_us(options.data, settings)
    return row


def processor() -> str:
    """What the machine calls itself."""
    for line in Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines():
        if line.startswith("model name"):
            return line.partition(":")[2].strip()
    return "unknown"


def report_of(options: argparse.Namespace, rows: list[dict[str, Any]]) -> dict[str, Any]:
    """The figures with date, machine and command, as they are kept."""
    report = {
        "date": datetime.date.today().isoformat(),
        "machine": processor(),
        "cores": len(os.sched_getaffinity(0)),
        "python": ".".join(str(part) for part in sys.version_info[:3]),
        "command": "python -m stoker bench " + " ".join(options.arguments),
        "rows": rows,
    }
    if options.device != "cpu":
        import torch

        report |= {"gpu": torch.cuda.get_device_name(), "torch": torch.__version__}
    return report


def line_of(row: dict[str, Any]) -> str:
    """One row for people."""
    share = f"{row['share_of_command']:.0%} of the command's"
    text = f"{row['path']:<8}{row['python_clips_per_s']:>12,.0f} clips/s, {share}"
    return text + (f"; {row['take_us']:.1f} us for a batch that is ready" if "take_us" in row else "")


def below_bar(rows: list[dict[str, Any]]) -> list[str]:
    """What does not reach its bar, in words."""
    words = []
    for row in rows:
        if row["share_of_command"] < BARS["share_of_command"]:
            words.append(f"{row['path']}: {row['share_of_command']:.0%} of the command, expected 90 % or more")
        if row.get("take_us", 0) > BARS["take_us"]:
            words.append(f"{row['path']}: {row['take_us']:.1f} us a batch, expected 15 or less")
    return words


def parse(arguments: list[str]) -> argparse.Namespace:
    """The options of `python -m stoker bench`."""
    parser = argparse.ArgumentParser(prog="python -m stoker bench", description=__doc__.partition("\n")[0])
    parser.add_argument("--data", type=Path, help="data set (default: one is made)")
    parser.add_argument("--path", default="cached", help="cached, files, or both with a comma")
    parser.add_argument("--device", default="cpu", help="cpu or cuda:N")
    parser.add_argument("--batch-size", type=int, help="utterances a batch (default: by frames)")
    parser.add_argument("--workers", type=int, help="data.num_workers of both")
    parser.add_argument("--seconds", type=float, default=6.0, help="for each side of each path")
    parser.add_argument("--repeat", type=int, default=3, help="windows")
    parser.add_argument("--clips", type=int, default=2000, help="clips of the set that is made")
    parser.add_argument("--set", action="append", default=[], help="a setting, data.batch_dtype=f16")
    parser.add_argument("--json", type=Path, help="keep the figures here")
    parser.add_argument("--check", action="store_true", help="exit 1 below the bars")
    options = parser.parse_args(arguments)
    options.arguments = arguments
    options.program = program_path()
    return options


def main(arguments: list[str]) -> int:
    """Measures, prints, keeps."""
    options = parse(arguments)
    with tempfile.TemporaryDirectory() as folder:
        if options.data is None:
            options.data = Path(folder) / "data"
            make = [str(options.program), "data", "make", "--out", str(options.data), "--clips", str(options.clips)]
            subprocess.run(make, check=True, capture_output=True)
        rows = [bench_path(options, path) for path in options.path.split(",")]
    for row in rows:
        print(line_of(row))
    if options.json:
        options.json.write_text(json.dumps(report_of(options, rows), indent=1) + "\n", encoding="utf-8")
    faults = below_bar(rows)
    for fault in faults:
        print(fault, file=sys.stderr)
    return 1 if options.check and faults else 0
