"""What every peer has in common: its command line, how it is timed, checked and tried, and the JSON line it prints.

A peer is a program of its own in an environment of its own, so that no library can get into another's way:

    python -m bench.peers.torch_peer race --clips clips.json --path files --setting processes=2 --seconds 3

It brings one function that opens its loader and one that stops and resumes it; the rest is here.
"""

import argparse
import collections
import hashlib
import json
import logging
import os
import re
import shutil
import statistics
import sys
import time
import traceback
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bench.peers import process_tree
from bench.peers.pacing import SHARE, paced

BATCH_CLIPS = 32
WARM_UP_BATCHES = 6
LEAST_BATCHES = 12
PATIENCE = 3  # times the asked seconds, for peers too slow for that many batches
CHECKED_ROWS = 8
RESUME_BATCHES = 6
MOST_SAID = 400


class Clip(NamedTuple):
    """One utterance: the sound, the mel that stoker exported for it, and what the mel should be."""

    wav: str
    npy: str
    reference: str
    frames: int


class Batch(NamedTuple):
    """What a model would be given: [clips, frames, bands], padded, and the true lengths."""

    mel: NDArray[np.float32]
    frames: NDArray[np.int64]


@dataclass(frozen=True)
class Task:
    """What a loader is to be opened for."""

    clips: list[Clip]
    path: str  # cached: from .npy files; files: from .wav files
    setting: dict[str, int]
    endless: bool = True
    shuffle: bool = True
    seed: int = 1
    packed: Path = Path()  # the clips as the peer packed them; only for peers that pack

    def sources(self) -> list[str]:
        return [clip.npy if self.path == "cached" else clip.wav for clip in self.clips]


class Tolerance(NamedTuple):
    """How far a peer's mel may be from stoker's: edge frames left out, quietest value compared, largest difference."""

    edge_frames: int = 0
    quietest: float = -20.0
    largest: float = 5e-3


SAME_RECIPE = Tolerance()


class CannotError(Exception):
    """Something that a library has no means for; the message says what is missing."""


class Resumed(NamedTuple):
    """A loader that went on from a saved state, and the size of that state."""

    batches: Iterator[Batch]
    state_bytes: int


def numbered(batches: Any) -> Iterator[Batch]:
    """Pairs of tensors that have numpy(), as torch and TensorFlow have them."""
    for mel, frames in batches:
        yield Batch(mel.numpy(), frames.numpy())


def hand_over(open_loader: Callable[[dict[str, int]], Any], task: Task, other: dict[str, int]) -> tuple[Any, Any]:
    """A loader stopped after a few batches, and another one that got its state: the second, and that state."""
    stopped = open_loader(task.setting)
    batches = iter(stopped)
    for _ in range(RESUME_BATCHES):
        next(batches)
    state = stopped.state_dict()
    resumed = open_loader(other)
    resumed.load_state_dict(state)
    return resumed, state


@dataclass(frozen=True)
class Peer:
    """One library under test."""

    version: str
    open_loader: Callable[[Task], Iterator[Batch]]
    # Consumes RESUME_BATCHES batches, saves the state, and opens a loader with the other setting from it.
    resume: Callable[[Task, dict[str, int]], Resumed]
    tolerance: Tolerance = SAME_RECIPE
    gist: str = r"(.*)"  # finds in its messages what a user is told
    # Writes the clips into an empty folder in the library's own format; done once, before anything is timed.
    pack: Callable[[Task, Path], None] | None = None


def touch(batch: Batch) -> float:
    """Reads one value of every row, as the consumer of `stoker bench feed` does."""
    return float(batch.mel[:, 0, 0].sum())


def row_matches(mel: NDArray[np.float32], clip: Clip, tolerance: Tolerance) -> bool:
    reference = np.load(clip.reference)
    inner = slice(tolerance.edge_frames, clip.frames - tolerance.edge_frames)
    wanted, found = reference[inner], mel[inner]
    loud = wanted > tolerance.quietest
    return bool(np.abs(np.where(loud, found - wanted, 0.0)).max() <= tolerance.largest)


