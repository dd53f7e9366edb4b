"""Lhotse: a manifest of cuts, its feature store or its audio reader, and its bucketing sampler before a DataLoader."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import lhotse
import numpy as np
import torch
from lhotse.dataset import DynamicBucketingSampler, DynamicCutSampler, OnTheFlyFeatures
from lhotse.dataset.collation import collate_matrices
from torch.utils.data import DataLoader

from bench.peers import hifigan_mel
from bench.peers.protocol import BATCH_CLIPS, RESUME_BATCHES, Batch, Clip, Peer, Resumed, Task, run_peer
from bench.peers.torch_mel import TorchMel

MANIFEST = "cuts.jsonl.gz"
FRAME_S = hifigan_mel.HOP_SAMPLES / hifigan_mel.RATE_HZ


def stored_mel(clip: Clip) -> Any:
    """A cut that points into Lhotse's store of .npy files, the one that keeps float32."""
    npy = Path(clip.npy)
    features = lhotse.Features(
        type="hifigan",
        num_frames=clip.frames,
        num_features=hifigan_mel.BANDS,
        frame_shift=FRAME_S,
        sampling_rate=hifigan_mel.RATE_HZ,
        start=0.0,
        duration=clip.frames * FRAME_S,
        storage_type="numpy_files",
        storage_path=str(npy.parent),
        storage_key=npy.name,
        recording_id=npy.stem,
        channels=0,
    )
    return lhotse.MonoCut(npy.stem, start=0.0, duration=features.duration, channel=0, features=features)


def pack(task: Task, folder: Path) -> None:
    """The manifest; sounds and mels stay where they are."""
    if task.path == "cached":
        cuts = [stored_mel(clip) for clip in task.clips]
    else:
        cuts = [lhotse.Recording.from_file(clip.wav).to_cut() for clip in task.clips]
    lhotse.CutSet.from_cuts(cuts).to_file(folder / MANIFEST)


@dataclass
class HifiganConfig:
    """Nothing can be set."""


class Hifigan(lhotse.FeatureExtractor):  # type: ignore[misc]  # untyped where the library is not installed
    """The mel as an extractor of Lhotse: none of its own has this recipe."""

    name = "hifigan"
    config_type = HifiganConfig

    def __init__(self) -> None:
        super().__init__(HifiganConfig())
        self.mel = TorchMel()

    @property
    def frame_shift(self) -> float:
        return FRAME_S

    def feature_dim(self, sampling_rate: int) -> int:
        return hifigan_mel.BANDS

    def extract(self, samples: Any, sampling_rate: int) -> Any:
        return np.asarray(self.mel(torch.from_numpy(samples).reshape(-1)))


class Mels:
    """The cuts of a batch to its mels: what Lhotse calls a dataset."""

    def __init__(self, task: Task) -> None:
        self.cached = task.path == "cached"
        self.features = OnTheFlyFeatures(Hifigan())

    def __getitem__(self, cuts: Any) -> tuple[torch.Tensor, torch.Tensor]:
        if not self.cached:
            mel, frames = self.features(cuts)
            return mel, frames
        mels = [torch.from_numpy(cut.load_features()) for cut in cuts]
        frames = torch.tensor([len(mel) for mel in mels])
        return collate_matrices(mels, padding_value=hifigan_mel.LOG_FLOOR), frames


def sampler_of(task: Task, setting: dict[str, int]) -> Any:
    cuts = lhotse.CutSet.from_file(task.packed / MANIFEST).to_eager()
    clips = len(task.clips)
    if task.endless:
        cuts = cuts.repeat(preserve_id=True)
    common: dict[str, Any] = {"max_cuts": BATCH_CLIPS, "shuffle": task.shuffle, "drop_last": task.endless}
    common |= {"seed": task.seed, "shuffle_buffer_size": clips}
    if setting.get("buckets", 0) and task.shuffle:
        bins = {"num_buckets": setting["buckets"], "num_cuts_for_bins_estimate": clips, "buffer_size": clips}
        return DynamicBucketingSampler(cuts, **common, **bins)
    return DynamicCutSampler(cuts, **common)


def loader_of(task: Task, setting: dict[str, int], sampler: Any) -> Iterator[Batch]:
    processes = setting["processes"]
    torch.set_num_threads(setting.get("threads", 1))
    more: dict[str, Any] = {"prefetch_factor": 4, "persistent_workers": True} if processes else {}
    mels: Any = Mels(task)
    for mel, frames in DataLoader(mels, sampler=sampler, batch_size=None, num_workers=processes, **more):
        yield Batch(mel.numpy(), frames.numpy())


def open_loader(task: Task) -> Iterator[Batch]:
    return loader_of(task, task.setting, sampler_of(task, task.setting))


def resume(task: Task, other: dict[str, int]) -> Resumed:
    """The state is the sampler's, which is in this process."""
    sampler = sampler_of(task, task.setting)
    batches = loader_of(task, task.setting, sampler)
    for _ in range(RESUME_BATCHES):
        next(batches)
    state = sampler.state_dict()
    state_bytes = len(json.dumps(state, default=repr))
    resumed = sampler_of(task, other)
    resumed.load_state_dict(state)
    return Resumed(loader_of(task, other, resumed), state_bytes)


if __name__ == "__main__":
    gist = r"Traceback.*\n[\w.]+: (.+)$"
    run_peer(Peer(lhotse.__version__, open_loader, resume, gist=gist, pack=pack))
