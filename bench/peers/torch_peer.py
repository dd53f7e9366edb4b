"""torch DataLoader as its users write it: a map-style data set, worker processes, a padding collate function."""

import json
from collections.abc import Iterator
from typing import Any

import numpy as np
import soundfile
import torch
from torch.utils.data import DataLoader
from torchdata.stateful_dataloader import StatefulDataLoader

from bench.peers.hifigan_mel import LOG_FLOOR
from bench.peers.protocol import BATCH_CLIPS, Batch, Peer, Resumed, Task, hand_over, numbered, run_peer
from bench.peers.torch_mel import TorchMel


class Mels:
    """Clip number to mel, from the cached file or from the sound."""

    def __init__(self, task: Task) -> None:
        self.sources = task.sources()
        self.cached = task.path == "cached"
        self.mel = TorchMel()

    def __len__(self) -> int:
        return len(self.sources)

    def __getitem__(self, number: int) -> torch.Tensor:
        if self.cached:
            return torch.from_numpy(np.load(self.sources[number]))
        samples, _ = soundfile.read(self.sources[number], dtype="float32")
        return self.mel(torch.from_numpy(samples))


class EndlessShuffle:
    """One shuffled epoch after the other, so that no worker waits at an epoch's end."""

    def __init__(self, task: Task) -> None:
        self.clips = len(task.clips)
        self.seed = task.seed

    def __iter__(self) -> Iterator[int]:
        random = torch.Generator().manual_seed(self.seed)
        while True:
            yield from torch.randperm(self.clips, generator=random).tolist()


def collate(mels: list[torch.Tensor]) -> tuple[torch.Tensor, torch.Tensor]:
    padded = torch.nn.utils.rnn.pad_sequence(mels, batch_first=True, padding_value=LOG_FLOOR)
    return padded, torch.tensor([len(mel) for mel in mels])


def open_loader(task: Task) -> Iterator[Batch]:
    processes = task.setting["processes"]
    torch.set_num_threads(task.setting.get("threads", 1))
    more: dict[str, Any] = {"prefetch_factor": 4, "persistent_workers": True} if processes else {}
    sampler: Any = EndlessShuffle(task) if task.endless else None
    mels: Any = Mels(task)  # torch asks for an index and a length, not for a base class
    loader = DataLoader(
        mels, batch_size=BATCH_CLIPS, sampler=sampler, num_workers=processes, collate_fn=collate, **more
    )
    return numbered(loader)


def stateful_loader(task: Task, processes: int) -> Any:
    random = torch.Generator().manual_seed(task.seed)
    mels: Any = Mels(task)
    return StatefulDataLoader(
        mels, batch_size=BATCH_CLIPS, shuffle=True, generator=random, num_workers=processes, collate_fn=collate
    )


def resume(task: Task, other: dict[str, int]) -> Resumed:
    """torch's own loader has no state; torchdata's StatefulDataLoader takes its place."""
    resumed, state = hand_over(lambda setting: stateful_loader(task, setting["processes"]), task, other)
    return Resumed(numbered(resumed), len(json.dumps(state, default=repr)))


def open_stateful(task: Task) -> Iterator[Batch]:
    return numbered(stateful_loader(task, task.setting["processes"]))


if __name__ == "__main__":
    import sys

    opener = open_stateful if sys.argv[1] == "resume" else open_loader
    run_peer(Peer(torch.__version__, opener, resume, gist=r"Traceback.*\n\w+: ([^\n]+)\s*$"))
