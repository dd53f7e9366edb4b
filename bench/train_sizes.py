#!/usr/bin/env python3
"""Measures what each model size costs: parameters, memory of the process and time of a step.

    bench/train_sizes.py --build build [--device cpu] [--steps 6] [--batch-frames 4000] [sizes …]

All sizes train on the same batches of the built-in voice. The first steps of a process warm up and the median leaves
them out. The result is kept in bench/results/train-sizes.json; `python3 -m tools.make_pages` puts it on the pages.
"""

import argparse
import datetime
import json
import os
import shlex
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from bench.program import RunFailed, ended, last_words, run_stoker
from bench.record import RESULTS, ROOT, processor

SIZES = ("tiny", "small", "normal", "big")
NUM_WARM_STEPS = 2


def run_with_peak(command: list[str], log: Path) -> tuple[str, float]:
    """What the command prints, and the most memory that it held, in MiB."""
    with log.open("w") as errors:
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=errors, text=True)
        if process.stdout is None:
            raise RuntimeError("no pipe to the program")
        out = process.stdout.read()
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        raise RunFailed(f"{shlex.join(command)} ended with {process.returncode}: {last_words(log.read_text())}")
    return out, usage.ru_maxrss / 1024


def step_times_ms(run: Path) -> list[float]:
    """Compute time of each step, from the run's metrics."""
    lines = [json.loads(line) for line in (run / "metrics.jsonl").read_text().splitlines()]
    return [line["compute_ms"] for line in lines if "compute_ms" in line]


def measure(program: str, size: str, data: Path, folder: Path, options: argparse.Namespace) -> dict[str, Any]:
    run = folder / size
    command = [program, "train", "--data", str(data), "--checkpoint-dir", str(run), "--model-size", size, "--json"]
    command += ["--device", options.device, "--steps", str(options.steps + NUM_WARM_STEPS), "--log-step", "1"]
    command += ["--batch-frames", str(options.batch_frames), "--model-start-delay", "0", "--save-step", "1000000"]
    out, peak_mib = run_with_peak(command, folder / f"{size}.log")
    report = json.loads(out)
    times = step_times_ms(run)[NUM_WARM_STEPS:] or [report["compute_ms"]]
    row = {
        "size": size,
        "parameters": report["parameters"],
        "peak_rss_mib": round(peak_mib),
        "step_ms": round(statistics.median(times), 1),
        "gpu_memory_mib": report.get("gpu_memory_mib"),
    }
    print(f"{size}: {row['parameters']:,} parameters, {row['peak_rss_mib']} MiB, {row['step_ms']} ms a step")
    return row


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=Path, default=ROOT / "build")
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--steps", type=int, default=6)
    parser.add_argument("--batch-frames", type=int, default=4000)
    parser.add_argument("sizes", nargs="*", default=SIZES)
    options = parser.parse_args()
    program = str((options.build / "stoker").resolve())
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        data = folder / "data"
        run_stoker(program, "data", "make", "--out", str(data), "--clips", "120", tells=False)
        rows = [measure(program, size, data, folder, options) for size in options.sizes]
    record = {
        "date": datetime.date.today().isoformat(),
        "machine": processor(),
        "cores": len(os.sched_getaffinity(0)),
        "device": options.device,
        "batch_frames": options.batch_frames,
        "command": f"bench/train_sizes.py --device {options.device} --batch-frames {options.batch_frames}",
        "rows": rows,
    }
    name = "train-sizes.json" if options.device == "cpu" else "gpu-train-sizes.json"
    (RESULTS / name).write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(ended(main))
