"""WebDataset: tar shards read in order and shuffled in a buffer, by the workers of a torch DataLoader."""

import io
import sys
import warnings
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import soundfile
import torch
import webdataset
from numpy.typing import NDArray
from torchdata.stateful_dataloader import StatefulDataLoader

from bench.peers.hifigan_mel import padded
from bench.peers.protocol import BATCH_CLIPS, Batch, Peer, Resumed, Task, hand_over, numbered, run_peer
from bench.peers.torch_mel import TorchMel

Mel = NDArray[np.float32]
SHARD_CLIPS = 32  # so that even the 64 utterances of a trial give each of two workers a shard
SHUFFLED_CLIPS = 256


def pack(task: Task, folder: Path) -> None:
    """Mels as WebDataset's own tensor format, sounds as the bytes of their files."""
    pattern = str(folder / "clips-%05d.tar")
    with webdataset.ShardWriter(pattern, maxcount=SHARD_CLIPS, verbose=0) as shards:
        for source in task.sources():
            key = {"__key__": Path(source).stem}
            if task.path == "cached":
                shards.write(key | {"ten": [np.load(source)]})
            else:
                shards.write(key | {"wav": Path(source).read_bytes()})


class LoadMel:
    """A sample of a shard to its mel."""

    def __init__(self, cached: bool) -> None:
        self.cached = cached
        self.mel = TorchMel()

    def __call__(self, sample: dict[str, Any]) -> Mel:
        if self.cached:
            return np.asarray(sample["ten"][0])
        samples, _ = soundfile.read(io.BytesIO(sample["wav"]), dtype="float32")
        return np.asarray(self.mel(torch.from_numpy(samples)))


def pad(mels: Sequence[Mel]) -> tuple[torch.Tensor, torch.Tensor]:
    batch, frames = padded(mels)
    return torch.from_numpy(batch), torch.from_numpy(frames)


def data_set(task: Task) -> Any:
    shards = sorted(str(path) for path in task.packed.glob("*.tar"))
    samples = webdataset.WebDataset(shards, shardshuffle=len(shards) if task.shuffle else False, seed=task.seed)
    samples = samples.repeat() if task.endless else samples
    samples = samples.shuffle(SHUFFLED_CLIPS, seed=task.seed) if task.shuffle else samples
    samples = samples.decode() if task.path == "cached" else samples
    return samples.map(LoadMel(task.path == "cached")).batched(BATCH_CLIPS, collation_fn=pad)


def open_loader(task: Task) -> Iterator[Batch]:
    processes = task.setting["processes"]
    torch.set_num_threads(task.setting.get("threads", 1))
    more: dict[str, Any] = {"prefetch_factor": 4, "persistent_workers": True} if processes else {}
    return numbered(webdataset.WebLoader(data_set(task), batch_size=None, num_workers=processes, **more))


def stateful_loader(task: Task, processes: int) -> Any:
    return StatefulDataLoader(data_set(task), batch_size=None, num_workers=processes)


def open_stateful(task: Task) -> Iterator[Batch]:
    return numbered(stateful_loader(task, task.setting["processes"]))


def resume(task: Task, other: dict[str, int]) -> Resumed:
    """WebDataset has no state of its own; torchdata's loader skips what was delivered."""
    resumed, state = hand_over(lambda setting: stateful_loader(task, setting["processes"]), task, other)
    return Resumed(numbered(resumed), len(repr(state)))


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    opener = open_stateful if sys.argv[1] == "resume" else open_loader
    gist = r"Traceback.*\n[\w.]+: (.+)$"
    run_peer(Peer(webdataset.__version__, opener, resume, gist=gist, pack=pack))
