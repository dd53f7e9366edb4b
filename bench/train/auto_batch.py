#!/usr/bin/env python3
"""Does --batch-frames auto find the largest batch that fits, and does it keep fitting?

    python3 -m bench.train.auto_batch --stoker build/stoker --out FOLDER [--fraction 0.9] [--steps 200] [--keep-json F]

Trains each size in each precision for some steps on utterances of LJSpeech's lengths, over at least two epochs, so
that every shape is met twice. The memory of the card is read from outside, by the driver's own tool, ten times a
second; the card must be free of other work. Bars of every run: it ends well (out of memory is an error of its own),
and its most is at least 85 % of what --max-memory-fraction allows, and no more than that. A smaller --fraction
proves the same in less time: batches are as large as memory allows, and so are steps. Larger models have smaller
batches, so they get fewer utterances.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import threading
from pathlib import Path

from bench.program import RunFailed, completed, ended, last_words, run_stoker
from bench.record import Bars, Json, finish

SIZES, PRECISIONS = ("tiny", "small", "normal"), ("bf16", "tf32")
LEAST_SHARE, MOST_SHARE = 0.85, 1.0
LEAST_EPOCHS = 2
NUM_CLIPS = {"tiny": 13_100, "small": 5_000, "normal": 3_000}
SAMPLE_MS = 100
MIB = 2**20


class MemoryWatch:
    """The most memory that was in use on the card while it was watched, in bytes, and all there is."""

    def __init__(self) -> None:
        words = ["nvidia-smi", "--id=0", "--query-gpu=memory.used,memory.total", "--format=csv,noheader,nounits"]
        once = completed(words)
        if once.returncode != 0:
            raise RunFailed(f"nvidia-smi tells nothing of the card's memory: {last_words(once.stderr or once.stdout)}")
        self.idle_bytes, self.total_bytes = self._parse(once.stdout)
        self.peak_bytes = self.idle_bytes
        self._tool = subprocess.Popen(
            [*words, f"--loop-ms={SAMPLE_MS}"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
        )
        self._thread = threading.Thread(target=self._read)
        self._thread.start()

    @staticmethod
    def _parse(line: str) -> tuple[int, int]:
        used, total = (int(value) for value in line.strip().splitlines()[0].split(","))
        return used * MIB, total * MIB

    def _read(self) -> None:
        assert self._tool.stdout is not None
        for line in self._tool.stdout:
            self.peak_bytes = max(self.peak_bytes, self._parse(line)[0])

    def stop(self) -> None:
        self._tool.kill()
        self._tool.wait()
        self._thread.join()


def data_of(asked: argparse.Namespace, size: str) -> Path:
    """The folder, which is made when it is not there."""
    clips = asked.clips or NUM_CLIPS[size]
    folder: Path = asked.out / f"data-{clips}"
    if not (folder / "metadata.csv").exists():
        words = ["--out", str(folder), "--clips", str(clips), "--lengths", "ljspeech"]
        run_stoker(asked.stoker, "data", "make", *words)
    return folder


def train(asked: argparse.Namespace, size: str, precision: str) -> Json:
    """One row: what the run reports, and what the card held."""
    run = asked.out / f"{size}-{precision}"
    words = ["--data", str(data_of(asked, size)), "--checkpoint-dir", str(run), "--model-size", size]
    words += ["--precision", precision, "--batch-frames", "auto", "--max-memory-fraction", str(asked.fraction)]
    words += ["--steps", str(asked.steps), "--device", asked.device, "--save-step", "1000000", "--val-step", "1000000"]
    watch = MemoryWatch()
    row: Json = {"size": size, "precision": precision}
    try:
        report = run_stoker(asked.stoker, "train", *words, limit_s=asked.limit_s)
        kept = ("steps", "epochs", "seconds", "frames_per_s", "batch_frames", "sizing", "graphs", "fallbacks")
        row |= {"ended_well": True, **{key: report[key] for key in kept if key in report}}
    except RunFailed as error:
        row |= {"ended_well": False, "why": str(error)}
    finally:
        watch.stop()
    allowed = asked.fraction * watch.total_bytes
    row |= {"idle_bytes": watch.idle_bytes, "peak_bytes": watch.peak_bytes, "allowed_bytes": allowed}
    return {**row, "share": watch.peak_bytes / allowed}


def judge(rows: list[Json], asked: argparse.Namespace) -> Bars:
    bars = Bars()
    for row in rows:
        name = f"{row['size']} {row['precision']}"
        bars.at_least(f"{name}: ended well", float(row["ended_well"]), 1)
        bars.at_least(f"{name}: steps", row.get("steps", 0), asked.steps)
        bars.at_least(f"{name}: epochs", row.get("epochs", 0), LEAST_EPOCHS)
        bars.at_least(f"{name}: share of the allowed memory", row["share"], LEAST_SHARE)
        bars.at_most(f"{name}: share of the allowed memory", row["share"], MOST_SHARE)
    return bars


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--stoker", type=Path, default=Path("build/stoker"))
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--sizes", nargs="+", default=list(SIZES))
    parser.add_argument("--precisions", nargs="+", default=list(PRECISIONS))
    parser.add_argument("--fraction", type=float, default=0.9)
    parser.add_argument("--steps", type=int, default=200)
    parser.add_argument("--clips", type=int, help=f"of each size (default {NUM_CLIPS})")
    parser.add_argument("--limit-s", type=float, default=400.0, help="of one run")
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--keep-json", type=Path)
    asked = parser.parse_args()
    rows = [train(asked, size, precision) for size in asked.sizes for precision in asked.precisions]
    return finish("train-auto-batch", {"fraction": asked.fraction, "rows": rows}, judge(rows, asked), asked.keep_json)


if __name__ == "__main__":
    sys.exit(ended(main))
