"""Google's Grain: a MapDataset of padded batches, read ahead by threads or by worker processes."""

import json
from collections.abc import Iterator, Sequence
from typing import Any

import grain
import numpy as np
import soundfile
import torch
from numpy.typing import NDArray

from bench.peers.hifigan_mel import padded
from bench.peers.protocol import BATCH_CLIPS, RESUME_BATCHES, Batch, Peer, Resumed, Task, run_peer
from bench.peers.torch_mel import TorchMel

Mel = NDArray[np.float32]


class LoadMel:
    """Path to mel, from the cached file or from the sound."""

    def __init__(self, cached: bool) -> None:
        self.cached = cached
        self.mel = TorchMel()

    def __call__(self, path: str) -> Mel:
        if self.cached:
            return np.asarray(np.load(path))
        samples, _ = soundfile.read(path, dtype="float32")
        torch.set_num_threads(1)
        return np.asarray(self.mel(torch.from_numpy(samples)))


def pad(mels: Sequence[Mel]) -> Batch:
    return Batch(*padded(mels))


def data_set(task: Task, setting: dict[str, int]) -> Any:
    """With processes, each works alone on one thread; without, threads of this process fill batches."""
    clips = grain.MapDataset.source(task.sources())
    clips = clips.shuffle(seed=task.seed) if task.shuffle else clips
    clips = clips.repeat() if task.endless else clips
    batches = clips.map(LoadMel(task.path == "cached")).batch(BATCH_CLIPS, batch_fn=pad)
    threads = setting.get("threads", 1)
    ahead = batches.to_iter_dataset(grain.ReadOptions(num_threads=threads, prefetch_buffer_size=2 * threads))
    if setting.get("processes", 0) == 0:
        return ahead
    return ahead.mp_prefetch(grain.MultiprocessingOptions(num_workers=setting["processes"]))


def open_loader(task: Task) -> Iterator[Batch]:
    return iter(data_set(task, task.setting))


def resume(task: Task, other: dict[str, int]) -> Resumed:
    stopped = iter(data_set(task, task.setting))
    for _ in range(RESUME_BATCHES):
        next(stopped)
    state = stopped.get_state()
    resumed = iter(data_set(task, other))
    resumed.set_state(state)
    return Resumed(resumed, len(json.dumps(state, default=repr)))


if __name__ == "__main__":
    run_peer(Peer(grain.__version__, open_loader, resume))
