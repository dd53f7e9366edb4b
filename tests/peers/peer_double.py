"""A peer whose faults are known, to see whether the protocol finds them. Run like the real ones."""

import os
from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from bench.peers.protocol import BATCH_CLIPS, RESUME_BATCHES, Batch, Clip, Peer, Resumed, Task, run_peer


def pad(clips: list[Clip], task: Task) -> Batch:
    mels = [np.load(clip.npy) for clip in clips]
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
    if "refuse" in other:
        raise ValueError(f"Original Traceback\nsomewhere\nValueError: {other['refuse']} workers are not what I had")
    return Resumed(open_loader(replace(task, setting={"first": RESUME_BATCHES + other.get("late", 0)})), 17)


if __name__ == "__main__":
    if os.environ.get("PEER_HANGS"):
        os.read(os.pipe()[0], 1)
    run_peer(Peer("1.0", open_loader, resume, gist=r"\w+: ([^\n]+)$"))
