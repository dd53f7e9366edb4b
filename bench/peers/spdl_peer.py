"""Meta's SPDL: a pipeline of threads that reads files with SPDL's own readers, one utterance or one batch a task."""

import importlib.metadata
import itertools
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import spdl.io
import torch
from numpy.typing import NDArray
from spdl.pipeline import PipelineBuilder, run_pipeline_in_subprocess

from bench.peers.hifigan_mel import padded
from bench.peers.protocol import BATCH_CLIPS, Batch, CannotError, Peer, Resumed, Task, run_peer
from bench.peers.torch_mel import TorchMel

Mel = NDArray[np.float32]
FULL_SCALE = np.float32(1 << 15)


class LoadMel:
    """Path to mel, from the cached file or from the sound."""

    def __init__(self, task: Task) -> None:
        self.cached = task.path == "cached"
        self.mel = TorchMel()

    def __call__(self, path: str) -> Mel:
        content = Path(path).read_bytes()
        if self.cached:
            return np.asarray(spdl.io.load_npy(content))
        samples = np.asarray(spdl.io.load_wav(content))[:, 0] / FULL_SCALE
        torch.set_num_threads(1)
        return np.asarray(self.mel(torch.from_numpy(samples)))


class Paths:
    """The files to read: endless shuffled epochs, or each once; one at a time or a batch at a time."""

    def __init__(self, task: Task, whole_batches: bool) -> None:
        self.task = task
        self.whole_batches = whole_batches

    def singly(self) -> Iterator[str]:
        order = self.task.sources()
        shuffled = random.Random(self.task.seed)
        while True:
            if self.task.shuffle:
                shuffled.shuffle(order)
            yield from order
            if not self.task.endless:
                return

    def __iter__(self) -> Iterator[Any]:
        paths = self.singly()
        if not self.whole_batches:
            yield from paths
            return
        while batch := list(itertools.islice(paths, BATCH_CLIPS)):
            yield batch


class LoadBatch:
    """Paths to a padded batch in one task: fewer turns of the pipeline's event loop."""

    def __init__(self, load: LoadMel) -> None:
        self.load = load

    def __call__(self, paths: list[str]) -> Batch:
        return pad([self.load(path) for path in paths])


def pad(mels: list[Mel]) -> Batch:
    return Batch(*padded(mels))


def stages(task: Task) -> PipelineBuilder[Any, Any]:
    threads, whole_batches = task.setting["threads"], bool(task.setting.get("whole_batches", 0))
    load = LoadMel(task)
    builder = PipelineBuilder().add_source(Paths(task, whole_batches))
    if whole_batches:
        return builder.pipe(LoadBatch(load), concurrency=threads).add_sink(2 * threads)
    return builder.pipe(load, concurrency=threads).aggregate(BATCH_CLIPS).pipe(pad).add_sink(2 * threads)


def open_loader(task: Task) -> Iterator[Batch]:
    threads = task.setting["threads"]
    if task.setting.get("processes", 0):
        config = stages(task).get_config()
        yield from run_pipeline_in_subprocess(config, num_threads=threads, use_thread_output_queue=True)
        return
    pipeline = stages(task).build(num_threads=threads, use_thread_output_queue=True)
    with pipeline.auto_stop():
        yield from pipeline


def resume(task: Task, other: dict[str, int]) -> Resumed:
    raise CannotError("it saves no state")


if __name__ == "__main__":
    run_peer(Peer(importlib.metadata.version("spdl"), open_loader, resume))
