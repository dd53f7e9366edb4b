"""MosaicML Streaming: MDS shards in a local folder, read by the workers of its StreamingDataLoader."""

import importlib
import io
import itertools
import json
import sys
import types
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import soundfile
import torch
from numpy.typing import NDArray

from bench.peers.hifigan_mel import padded
from bench.peers.protocol import BATCH_CLIPS, Batch, Peer, Resumed, Task, hand_over, numbered, run_peer
from bench.peers.torch_mel import TorchMel


def without_pictures() -> Any:
    """Its picture data sets import torchvision, which must be of the same build as torch; no picture is read here."""
    sys.modules["streaming.vision"] = types.ModuleType("streaming.vision")
    return importlib.import_module("streaming")


streaming = without_pictures()
Mel = NDArray[np.float32]
REPEATS = 50  # of all clips in one epoch, so that no worker waits at an epoch's end
LINKS = itertools.count()


def pack(task: Task, folder: Path) -> None:
    """Mels as arrays, sounds as the bytes of their files, with hashes: Streaming compares them after a download."""
    columns = {"mel": "ndarray:float32"} if task.path == "cached" else {"wav": "bytes"}
    with streaming.MDSWriter(out=str(folder), columns=columns, hashes=["xxh64"]) as shards:
        for source in task.sources():
            content = {"mel": np.load(source)} if task.path == "cached" else {"wav": Path(source).read_bytes()}
            shards.write(content)


class Mels(streaming.StreamingDataset):  # type: ignore[misc, name-defined]  # a module found at run time
    """A sample of a shard to its mel."""

    def __init__(self, task: Task) -> None:
        self.mel = TorchMel()
        # Streaming refuses a folder that an earlier loader of this process has open; a link is another folder.
        local = task.packed.with_name(f"{task.packed.name}-{next(LINKS)}")
        local.unlink(missing_ok=True)
        local.symlink_to(task.packed, target_is_directory=True)
        clips = streaming.Stream(local=str(local), repeat=REPEATS if task.endless else None, validate_hash="xxh64")
        super().__init__(
            streams=[clips],
            batch_size=BATCH_CLIPS,
            shuffle=task.shuffle,
            shuffle_seed=task.seed,
            num_canonical_nodes=1,
        )

    def get_item(self, sample_id: int, retry: int = 7) -> Mel:
        sample = super().get_item(sample_id, retry)
        if "mel" in sample:
            return np.asarray(sample["mel"])
        samples, _ = soundfile.read(io.BytesIO(sample["wav"]), dtype="float32")
        return np.asarray(self.mel(torch.from_numpy(samples)))


def pad(mels: Sequence[Mel]) -> tuple[torch.Tensor, torch.Tensor]:
    batch, frames = padded(mels)
    return torch.from_numpy(batch), torch.from_numpy(frames)


def loader_of(task: Task, setting: dict[str, int]) -> Any:
    processes = setting["processes"]
    torch.set_num_threads(setting.get("threads", 1))
    more: dict[str, Any] = {"prefetch_factor": 4, "persistent_workers": True} if processes else {}
    return streaming.StreamingDataLoader(
        Mels(task), batch_size=BATCH_CLIPS, num_workers=processes, collate_fn=pad, **more
    )


def open_loader(task: Task) -> Iterator[Batch]:
    return numbered(loader_of(task, task.setting))


def resume(task: Task, other: dict[str, int]) -> Resumed:
    resumed, state = hand_over(lambda setting: loader_of(task, setting), task, other)
    return Resumed(numbered(resumed), len(json.dumps(state)))


if __name__ == "__main__":
    # Of a run that was ended: Streaming would take its folder for one in use.
    streaming.base.util.clean_stale_shared_memory()
    gist = r"Traceback.*\n[\w.]+: (.+)$"
    run_peer(Peer(streaming.__version__, open_loader, resume, gist=gist, pack=pack))
