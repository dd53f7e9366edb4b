#!/usr/bin/env python3
"""Does fp16, whose largest number is 65,504, learn over thousands of steps as bf16 does?

    python3 -m bench.train.half_precision --stoker build/stoker --out FOLDER [--steps 2000] [--keep-json F]

Trains the same run in both. Bars: every step was made, no loss is anything but a number, few steps were left out for
an overflow (the scale of the losses is found by them), and fp16 ends at most a tenth above bf16.
"""

from __future__ import annotations

import argparse
import json
import math
import sys
from pathlib import Path

from bench.program import ended, run_stoker
from bench.record import Bars, Json, finish

MOST_SKIPPED, MOST_ABOVE = 0.02, 1.1
CLIPS, SPEAKERS = 400, 4
LAST_STEPS = 100


def steps_of(run: Path) -> list[Json]:
    """What the run wrote of each of its steps."""
    lines = (run / "metrics.jsonl").read_text(encoding="utf-8").splitlines()
    return [row for row in map(json.loads, lines) if "flow" in row]


def train(asked: argparse.Namespace, precision: str) -> Json:
    run = asked.out / precision
    words = ["--data", str(asked.out / "data"), "--checkpoint-dir", str(run), "--model-size", asked.model_size]
    words += ["--precision", precision, "--steps", str(asked.steps), "--epochs", "1000000", "--device", asked.device]
    words += ["--batch-frames", "8000", "--log-step", "1", "--save-step", "1000000", "--val-step", "1000000"]
    report = run_stoker(asked.stoker, "train", *words)
    steps = steps_of(run)
    flows = [float(row["flow"]) if row["flow"] is not None else math.nan for row in steps if not row.get("skipped")]
    last = flows[-LAST_STEPS:]
    return {
        "precision": precision,
        "steps": report["steps"],
        "seconds": report["seconds"],
        "graphs": report.get("graphs"),
        "skipped": sum(bool(row.get("skipped")) for row in steps) / max(1, len(steps)),
        "no_numbers": sum(not math.isfinite(flow) for flow in flows),
        "flow_first": flows[0] if flows else math.nan,
        "flow_last": sum(last) / max(1, len(last)),
    }


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--stoker", type=Path, default=Path("build/stoker"))
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--steps", type=int, default=2000)
    parser.add_argument("--model-size", default="small")
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--keep-json", type=Path)
    asked = parser.parse_args()
    if not (asked.out / "data" / "metadata.csv").exists():
        words = ["--out", str(asked.out / "data"), "--clips", str(CLIPS), "--speakers", str(SPEAKERS)]
        run_stoker(asked.stoker, "data", "make", *words)
    fp16, bf16 = train(asked, "fp16"), train(asked, "bf16")
    bars = Bars()
    bars.at_least("fp16: steps", fp16["steps"], asked.steps)
    bars.at_most("fp16: losses that are no numbers", fp16["no_numbers"], 0)
    bars.at_most("fp16: share of steps left out", fp16["skipped"], MOST_SKIPPED)
    bars.at_most("fp16: last flow loss, of bf16's", fp16["flow_last"] / bf16["flow_last"], MOST_ABOVE)
    return finish("train-half-precision", {"rows": [fp16, bf16]}, bars, asked.keep_json)


if __name__ == "__main__":
    sys.exit(ended(main))
