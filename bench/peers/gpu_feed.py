"""torch DataLoader into GPU memory, tuned over workers and pinning, beside stoker: same data, cores, card and run.

python3 -m bench.peers.gpu_feed --program build/stoker --data FOLDER --out bench/results/gpu-feed-peers.json

With PYTHONPATH=build/python the package's own loop takes part, too: stoker.Feed in the same loop as torch's DataLoader.

Like is compared with like: mels stored in the same number format, or made from sound files on the same kind of device;
batches of as many clips; and hosts that run as many batches ahead of the GPU.
"""

import argparse
import collections
import datetime
import importlib
import importlib.util
import json
import os
import statistics
import sys
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch.utils.data import DataLoader

from bench.peers import hifigan_mel
from bench.peers.torch_mel import TorchMel
from bench.program import ended, run_stoker
from bench.record import processor

BATCH_CLIPS = 64
WAV_HEADER_BYTES = 44
WARM_BATCHES = 20
LOST_BATCH_S = 15  # a worker that brings nothing for so long ends its trial
# As far as the consumer of `stoker bench feed` runs ahead of its GPU (kAhead in observe/device_source.cc).
AHEAD_BATCHES = 16
MARK_EVERY = 4  # a mark for each batch would cost every entrant


@dataclass(frozen=True)
class Way:
    """One row: what a worker of the DataLoader hands over, and the same for `stoker bench feed`."""

    title: str
    source: str  # cached, files (mel on the CPU) or pcm (mel on the GPU)
    dtype: str  # of stored and of delivered mels

    def stoker_arguments(self) -> list[str]:
        place = "gpu" if self.source == "pcm" else "cpu"
        path = "cached" if self.source == "cached" else "files"
        return ["--path", path, "--mel-place", place, "--set", f"cache.dtype={self.dtype}", "--dtype", self.dtype]


WAYS = {
    "cached f32": Way("mels from a cache, float32", "cached", "f32"),
    "cached f16": Way("mels from a cache, float16", "cached", "f16"),
    "files cpu": Way("sound files, mel on the CPU, float16", "files", "f16"),
    "files gpu": Way("sound files, mel on the GPU, float16", "pcm", "f16"),
}


@dataclass
class Trial:
    way: str
    workers: int
    pinned: bool
    clips_per_s: float
    interval_cv: float
    p50_ms: float
    p99_ms: float


class Clips:
    """Clip number to what a worker hands over: a mel, or samples whose mel the GPU makes."""

    def __init__(self, source: str, files: list[Path]) -> None:
        self.source = source
        self.files = files
        self.mel = TorchMel()

    def __len__(self) -> int:
        return len(self.files)

    def __getitem__(self, number: int) -> torch.Tensor:
        if self.source == "cached":
            return torch.from_numpy(np.load(self.files[number]))
        samples = np.fromfile(self.files[number], dtype="<i2", offset=WAV_HEADER_BYTES)
        if self.source == "pcm":
            return torch.from_numpy(samples)
        return self.mel(torch.from_numpy(samples.astype(np.float32) / 32768.0)).half()


class Endless:
    """One shuffled epoch after the other, so that no worker waits at an epoch's end."""

    def __init__(self, clips: int) -> None:
        self.clips = clips

    def __iter__(self) -> Iterator[int]:
        random = torch.Generator().manual_seed(42)
        while True:
            yield from torch.randperm(self.clips, generator=random).tolist()


class Collate:
    def __init__(self, source: str) -> None:
        self.padding = 0.0 if source == "pcm" else hifigan_mel.LOG_FLOOR

    def __call__(self, rows: list[torch.Tensor]) -> tuple[torch.Tensor, torch.Tensor]:
        padded = torch.nn.utils.rnn.pad_sequence(rows, batch_first=True, padding_value=self.padding)
        return padded, torch.tensor([len(row) for row in rows])


@dataclass
class Setting:
    way: str
    workers: int
    pinned: bool


