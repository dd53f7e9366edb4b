"""Runs the program for the trainer's end-to-end tests, on a small data set and a model that is made in a moment."""

from __future__ import annotations

import json
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from feed_run import Stoker, expect

TIME_LIMIT_S = 100
# Small batches and no waiting for a buffer.
QUICK = ("--device=cpu", "--model-size=tiny", "--batch-size=4", "--model-start-delay=0", "--num-workers=1")


@dataclass
class Ended:
    """How a run of the program ended."""

    code: int
    out: str
    err: str

    @property
    def report(self) -> dict[str, Any]:
        """The one JSON object on stdout."""
        report: dict[str, Any] = json.loads(self.out)
        return report


def run(stoker: Stoker, *arguments: str) -> Ended:
    command = [str(stoker.program), *arguments]
    done = subprocess.run(command, cwd=stoker.folder, capture_output=True, text=True, timeout=TIME_LIMIT_S, check=False)
    return Ended(done.returncode, done.stdout, done.stderr)


def has_trainer(stoker: Stoker) -> bool:
    """Whether this build has libtorch."""
    return "absent" not in run(stoker, "--version", "--verbose").out


def train(stoker: Stoker, folder: str, *arguments: str) -> Ended:
    return run(stoker, "train", "--train-data", str(stoker.data), "--checkpoint-dir", folder, *QUICK, *arguments)


def trained(stoker: Stoker, folder: str, *arguments: str) -> dict[str, Any]:
    """A run that must succeed: its report."""
    ended = train(stoker, folder, "--json", *arguments)
    expect(ended.code == 0, f"train {' '.join(arguments)}: exit {ended.code}\n{ended.err}")
    return ended.report


def differing_files(one: Path, other: Path) -> list[str]:
    """The tensor files of two checkpoints that do not have the same bytes."""
    names = [f"{name}.safetensors" for name in ("model", "ema", "optimizer")]
    return [name for name in names if (one / name).read_bytes() != (other / name).read_bytes()]


def newest_checkpoint(folder: Path) -> Path:
    return sorted((folder / "checkpoints").glob("step-*"))[-1]
