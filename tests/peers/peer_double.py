"""A peer whose faults are known, to see whether the protocol finds them. Run like the real ones."""

import logging
import os
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from bench.peers.protocol import BATCH_CLIPS, RESUME_BATCHES, Batch, CannotError, Clip, Peer, Resumed, Task, run_peer

Mel = NDArray[np.float32]


def load(clip: Clip, task: Task) -> Mel | None:
    """From the pack where there is one; a mel that cannot be read is left out if the setting says so."""
    try:
        return np.asarray(np.load(task.packed / Path(clip.npy).name if task.packed.name else clip.npy))
    except ValueError as error:
        if "leave_out" not in task.setting:
            raise
        logging.getLogger("double").error("left out", exc_info=error)
        return None


def pack(task: Task, folder: Path) -> None:
    """One file a mel, each read and written again."""
    for clip in task.clips:
        np.save(folder / Path(clip.npy).name, np.load(clip.npy))
    with (folder.parent / "packings").open("a", encoding="utf-8") as log:
        log.write(f"{len(task.clips)}\n")


def pad(clips: list[Clip], task: Task) -> Batch:
    mels = [mel for mel in (load(clip, task) for clip in clips) if mel is not None]
    frames = np.array([len(mel) for mel in mels])
    batch = np.full((len(mels), int(frames.max()), mels[0].shape[1]), -11.5, dtype=np.float32)
    for row, mel in enumerate(mels):
        batch[row, : len(mel)] = mel + np.float32(task.setting.get("wrong_by_milli", 0) / 1000.0)
    return Batch(batch, frames)


def open_loader(task: Task) -> Iterator[Batch]:
    """Clips in order, batch after batch; begins at batch `first`, and skips one where `skip` says so."""
    at = BATCH_CLIPS * task.setting.get("first", 0)
    while task.endless or at < len(task.clips):
        picked = [task.clips[(at + row) % len(task.clips)] for row in range(BATCH_CLIPS)]
        yield pad(picked, task)
        at += BATCH_CLIPS * (1 + task.setting.get("skip", 0))


def resume(task: Task, other: dict[str, int]) -> Resumed:
    if "cannot" in other:
        raise CannotError("it saves no state")
    if "refuse" in other:
        raise ValueError(f"Original Traceback\nsomewhere\nValueError: {other['refuse']} workers are not what I had")
    return Resumed(open_loader(replace(task, setting={"first": RESUME_BATCHES + other.get("late", 0)})), 17)


if __name__ == "__main__":
    if os.environ.get("PEER_HANGS"):
        os.read(os.pipe()[0], 1)
    packs = pack if os.environ.get("PEER_PACKS") else None
    run_peer(Peer("1.0", open_loader, resume, gist=r"\w+: ([^\n]+)$", pack=packs))
