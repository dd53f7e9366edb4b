#!/usr/bin/env python3
"""How fast does the trainer train beside PyTorch, on the same card and in the same run?

    python3 -m bench.train.speed --stoker build/stoker [--seconds 20] [--keep-json F]

Runs `stoker bench train` (the native loader, cached mels of LJSpeech's lengths) for `normal` and `tiny`, then the
same model in every mode of PyTorch with its batches in the card's memory, each for as long: a card slows down when it
gets warm. Compared are true frames a second: padding does not count. The best mode is that of any batch size; eager
PyTorch is held against at 32 rows, which is what people run, and its rate at our batch is told beside it. Keeps
bench/results/train-speed.json; exit 1 when a bar is missed or a mode failed.
"""

from __future__ import annotations

import argparse
import shlex
import sys
from pathlib import Path

from bench.peers import train_torch
from bench.program import ended, run_stoker
from bench.record import Bars, Json, finish

SIZES = ("normal", "tiny")
LEAST_FRAMES = {"normal": 1.0e6, "tiny": 3.0e6}
LEAST_AGAINST_BEST, LEAST_AGAINST_EAGER = 1.1, 5.0
USUAL_EAGER = "eager, 32 rows"


def trainer_row(report: Json) -> Json:
    """The native loader's row of `stoker bench train`."""
    rows = [row for row in report["rows"] if row["loader"] == "native"]
    if len(rows) != 1:
        raise RuntimeError(f"expected one row of the native loader, found {len(rows)}")
    return dict(rows[0])


def true_frames_per_s(row: Json) -> float:
    return float(row["true_frames_per_s"] if "true_frames_per_s" in row else row["frames_per_s"])


def measure_trainer(asked: argparse.Namespace, size: str) -> Json:
    words = ["bench", "train", "--loader", "native", "--model-size", size, "--seconds", str(asked.seconds)]
    words += ["--device", asked.device, "--batch-frames", str(asked.batch_frames)]
    words += ["--data", str(asked.data)] if asked.data else []
    return trainer_row(run_stoker(asked.stoker, *words, *asked.words))


def measure_peers(asked: argparse.Namespace) -> Json:
    words = ["--size", *asked.peer_sizes, "--batch-frames", str(asked.batch_frames), "--device", asked.device]
    words += ["--seconds", str(asked.seconds), "--batch-size", *(str(n) for n in asked.batch_size)]
    words += ["--modes", *asked.modes] if asked.modes else []
    report = train_torch.race(train_torch.parse(words))
    print(train_torch.table(report), file=sys.stderr)
    return report


def peers_of(peers: Json, size: str) -> dict[str, float]:
    """True frames a second of each mode and batch."""
    rows = [row for row in peers["rows"] if row["size"] == size]
    return {f"{row['mode']}, {row['batch']}": row["true_frames_per_s"] for row in rows}


def judge(trained: dict[str, float], peers: Json) -> tuple[Bars, Json]:
    """Bars, and of every size the ratios. A mode that failed counts as missed: it might have been the best."""
    bars = Bars()
    ratios: Json = {}
    for size, speed in trained.items():
        bars.at_least(f"{size}: true frames/s", speed, LEAST_FRAMES[size])
        modes = peers_of(peers, size)
        ratios[size] = {mode: speed / other for mode, other in modes.items()}
        if size != "normal":
            continue
        bars.at_least("normal: beside the best mode of PyTorch", speed / max(modes.values()), LEAST_AGAINST_BEST)
        bars.at_least("normal: beside eager PyTorch", speed / modes[USUAL_EAGER], LEAST_AGAINST_EAGER)
    bars.at_most("modes of PyTorch that failed", len(peers["failures"]), 0)
    return bars, ratios


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--stoker", type=Path, default=Path("build/stoker"))
    parser.add_argument("--data", type=Path, help="data set; by default the program makes its own")
    parser.add_argument("--seconds", type=float, default=20.0)
    parser.add_argument("--batch-frames", type=int, default=40000)
    parser.add_argument("--batch-size", type=int, nargs="*", default=[32], help="of the peers besides")
    parser.add_argument("--peer-sizes", nargs="+", default=list(SIZES))
    parser.add_argument("--modes", nargs="*", default=[], help="of the peers; all by default")
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--keep-json", type=Path)
    parser.add_argument(
        "--words", type=shlex.split, default=[], help="further words for `stoker bench train`, as one string"
    )
    asked = parser.parse_args()
    rows = {size: measure_trainer(asked, size) for size in SIZES}
    peers = measure_peers(asked)
    trained = {size: true_frames_per_s(row) for size, row in rows.items()}
    bars, ratios = judge(trained, peers)
    figures = {"trainer": rows, "true_frames_per_s": trained, "ratios": ratios, "peers": peers}
    return finish("train-speed", figures, bars, asked.keep_json)


if __name__ == "__main__":
    sys.exit(ended(main))