def find_clip(mel: NDArray[np.float32], task: Task, tolerance: Tolerance) -> int | None:
    """Which clip a delivered row is, recognised by its content alone."""
    for number, clip in enumerate(task.clips):
        if clip.frames == len(mel) and row_matches(mel, clip, tolerance):
            return number
    return None


def check(batch: Batch, task: Task, tolerance: Tolerance) -> None:
    """Stops before any number is printed if the mels are not those of stoker."""
    if batch.mel.dtype != np.float32 or batch.mel.ndim != 3 or batch.mel.shape[2] != 80:
        sys.exit(f"wrong batch: {batch.mel.dtype} {batch.mel.shape}")
    # A loader with a fixed set of shapes pads further than its longest row; that counts as padding.
    if len(batch.mel) != BATCH_CLIPS or batch.mel.shape[1] < int(batch.frames.max()):
        sys.exit(f"wrong shape: {batch.mel.shape}, longest row {batch.frames.max()}")
    for row in range(CHECKED_ROWS):
        if find_clip(batch.mel[row, : batch.frames[row]], task, tolerance) is None:
            sys.exit(f"row {row} with {batch.frames[row]} frames equals no clip's mel: nothing is timed")


def race(peer: Peer, task: Task, seconds: float) -> dict[str, Any]:
    """Opens the loader, checks a batch, takes batches as fast as they come, then at nine tenths of that rate."""
    begin = time.perf_counter()
    batches = peer.open_loader(task)
    first = next(batches)
    touch(first)
    first_batch_s, from_start_s = time.perf_counter() - begin, process_tree.age_s()
    check(first, task, peer.tolerance)
    for _ in range(WARM_UP_BATCHES):
        touch(next(batches))
    cpu_begin, times = process_tree.cpu_s(), [time.perf_counter()]
    clips = padded = real = 0
    while (past_s := times[-1] - times[0]) < PATIENCE * seconds and (past_s < seconds or len(times) <= LEAST_BATCHES):
        batch = next(batches)
        touch(batch)
        times.append(time.perf_counter())
        clips += len(batch.frames)
        real += int(batch.frames.sum())
        padded += batch.mel.shape[0] * batch.mel.shape[1]
    cpu_s, wall_s = process_tree.cpu_s() - cpu_begin, times[-1] - times[0]
    intervals = np.diff(times)
    memory_mb = process_tree.memory_mb()
    return paced(batches, touch, wall_s / len(intervals) / SHARE, seconds) | {
        "clips_per_s": clips / wall_s,
        "cpu_s_per_1000_clips": 1000.0 * cpu_s / clips,
        "interval_cv": statistics.pstdev(intervals) / statistics.fmean(intervals),
        "p50_ms": 1e3 * float(np.percentile(intervals, 50)),
        "p99_ms": 1e3 * float(np.percentile(intervals, 99)),
        "first_batch_s": first_batch_s,
        "first_batch_from_start_s": from_start_s,
        "memory_mb": memory_mb,
        "padding_share": 1.0 - real / padded,
        "batches": len(intervals),
    }


def packed(peer: Peer, task: Task, folder: Path) -> Task:
    """The task with its clips in the library's own format; a folder is there only when it is whole."""
    if peer.pack is None:
        return task
    if not folder.exists():
        began = folder.with_name(f"{folder.name}.began")
        shutil.rmtree(began, ignore_errors=True)
        began.mkdir(parents=True)
        peer.pack(task, began)
        began.rename(folder)
    return replace(task, packed=folder)


def row_digests(batch: Batch) -> list[str]:
    return [hashlib.sha1(batch.mel[row, : batch.frames[row]].tobytes()).hexdigest() for row in range(len(batch.frames))]


def said(peer: Peer, error: BaseException) -> str:
    """What a library had to say, without the stack and the paths that its users would skip."""
    text = str(error)
    if not text.strip():
        where = traceback.extract_tb(error.__traceback__)[-1]
        text = f"in {where.name}: {where.line}"
    gist = re.search(peer.gist, text, re.DOTALL)
    text = f"{type(error).__name__}: {gist.group(1) if gist else text}".replace(os.getcwd(), ".")
    return " ".join(text.split())[:MOST_SAID]


