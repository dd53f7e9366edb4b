"""torch DataLoader into GPU memory, tuned over workers and pinning, beside stoker: same data, cores, card and run.

python3 -m bench.peers.gpu_feed --program build/stoker --data FOLDER --out bench/results/gpu-feed-peers.json
"""

import argparse
import datetime
import json
import os
import statistics
import subprocess
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

BATCH_CLIPS = 64
WAV_HEADER_BYTES = 44
WARM_BATCHES = 20
LOST_BATCH_S = 15  # a worker that brings nothing for so long ends its trial
# The DataLoader's way beside the row of stoker that brings the same to the GPU: cached mels, mels made on the CPU,
# samples whose mel the GPU makes.
PATHS = {"cached": "cached", "files": "files", "pcm": "files"}


@dataclass
class Trial:
    path: str
    workers: int
    pinned: bool
    clips_per_s: float
    interval_cv: float
    p50_ms: float
    p99_ms: float


class Clips:
    """Clip number to what a worker hands over: a mel, or samples whose mel the GPU makes."""

    def __init__(self, path: str, files: list[Path]) -> None:
        self.path = path
        self.files = files
        self.mel = TorchMel()

    def __len__(self) -> int:
        return len(self.files)

    def __getitem__(self, number: int) -> torch.Tensor:
        if self.path == "cached":
            return torch.from_numpy(np.load(self.files[number]))
        samples = np.fromfile(self.files[number], dtype="<i2", offset=WAV_HEADER_BYTES)
        if self.path == "pcm":
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
    def __init__(self, path: str) -> None:
        self.padding = 0.0 if path == "pcm" else hifigan_mel.LOG_FLOOR

    def __call__(self, rows: list[torch.Tensor]) -> tuple[torch.Tensor, torch.Tensor]:
        padded = torch.nn.utils.rnn.pad_sequence(rows, batch_first=True, padding_value=self.padding)
        return padded, torch.tensor([len(row) for row in rows])


@dataclass
class Setting:
    path: str
    workers: int
    pinned: bool


