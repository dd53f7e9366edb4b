"""Stoker keeps a GPU busy with speech batches and says why it idles.

import stoker
feed = stoker.Feed("LJSpeech-1.1", batch_frames=40_000, device="cuda:0")
for batch in feed:                       # one epoch; restartable; len(feed) batches
    mel = torch.from_dlpack(batch.mel)   # zero copy, stream-safe
state = feed.state_dict()                # load_state_dict() resumes exactly
"""

from typing import TYPE_CHECKING

from stoker._engine import Batch, Tensor
from stoker._engine import version as __version__
from stoker.batch import BatchCopy, Segments
from stoker.errors import (
    ConfigError,
    DataError,
    FeedTimeout,
    GpuError,
    LockError,
    OutOfMemory,
    StokerError,
    StorageError,
    UsageError,
)
from stoker.feed import Feed
from stoker.monitor import PerformanceMonitor
from stoker.report import Report
from stoker.watch import Watch, watch

if TYPE_CHECKING:
    from stoker.caches import Cache, precompute
    from stoker.data_sets import data_check, make_data
    from stoker.sound import features
    from stoker.texts import normalize, tokenize
    from stoker.training import synthesize, train

__all__ = [
    "Batch",
    "BatchCopy",
    "Cache",
    "ConfigError",
    "DataError",
    "Feed",
    "FeedTimeout",
    "GpuError",
    "LockError",
    "OutOfMemory",
    "PerformanceMonitor",
    "Report",
    "Segments",
    "StokerError",
    "StorageError",
    "Tensor",
    "UsageError",
    "Watch",
    "__version__",
    "data_check",
    "features",
    "make_data",
    "normalize",
    "precompute",
    "synthesize",
    "tokenize",
    "train",
    "watch",
]

# Where names are that a program with a feed alone does not need: looked up at their first use.
_MODULES = {
    "Cache": "caches",
    "data_check": "data_sets",
    "features": "sound",
    "make_data": "data_sets",
    "normalize": "texts",
    "precompute": "caches",
    "synthesize": "training",
    "tokenize": "texts",
    "train": "training",
}


if not TYPE_CHECKING:

    def __getattr__(name: str) -> object:
        if name not in _MODULES:
            raise AttributeError(f"module 'stoker' has no attribute {name!r}")
        from importlib import import_module

        found = getattr(import_module(f"stoker.{_MODULES[name]}"), name)
        globals()[name] = found
        return found


def __dir__() -> list[str]:
    return sorted(__all__)
