#!/usr/bin/env python3
"""How fast PyTorch trains the trainer's model on this card, in every mode that its users have.

    python3 -m bench.peers.train_torch [--size normal] [--batch-frames 40000] [--batch-size 32] [--modes …] [--json]

The same model, losses and step (clipping, AdamW, average of the weights) as the trainer's; its batches are in the
card's memory already. All modes compile side by side, then each is measured alone for --seconds. First losses must
agree with those of the eager mode, or a mode is not counted. Prints a table, and with --json one JSON object on stdout.
"""

from __future__ import annotations

import argparse
import datetime
import json
import os
import subprocess
import sys
import tempfile
import threading
import time
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from bench.peers.train_batches import BatchSize

ROOT = Path(__file__).resolve().parent.parent.parent
Json = dict[str, Any]
MEASURE_LIMIT_S = 45.0  # beside the measured time: warm-up and capture
LOSS_TOLERANCE = 0.03  # dropout draws other numbers in a compiled model, and bf16 rounds


@dataclass(frozen=True)
class Mode:
    name: str
    stage: str  # plain or graph
    is_compiled: bool = False
    attention: str = "mask"
    weights: str = "fp32"  # under autocast, or bf16 with float32 masters


MODES = (
    Mode("eager", "plain"),
    Mode("eager graph", "graph"),
    Mode("compile", "plain", is_compiled=True),
    Mode("compile graph", "graph", is_compiled=True),
    Mode("compile graph bf16 varlen", "graph", is_compiled=True, attention="varlen", weights="bf16"),
    Mode("compile graph bf16 cudnn", "graph", is_compiled=True, attention="cudnn", weights="bf16"),
    Mode("compile graph bf16 mask", "graph", is_compiled=True, weights="bf16"),
)


@dataclass
class Worker:
    """Modes that share a model, in a process of their own."""

    size: str
    batch: BatchSize
    modes: list[Mode]
    process: subprocess.Popen[str]
    log: IO[str]
    ready: Json | None = None

    def fail(self, why: str) -> str:
        self.process.kill()
        self.log.flush()
        said = Path(self.log.name).read_text(encoding="utf-8").strip().splitlines()
        return f"{why}: {said[-1] if said else 'nothing was said'}"[:400]

    def read(self, word: str, limit_s: float) -> Json:
        """The next line that begins with the word; RuntimeError where the process ends before, or is too slow."""
        out = self.process.stdout
        assert out is not None
        end = threading.Timer(limit_s, self.process.kill)
        end.start()
        try:
            for line in out:
                kind, _, values = line.partition(" ")
                if kind == word:
                    return dict(json.loads(values))
        finally:
            end.cancel()
        raise RuntimeError(self.fail(f"ended, or was ended after {limit_s:.0f} s, before it said {word}"))


def start(asked: argparse.Namespace, size: str, batch: BatchSize, modes: list[Mode]) -> Worker:
    words = [sys.executable, "-m", "bench.peers.train_worker", "--device", asked.device, "--size", size]
    words += ["--attention", modes[0].attention, "--weights", modes[0].weights, "--seconds", str(asked.seconds)]
    words += ["--frames", str(batch.frames), "--rows", str(batch.rows), "--stages", ",".join(m.stage for m in modes)]
    words += ["--compiled"] if modes[0].is_compiled else []
    environment = {"TORCHINDUCTOR_COMPILE_THREADS": "4", "OMP_NUM_THREADS": "2", **os.environ}
    log = tempfile.NamedTemporaryFile("w+", suffix=".log", prefix="train-worker-")  # noqa: SIM115
    process = subprocess.Popen(
        words, cwd=ROOT, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log, text=True
    )
    return Worker(size, batch, modes, process, log)


def start_all(asked: argparse.Namespace) -> list[Worker]:
    chosen = [mode for mode in MODES if not asked.modes or mode.name in asked.modes]
    groups: dict[tuple[bool, str, str], list[Mode]] = {}
    for mode in chosen:
        groups.setdefault((mode.is_compiled, mode.attention, mode.weights), []).append(mode)
    batches = [BatchSize(frames=n) for n in asked.batch_frames] + [BatchSize(rows=n) for n in asked.batch_size]
    return [start(asked, size, batch, modes) for size in asked.size for batch in batches for modes in groups.values()]


def run_worker(worker: Worker, seconds: float) -> tuple[list[Json], float | None]:
    """Figures of its modes, and the card's peak."""
    pipe = worker.process.stdin
    assert pipe is not None and worker.ready is not None
    pipe.write("measure\n")
    pipe.flush()
    peak = worker.read("PEAK", MEASURE_LIMIT_S)["flops_per_s"]
    rows = []
    for mode in worker.modes:
        figures = worker.read("RESULT", seconds + MEASURE_LIMIT_S)
        row = {"mode": mode.name, "size": worker.size, "batch": worker.batch.name(), **figures, **worker.ready}
        rows.append({**row, "compile_s": worker.ready["first_step_s"] if mode.is_compiled else None})
    worker.process.wait(timeout=MEASURE_LIMIT_S)
    return rows, peak