def settings_of(cores: int) -> list[Setting]:
    """Every path once before any is tuned further, so that a short run still has them all."""
    counts = sorted({cores, max(1, cores // 2)}, reverse=True)
    choices = [(workers, pinned) for pinned in (True, False) for workers in counts]
    return [Setting(path, workers, pinned) for workers, pinned in choices for path in PATHS]


def make_loader(setting: Setting, files: list[Path], device: str) -> DataLoader[Any]:
    clips: Any = Clips(setting.path, files)  # torch asks for an index and a length, not for a base class
    sampler: Any = Endless(len(files))
    return DataLoader(
        clips,
        batch_size=BATCH_CLIPS,
        sampler=sampler,
        num_workers=setting.workers,
        collate_fn=Collate(setting.path),
        pin_memory=setting.pinned and device != "cpu",
        prefetch_factor=4,
        timeout=LOST_BATCH_S,
    )


def run_trial(setting: Setting, files: list[Path], device: str, seconds: float) -> Trial:
    torch.set_num_threads(1)
    make_mel = TorchMel(device) if setting.path == "pcm" else None
    batches = iter(make_loader(setting, files, device))
    intervals: list[float] = []
    last = time.perf_counter()
    taken = 0
    begun = 0.0
    while taken < WARM_BATCHES or last - begun < seconds:
        rows, lengths = next(batches)
        rows = rows.to(device, non_blocking=True)
        lengths.to(device, non_blocking=True)
        if make_mel is not None:
            make_mel(rows.float() / 32768.0).half()
        if device != "cpu":
            torch.cuda.current_stream().synchronize()
        now = time.perf_counter()
        taken += 1
        if taken == WARM_BATCHES:
            begun = now
        if taken > WARM_BATCHES:
            intervals.append(now - last)
        last = now
    mean = statistics.fmean(intervals)
    ordered = sorted(intervals)
    return Trial(
        setting.path,
        setting.workers,
        setting.pinned,
        BATCH_CLIPS / mean,
        statistics.pstdev(intervals) / mean,
        1e3 * ordered[len(ordered) // 2],
        1e3 * ordered[len(ordered) * 99 // 100],
    )


def stoker_rows(program: Path, data: Path, device: str, seconds: float) -> list[dict[str, Any]]:
    command = [str(program), "bench", "feed", "--data", str(data), "--device", device, "--json", "--repeat", "1"]
    command += ["--path", "cached,files", "--seconds", str(seconds)]
    command += ["--threads", str(len(os.sched_getaffinity(0)))]
    if device != "cpu":
        command += ["--mel-place", "gpu"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=300)
    if done.returncode != 0:
        sys.exit(f"stoker bench feed: {done.stderr.strip()}")
    rows: list[dict[str, Any]] = json.loads(done.stdout)["rows"]
    return rows


def export_mels(program: Path, data: Path, out: Path) -> list[Path]:
    if not out.exists():
        subprocess.run([str(program), "precompute", "--data", str(data)], check=True, capture_output=True)
        subprocess.run(
            [str(program), "cache", "export", "--data", str(data), "--out", str(out)], check=True, capture_output=True
        )
    return sorted(path for path in out.rglob("*.npy") if path.parent.name.startswith("mel"))


def processor() -> str:
    for line in Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines():
        if line.startswith("model name"):
            return line.partition(":")[2].strip()
    return "unknown processor"


def make_report(options: argparse.Namespace, trials: list[Trial], rows: list[dict[str, Any]]) -> dict[str, Any]:
    ours = {row["path"]: row for row in rows}
    best = {
        path: max((t for t in trials if t.path == path), key=lambda t: t.clips_per_s)
        for path in PATHS
        if any(t.path == path for t in trials)
    }
    return {
        "date": datetime.date.today().isoformat(),
        "machine": processor(),
        "cores": len(os.sched_getaffinity(0)),
        "gpu": torch.cuda.get_device_name() if options.device != "cpu" else "none",
        "torch": torch.__version__,
        "batch_clips": BATCH_CLIPS,
        "best": {path: asdict(trial) for path, trial in best.items()},
        "trials": [asdict(trial) for trial in trials],
        "stoker": rows,
        "times_faster": {path: ours[PATHS[path]]["clips_per_s"] / trial.clips_per_s for path, trial in best.items()},
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--program", type=Path, required=True)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--npy", type=Path, help="folder for the .npy mels (default: beside the data)")
    parser.add_argument("--out", type=Path)
    parser.add_argument("--cores", type=int, help="cores for both sides (default: all)")
    parser.add_argument("--seconds", type=float, default=1.5, help="for each trial")
    parser.add_argument("--budget-s", type=float, default=50.0, help="no further trial is begun after this")
    parser.add_argument("--device", default="cuda", choices=("cuda", "cpu"))
    options = parser.parse_args()
    begun = time.perf_counter()
    cores = sorted(os.sched_getaffinity(0))[: options.cores]
    os.sched_setaffinity(0, cores)
    mels = export_mels(options.program, options.data, options.npy or options.data.with_name(options.data.name + "-npy"))
    wavs = sorted((options.data / "wavs").glob("*.wav"))
    rows = stoker_rows(options.program, options.data, options.device, options.seconds)
    trials: list[Trial] = []
    for setting in settings_of(len(cores)):
        spent = time.perf_counter() - begun
        if spent > options.budget_s:
            print(f"{spent:.0f} s spent: {setting} and what follows is left out", file=sys.stderr)
            break
        try:
            trials.append(
                run_trial(setting, mels if setting.path == "cached" else wavs, options.device, options.seconds)
            )
            print(f"{spent:.0f} s", asdict(trials[-1]), file=sys.stderr, flush=True)
        except RuntimeError as fault:  # a DataLoader that lost a worker
            print(f"{setting}: {fault}", file=sys.stderr, flush=True)
        report = make_report(options, trials, rows)
        if options.out:
            options.out.write_text(json.dumps(report, indent=1) + "\n", encoding="utf-8")
    print(json.dumps(make_report(options, trials, rows), indent=1))


if __name__ == "__main__":
    main()