def try_resume(peer: Peer, task: Task, other: dict[str, int]) -> dict[str, Any]:
    """Stops after a few batches, resumes with the other setting, and compares with a run that never stopped."""
    whole = peer.open_loader(task)
    rows = [row_digests(next(whole)) for _ in range(2 * RESUME_BATCHES)]
    wanted = rows[RESUME_BATCHES:]
    try:
        resumed = peer.resume(task, other)
        found = [row_digests(next(resumed.batches)) for _ in range(RESUME_BATCHES)]
    except CannotError as error:
        return {"outcome": "cannot", "said": str(error)}
    except Exception as error:
        return {"outcome": "refused", "said": said(peer, error)}
    result: dict[str, Any] = {"state_bytes": resumed.state_bytes}
    if found == wanted:
        return result | {"outcome": "exact"}
    before = collections.Counter(row for batch in rows[:RESUME_BATCHES] for row in batch)
    missing = collections.Counter(row for batch in wanted for row in batch)
    got = collections.Counter(row for batch in found for row in batch)
    return result | {
        "outcome": "differs",
        "first_wrong_batch": next(i for i in range(RESUME_BATCHES) if found[i] != wanted[i]),
        "clips_missing": (missing - got).total(),
        "clips_repeated": (got & before).total(),
    }


class Logged(logging.Handler):
    """What a library that goes on without a file writes to the log."""

    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self.lines: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        error = record.exc_info[1] if record.exc_info else None
        cause = f" {type(error).__name__}: {error}" if error else ""
        self.lines.append(f"{record.levelname}: {record.getMessage()}{cause}")


def try_damage(peer: Peer, task: Task, folder: Path) -> dict[str, Any]:
    """One pass over clips of which one file is damaged: what is delivered, and what is said."""
    rows = right = 0
    stopped, whole = None, ""
    logged = Logged()
    logging.getLogger().addHandler(logged)
    try:
        task = packed(peer, task, folder)
        for batch in peer.open_loader(replace(task, endless=False, shuffle=False)):
            for row, frames in enumerate(batch.frames):
                rows += 1
                right += find_clip(batch.mel[row, :frames], task, peer.tolerance) is not None
    except Exception as error:
        stopped = said(peer, error)
        whole = str(error)
    if stopped is None and logged.lines:
        whole = " ".join(logged.lines)
        stopped = " ".join(whole.replace(os.getcwd(), ".").split())[:MOST_SAID]
    counts = {"clips": len(task.clips), "delivered": rows, "delivered_wrong": rows - right}
    return counts | {"said": stopped, "whole": whole}


def setting_of(text: str) -> dict[str, int]:
    pairs = (part.split("=", 1) for part in text.split(",") if part)
    return {name: int(value) for name, value in pairs}


def run_peer(peer: Peer) -> None:
    """The command line of a peer."""
    parser = argparse.ArgumentParser()
    parser.add_argument("what", choices=["pack", "race", "resume", "damage"])
    parser.add_argument("--clips", type=Path, required=True, help="JSON list of [wav, npy, reference, frames]")
    parser.add_argument("--path", choices=["cached", "files"], required=True)
    parser.add_argument("--setting", type=setting_of, default={}, help="e.g. processes=2")
    parser.add_argument("--other", type=setting_of, default={}, help="resume: the setting to go on with")
    parser.add_argument("--seconds", type=float, default=3.0)
    options = parser.parse_args()
    clips = [Clip(*row) for row in json.loads(options.clips.read_text(encoding="utf-8"))]
    task = Task(clips, options.path, options.setting)
    folder = options.clips.parent / "packed" / f"{Path(sys.argv[0]).stem}-{options.path}"
    if options.what != "damage":  # there, what packing says counts
        task = packed(peer, task, folder)
    result: dict[str, Any] = {}
    if options.what == "race":
        result = race(peer, task, options.seconds)
    elif options.what == "resume":
        result = try_resume(peer, task, options.other)
    elif options.what == "damage":
        result = try_damage(peer, task, folder)
    print(json.dumps({"version": peer.version} | result), flush=True)
    os._exit(0)  # worker processes and threads of a peer may otherwise hold its end up
