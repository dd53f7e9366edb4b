"""stoker through its Python package, as a training script has it: a loop over stoker.Feed."""

import json
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

import stoker
from bench.peers.protocol import BATCH_CLIPS, Batch, Peer, Resumed, Task, hand_over, run_peer


def voice_of(task: Task) -> Path:
    return Path(task.clips[0].wav).parent.parent


def feed_of(task: Task, setting: dict[str, int]) -> Any:
    """Reads and delivers float32, as the peers do; its own default is half of that."""
    cached = "precompute" if task.endless else "auto"  # timed runs build nothing, a pass over damaged files may
    settings: dict[str, Any] = {
        "data.preprocessing_mode": cached if task.path == "cached" else "runtime",
        "data.batch_dtype": "f32",
        "cache.dtype": "f32",
    }
    return stoker.Feed(
        voice_of(task),
        cache=task.packed,
        batch_size=BATCH_CLIPS,
        num_workers=setting["threads"],
        shuffle=task.shuffle,
        drop_last=task.endless,
        device="cpu",
        **settings,
    )


def pack(task: Task, folder: Path) -> None:
    """The cache of mels, by the program of the same build."""
    if task.path == "cached":
        command = [os.environ["RACE_PROGRAM"], "precompute", "--data", str(voice_of(task)), "--cache", str(folder)]
        subprocess.run([*command, "--cache-dtype", "f32"], check=True, capture_output=True)


def batches_of(feed: Any, endless: bool) -> Iterator[Batch]:
    while True:
        for batch in feed:
            mel, frames = np.asarray(batch.mel), np.asarray(batch.mel_len).astype(np.int64)
            filled = frames > 0  # rows that only fill up the last batch of an epoch have no frame
            yield Batch(mel, frames) if filled.all() else Batch(mel[filled], frames[filled])
        if not endless:
            return


def open_loader(task: Task) -> Iterator[Batch]:
    return batches_of(feed_of(task, task.setting), task.endless)


def resume(task: Task, other: dict[str, int]) -> Resumed:
    resumed, state = hand_over(lambda setting: feed_of(task, setting), task, other)
    return Resumed(batches_of(resumed, endless=True), len(json.dumps(state)))


if __name__ == "__main__":
    run_peer(Peer(stoker.__version__, open_loader, resume, pack=pack))