def agree(row: Json, eager: Json) -> bool:
    pairs = zip(row["first_losses"], eager["first_losses"], strict=True)
    return all(abs(a - b) <= LOSS_TOLERANCE * abs(b) for a, b in pairs)


def check_losses(rows: list[Json], failures: list[Json]) -> list[Json]:
    """Rows whose first losses are those of the eager mode; others become failures."""
    kept = []
    for row in rows:
        alike = (r for r in rows if (r["mode"], r["size"], r["batch"]) == ("eager", row["size"], row["batch"]))
        eager = next(alike, None)
        row["losses_agree"] = None if eager is None else agree(row, eager)
        if eager is None or row["losses_agree"]:
            kept.append(row)
            continue
        why = f"expected first losses of about {eager['first_losses']}, found {row['first_losses']}"
        failures.append({key: row[key] for key in ("mode", "size", "batch")} | {"why": why})
    return kept


def race(asked: argparse.Namespace) -> Json:
    began = time.monotonic()
    workers = start_all(asked)
    rows: list[Json] = []
    failures: list[Json] = []
    peaks: list[float] = []

    def missed(worker: Worker, why: str) -> None:
        for mode in worker.modes:
            failures.append({"mode": mode.name, "size": worker.size, "batch": worker.batch.name(), "why": why})

    try:
        for worker in workers:
            try:
                worker.ready = worker.read("READY", max(0.1, began + asked.prepare_limit - time.monotonic()))
                names = ", ".join(mode.name for mode in worker.modes)
                print(f"{worker.size} {worker.batch.name()}: {names} ready", file=sys.stderr)
            except RuntimeError as error:
                missed(worker, str(error))
        compiled_s = time.monotonic() - began
        for worker in workers:
            if worker.ready is None:
                continue
            try:
                found, peak = run_worker(worker, asked.seconds)
                rows += found
                peaks += [peak] if peak else []
            except RuntimeError as error:
                missed(worker, str(error))
    finally:
        for worker in workers:
            worker.process.kill()
            worker.process.wait()
            worker.log.close()
    peak = max(peaks, default=None)
    for row in rows:
        row["share_of_peak"] = row["flops_per_s"] / peak if peak else None
    kept = check_losses(rows, failures)
    return {"rows": kept, "failures": failures, "peak_flops_per_s": peak, "prepare_s": compiled_s}


def table(report: Json) -> str:
    head = f"{'size':<7}{'batch':<14}{'mode':<28}{'ms':>8}{'padded/s':>12}{'true/s':>12}{'peak':>7}{'compile s':>10}"
    lines = [head]
    for row in report["rows"]:
        share = f"{row['share_of_peak']:.1%}" if row["share_of_peak"] else "–"
        compile_s = f"{row['compile_s']:.0f}" if row["compile_s"] else "–"
        line = (
            f"{row['size']:<7}{row['batch']:<14}{row['mode']:<28}{row['ms']:>8.2f}{row['padded_frames_per_s']:>12,.0f}"
        )
        lines.append(f"{line}{row['true_frames_per_s']:>12,.0f}{share:>7}{compile_s:>10}")
    lines += [f"FAILED {f['size']} {f['batch']} {f['mode']}: {f['why']}" for f in report["failures"]]
    return "\n".join(lines)


def parse(words: list[str] | None = None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--size", nargs="+", default=["normal"])
    parser.add_argument("--batch-frames", type=int, nargs="*", default=[40000])
    parser.add_argument("--batch-size", type=int, nargs="*", default=[])
    parser.add_argument("--modes", nargs="*", choices=[mode.name for mode in MODES], default=[], help="all by default")
    parser.add_argument("--seconds", type=float, default=4.0, help="measured in each mode")
    parser.add_argument(
        "--prepare-limit", type=float, default=240.0, help="seconds until a mode that compiles is given up"
    )
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--json", action="store_true")
    return parser.parse_args(words)


def device_name(device: str) -> str:
    import torch

    return torch.cuda.get_device_name() if device.startswith("cuda") else "CPU"


def main() -> int:
    asked = parse()
    report = race(asked)
    import torch

    report = {
        "date": datetime.date.today().isoformat(),
        "machine": device_name(asked.device),
        "torch": torch.__version__,
        "command": " ".join(["python3 -m bench.peers.train_torch", *sys.argv[1:]]),
        **report,
    }
    print(table(report), file=sys.stderr)
    if asked.json:
        print(json.dumps(report, indent=1))
    return 1 if report["failures"] or not report["rows"] else 0


if __name__ == "__main__":
    sys.exit(main())
