"""The data that the package's tests run on, and short ways to run a feed or a program over it."""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

import stoker

ENVIRONMENT_OF_RANKS = ("RANK", "WORLD_SIZE", "SLURM_PROCID", "SLURM_NTASKS")
# Of a feed that is soon held up: few slots, and no tuner that would find memory for more.
NARROW = {
    "batch_size": 1,
    "num_workers": 1,
    "data.prefetch_buffer_size": 2,
    "data.auto_tune_performance": False,
}

# Taken away, for the library refuses variables of its name that it does not know.
PROGRAM = os.environ.pop("STOKER_PROGRAM", str(Path(stoker.__file__).parents[2] / "stoker"))


@dataclass
class World:
    """A data set, its complete cache, and the command that made both."""

    program: Path
    folder: Path

    @property
    def data(self) -> Path:
        return self.folder / "data"

    @property
    def cache(self) -> Path:
        return self.folder / "cache"

    def command(self, *arguments: str) -> dict[str, Any]:
        """What a command prints as JSON."""
        line = [str(self.program), *arguments, "--json"]
        done = subprocess.run(line, capture_output=True, text=True, timeout=120, check=False)
        assert done.returncode == 0, f"{' '.join(line)}\n{done.stderr}"
        report: dict[str, Any] = json.loads(done.stdout)
        return report

    def make(self, num_clips: int) -> None:
        """Writes the data set and its cache of mels and samples."""
        sizes = ["--clips", str(num_clips), "--speakers", "2", "--lengths", "uniform:0.5-1.2", "--seed", "7"]
        self.command("data", "make", "--out", str(self.data), *sizes)
        where = ["--data", str(self.data), "--cache", str(self.cache)]
        self.command("precompute", *where, "--set", "cache.content=both")

    def settings(self, **more: Any) -> dict[str, Any]:
        """Arguments of a feed over the cached set, on the CPU."""
        own = {"data": self.data, "cache": self.cache, "cache.content": "both", "device": "cpu", "batch_size": 4}
        return {**own, **more}

    def feed(self, **more: Any) -> stoker.Feed:
        return stoker.Feed(**self.settings(**more))

    def cached(self, dtype: str, **more: Any) -> stoker.Feed:
        """A feed of stored mels, whose bytes are the same in any memory."""
        own = {"data.preprocessing_mode": "precompute", "data.batch_dtype": dtype, "num_workers": 2}
        return self.feed(**{**own, **more})

    def on_gpu(self, dtype: str, **more: Any) -> stoker.Feed:
        """The same in GPU memory, with few slots, so that each is used again at once."""
        own = {"device": "cuda:0", "gpu.buffer_size": 4, "data.stall_limit": 30}
        return self.cached(dtype, **{**own, **more})

    def python(self, code: str, *arguments: str, timeout: float = 60) -> subprocess.CompletedProcess[str]:
        """Runs `code` in a Python of its own: `feed(**settings)` and `sys.argv[1:]` are there."""
        begin = f"import sys; sys.path.insert(0, {str(Path(__file__).parent)!r})\n"
        begin += "from small_world import World; from pathlib import Path\nimport stoker\n"
        begin += f"world = World(Path({str(self.program)!r}), Path({str(self.folder)!r})); feed = world.feed\n"
        command = [sys.executable, "-B", "-c", begin + code, *arguments]
        return subprocess.run(command, capture_output=True, text=True, timeout=timeout, check=False)


def open_world(folder: Path, num_clips: int) -> World:
    """Makes the data with the command that STOKER_PROGRAM names, else the one beside the package."""
    world = World(Path(PROGRAM), folder)
    world.make(num_clips)
    return world


def contents(batches: Iterable[Any]) -> list[str]:
    """The digest of every batch, each given back before the next."""
    digests = []
    for batch in batches:
        digests.append(batch.content_digest())
        batch.release()
    return digests


def tensors_of(batch: Any) -> Iterator[tuple[str, Any]]:
    """Every tensor of a batch, those of `arrays` too."""
    for name, part in batch.items():
        if name == "arrays":
            yield from part.items()
        elif name != "ids":
            yield name, part


def array_digest(array: Any) -> str:
    """Of the bytes, the shape and the type of anything that NumPy can look at."""
    array = np.ascontiguousarray(array)
    described = f"{array.shape}{array.dtype}".encode()
    return hashlib.blake2b(described + array.tobytes(), digest_size=8).hexdigest()


def batch_digest(batch: Any) -> str:
    """Of every tensor as NumPy sees it, and of the ids."""
    parts = [f"{name}:{array_digest(tensor.numpy())}" for name, tensor in tensors_of(batch)]
    return hashlib.blake2b(" ".join([*parts, *batch.ids]).encode(), digest_size=8).hexdigest()


def held_up(feed: stoker.Feed) -> tuple[Iterator[stoker.Batch], list[stoker.Batch]]:
    """Takes and holds every batch there is room for, until a call waits longer than the feed's timeout."""
    loop, held = iter(feed), []
    try:
        for batch in loop:
            held.append(batch)
    except stoker.FeedTimeout:
        return loop, held
    raise AssertionError("the feed has room for the whole epoch")