def settings_of(cores: int) -> list[Setting]:
    """Every way once before any is tuned further, so that a short run still has them all."""
    counts = sorted({cores, max(1, cores // 2)}, reverse=True)
    choices = [(workers, pinned) for pinned in (True, False) for workers in counts]
    return [Setting(way, workers, pinned) for workers, pinned in choices for way in WAYS]


def make_loader(setting: Setting, files: list[Path], device: str) -> DataLoader[Any]:
    source = WAYS[setting.way].source
    clips: Any = Clips(source, files)  # torch asks for an index and a length, not for a base class
    sampler: Any = Endless(len(files))
    return DataLoader(
        clips,
        batch_size=BATCH_CLIPS,
        sampler=sampler,
        num_workers=setting.workers,
        collate_fn=Collate(source),
        pin_memory=setting.pinned and device != "cpu",
        prefetch_factor=4,
        timeout=LOST_BATCH_S,
    )


class Ahead:
    """Lets the host run AHEAD_BATCHES ahead of the GPU, as stoker's consumer does; batches are held until then."""

    def __init__(self, device: str) -> None:
        self.on_gpu = device != "cpu"
        self.held: list[Any] = []
        self.waiting: collections.deque[tuple[Any, list[Any]]] = collections.deque()
        self.events: collections.deque[Any] = collections.deque()

    def add(self, *tensors: torch.Tensor) -> None:
        if not self.on_gpu:
            return
        self.held.append(tensors)
        if len(self.held) == MARK_EVERY:
            self.mark()
        if len(self.waiting) > AHEAD_BATCHES // MARK_EVERY:
            self.pass_one()

    def mark(self) -> None:
        passed: Any = self.events.popleft() if self.events else torch.cuda.Event()  # type: ignore[no-untyped-call]
        passed.record()
        self.waiting.append((passed, self.held))
        self.held = []

    def pass_one(self) -> None:
        passed, _ = self.waiting.popleft()
        passed.synchronize()
        self.events.append(passed)

    def finish(self) -> None:
        if self.held:
            self.mark()
        while self.waiting:
            self.pass_one()


def run_trial(setting: Setting, files: list[Path], device: str, seconds: float) -> Trial:
    torch.set_num_threads(1)
    make_mel = TorchMel(device) if WAYS[setting.way].source == "pcm" else None
    batches = iter(make_loader(setting, files, device))
    ahead = Ahead(device)
    intervals: list[float] = []
    last = begun = time.perf_counter()
    taken = 0
    while taken < WARM_BATCHES or last - begun < seconds:
        rows, lengths = next(batches)
        on_device = [rows.to(device, non_blocking=True), lengths.to(device, non_blocking=True)]
        if make_mel is not None:
            on_device.append(make_mel(on_device[0].float() / 32768.0).half())
        # What the loader handed over is kept, too: pinned memory must not be used again before it was read.
        ahead.add(rows, lengths, *on_device)
        taken += 1
        if taken == WARM_BATCHES:
            ahead.finish()
            begun = time.perf_counter()
        now = time.perf_counter()
        if taken > WARM_BATCHES:
            intervals.append(now - last)
        last = now
    ahead.finish()
    whole_s = time.perf_counter() - begun
    return trial_of(setting, intervals, whole_s)


def trial_of(setting: Setting, intervals: list[float], whole_s: float) -> Trial:
    """The speed counts until the GPU has the last batch."""
    ordered = sorted(intervals)
    return Trial(
        setting.way,
        setting.workers,
        setting.pinned,
        BATCH_CLIPS * len(intervals) / whole_s,
        statistics.pstdev(intervals) / statistics.fmean(intervals),
        1e3 * ordered[len(ordered) // 2],
        1e3 * ordered[len(ordered) * 99 // 100],
    )


def stoker_row(way: Way, options: argparse.Namespace) -> dict[str, Any]:
    """One run of `stoker bench feed`; it checks its own batches before it prints a figure."""
    words = ["bench", "feed", "--data", str(options.data), "--device", options.device]
    words += ["--repeat", "1", "--seconds", str(options.seconds), "--batch-size", str(BATCH_CLIPS)]
    words += ["--threads", str(len(os.sched_getaffinity(0)))]
    arguments = way.stoker_arguments()
    if options.device == "cpu":  # only to try this file where there is no GPU
        arguments[arguments.index("--mel-place") + 1] = "cpu"
    row: dict[str, Any] = run_stoker(options.program, *words, *arguments, limit_s=300, tells=False)["rows"][0]
    return row


def python_row(way: Way, options: argparse.Namespace) -> dict[str, Any] | None:
    """The loop that torch's DataLoader gets, over stoker.Feed; None where the package is not there."""
    if importlib.util.find_spec("stoker") is None:
        return None
    stoker = importlib.import_module("stoker")
    settings = {
        "data.preprocessing_mode": "precompute" if way.source == "cached" else "runtime",
        "gpu.mel_place": "gpu" if way.source == "pcm" and options.device != "cpu" else "cpu",
        "cache.dtype": way.dtype,
        "data.batch_dtype": way.dtype,
        "num_workers": len(os.sched_getaffinity(0)),
    }
    with stoker.Feed(options.data, batch_size=BATCH_CLIPS, device=options.device, **settings) as feed:
        return timed_loop(feed, options)


def timed_loop(feed: Any, options: argparse.Namespace) -> dict[str, Any]:
    """Clips a second of one epoch after the other, until the GPU has the last batch."""
    ahead = Ahead(options.device)
    taken = clips = 0
    begun = time.perf_counter()
    while True:
        for batch in feed:
            ahead.add(*batch.to_torch("mel", "mel_len").values())
            taken += 1
            if taken == WARM_BATCHES:
                ahead.finish()
                clips = feed.stats()["clips"]
                begun = time.perf_counter()
            if taken > WARM_BATCHES and taken % 8 == 0 and time.perf_counter() - begun > options.seconds:
                ahead.finish()
                whole_s = time.perf_counter() - begun
                return {"clips_per_s": (feed.stats()["clips"] - clips) / whole_s, "batches": taken - WARM_BATCHES}


def export_mels(options: argparse.Namespace, dtype: str) -> list[Path]:
    """The mels of stoker's cache in that number format, one .npy a clip."""
    root: Path = options.npy or options.data.with_name(options.data.name + "-npy")
    out = root / dtype
    if not out.exists():
        fixed = ["--data", str(options.data), "--cache-dtype", dtype]
        for command in (["precompute", *fixed], ["cache", "export", *fixed, "--out", str(out)]):
            run_stoker(options.program, *command, tells=False)
    return sorted(path for path in out.rglob("*.npy") if path.parent.name.startswith("mel"))


Rows = dict[str, dict[str, Any]]


def compared(trials: list[Trial], rows: Rows, loops: Rows) -> Rows:
    """For each way: stoker, its Python loop, the best trial of torch, and how many times faster stoker is."""
    ways = {}
    for name, row in rows.items():
        best = max((t for t in trials if t.way == name), key=lambda t: t.clips_per_s, default=None)
        if best is not None:
            times = row["clips_per_s"] / best.clips_per_s
            ways[name] = {
                "title": WAYS[name].title,
                "stoker_clips_per_s": row["clips_per_s"],
                "torch": asdict(best),
                "times_faster": times,
            }
            if name in loops:
                speed = loops[name]["clips_per_s"]
                ways[name]["python_clips_per_s"] = speed
                ways[name]["python_share_of_command"] = speed / row["clips_per_s"]
                ways[name]["python_times_faster"] = speed / best.clips_per_s
    return ways


def make_report(options: argparse.Namespace, trials: list[Trial], rows: Rows, loops: Rows) -> dict[str, Any]:
    return {
        "date": datetime.date.today().isoformat(),
        "machine": processor(),
        "cores": len(os.sched_getaffinity(0)),
        "gpu": torch.cuda.get_device_name() if options.device != "cpu" else "none",
        "command": f"python3 -m bench.peers.gpu_feed --seconds {options.seconds:g}",
        "torch": torch.__version__,
        "batch_clips": BATCH_CLIPS,
        "ahead_batches": AHEAD_BATCHES,
        "ways": compared(trials, rows, loops),
        "trials": [asdict(trial) for trial in trials],
        "stoker": [row | {"detail": WAYS[name].title} for name, row in rows.items()],
    }


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--program", type=Path, required=True)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--npy", type=Path, help="folder for the .npy mels (default: beside the data)")
    parser.add_argument("--out", type=Path)
    parser.add_argument("--cores", type=int, help="cores for both sides (default: all)")
    parser.add_argument("--seconds", type=float, default=1.5, help="for each trial")
    parser.add_argument("--budget-s", type=float, default=90.0, help="no further trial is begun after this")
    parser.add_argument("--device", default="cuda", choices=("cuda", "cpu"))
    options = parser.parse_args()
    begun = time.perf_counter()
    cores = sorted(os.sched_getaffinity(0))[: options.cores]
    os.sched_setaffinity(0, cores)
    wavs = sorted((options.data / "wavs").glob("*.wav"))
    mels = {dtype: export_mels(options, dtype) for dtype in ("f32", "f16")}
    files = {name: mels[way.dtype] if way.source == "cached" else wavs for name, way in WAYS.items()}
    rows = {name: stoker_row(way, options) for name, way in WAYS.items()}
    loops = {name: row for name, way in WAYS.items() if (row := python_row(way, options)) is not None}
    trials: list[Trial] = []
    for setting in settings_of(len(cores)):
        spent = time.perf_counter() - begun
        if spent > options.budget_s:
            print(f"{spent:.0f} s spent: {setting} and what follows is left out", file=sys.stderr)
            break
        try:
            trials.append(run_trial(setting, files[setting.way], options.device, options.seconds))
            print(f"{spent:.0f} s", asdict(trials[-1]), file=sys.stderr, flush=True)
        except RuntimeError as fault:  # a DataLoader that lost a worker
            print(f"{setting}: {fault}", file=sys.stderr, flush=True)
        report = make_report(options, trials, rows, loops)
        if options.out:
            options.out.write_text(json.dumps(report, indent=1) + "\n", encoding="utf-8")
    print(json.dumps(make_report(options, trials, rows, loops), indent=1))
    return 0


if __name__ == "__main__":
    sys.exit(ended(main))
