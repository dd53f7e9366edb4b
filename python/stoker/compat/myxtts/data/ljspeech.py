"""myxtts' data set over stoker's feed and cache: the same calls, the same tuples."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Any

import stoker
from stoker.compat.myxtts.config.config import DataConfig, written_settings
from stoker.compat.myxtts.utils.performance import get_performance_monitor

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    BatchTuple = tuple[npt.NDArray[np.int32], npt.NDArray[np.float32], npt.NDArray[np.int32], npt.NDArray[np.int32]]

_SPLITS = {"train": "train", "val": "eval", "test": "eval"}


def as_tuple(batch: Any) -> BatchTuple:
    """Tokens [B, L], mel [B, T, M], token counts and frame counts, padded with 0 to the longest of the batch.

    The feed fills a short last batch with empty rows, where myxtts' batch was smaller: they are left out.
    """
    import numpy as np

    frames = np.asarray(batch.mel_len)
    rows = np.flatnonzero(frames)
    mel_len = frames[rows].astype(np.int32)
    text_len = np.asarray(batch.text_len)[rows].astype(np.int32)
    tokens = np.asarray(batch.tokens)[rows, : text_len.max(initial=0)].astype(np.int32, copy=False)
    mel = np.asarray(batch.mel)[rows, : mel_len.max(initial=0)].astype(np.float32, copy=False)
    for row, num_frames in enumerate(mel_len):
        mel[row, num_frames:] = 0
    return tokens, mel, text_len, mel_len


class BatchTuples:
    """Tuples of numpy arrays, epoch after epoch where it repeats; each iteration begins anew."""

    def __init__(self, dataset: LJSpeechDataset, settings: Mapping[str, Any], repeat: bool) -> None:
        self.dataset = dataset
        self.settings = dict(settings)
        self.repeat = repeat

    def __iter__(self) -> Iterator[BatchTuple]:
        monitor = get_performance_monitor()
        with self.dataset.open_feed(self.settings) as feed:
            while True:
                asked = perf_counter()
                for batch in feed:
                    arrays = as_tuple(batch)
                    del batch  # its slot is free while the loop computes
                    if arrays[0].shape[0] == 0:
                        continue
                    monitor.log_operation("data_loading", perf_counter() - asked)
                    yield arrays
                    asked = perf_counter()
                if not self.repeat:
                    return

    def __len__(self) -> int:
        if self.repeat:
            raise TypeError("a data set that repeats has no length")
        with self.dataset.open_feed(self.settings) as feed:
            return len(feed)


class LJSpeechDataset:
    """A data set in one of the layouts that stoker reads; nothing is downloaded and nothing of it is changed."""

    def __init__(
        self,
        data_path: str | Path,
        config: DataConfig,
        subset: str = "train",
        download: bool = True,
        preprocess: bool = True,
    ) -> None:
        if subset not in _SPLITS:
            raise ValueError(f"expected a subset of {', '.join(_SPLITS)}; found {subset!r}")
        self.data_path = Path(data_path)
        self.config = config
        self.subset = subset
        if not self.data_path.exists():
            raise FileNotFoundError(
                f"{self.data_path}: no data set there, and stoker downloads none; `stoker data make` speaks one"
            )

    def settings(self, **more: Any) -> dict[str, Any]:
        """Keyword arguments of stoker's calls that say which part of the data is meant."""
        return {"data.split": _SPLITS[self.subset], **more}

    def open_feed(self, settings: Mapping[str, Any]) -> stoker.Feed:
        """A feed of the part, with the configuration's old keys and then these settings."""
        with written_settings(self.config) as path:
            return stoker.Feed(str(self.data_path), config=path, **self.settings(**settings))

    def _precompute(self, operation: str, num_workers: int, overwrite: bool) -> None:
        with get_performance_monitor().time_operation(operation), written_settings(self.config) as path:
            settings = self.settings(**{"data.num_workers": num_workers})
            if overwrite:
                settings["overwrite"] = True
            stoker.precompute(str(self.data_path), config=path, **settings)

    def precompute_mels(self, num_workers: int = 1, overwrite: bool = False) -> None:
        """Builds or completes the cache, which holds mels and tokens; what is there and valid stays."""
        self._precompute("precompute_mels", num_workers, overwrite)

    def precompute_tokens(self, num_workers: int = 1, overwrite: bool = False) -> None:
        """The same cache: after `precompute_mels` there is nothing left to do."""
        self._precompute("precompute_tokens", num_workers, overwrite)

    def _cache(self) -> stoker.Cache:
        with written_settings(self.config) as path:
            return stoker.Cache(str(self.data_path), config=path, **self.settings())

    def verify_and_fix_cache(self, fix: bool = True, max_errors: int = 20) -> dict[str, int]:
        """Checks every byte of the cache, rebuilds what is bad where `fix` says so, and counts what stays bad."""
        found = self._cache().verify(fix=fix)
        bad = 0 if fix else sum(found[name] for name in ("stale", "corrupt", "missing", "unread"))
        return {"checked": int(found["checked"]), "fixed": int(found["fixed"]), "failed": int(found["failed"]) + bad}

    def create_tf_dataset(
        self,
        batch_size: int | None = None,
        shuffle: bool = True,
        repeat: bool = True,
        prefetch: bool = True,
        use_cache_files: bool = True,
        memory_cache: bool = False,
        num_parallel_calls: int | None = None,
        buffer_size_multiplier: int = 10,
        drop_remainder: bool = False,
    ) -> Any:
        """Batches of (tokens, mel, token counts, frame counts): a `tf.data.Dataset`, or an iterable without TensorFlow.

        The order is a permutation of the whole epoch, so `buffer_size_multiplier` has nothing to enlarge.
        """
        settings: dict[str, Any] = {
            "device": "cpu",
            "data.batch_dtype": "f32",
            "data.shuffle": shuffle,
            "data.drop_last": drop_remainder,
        }
        if batch_size is not None:
            settings["data.batch_size"] = batch_size
        if num_parallel_calls is not None and num_parallel_calls > 0:  # -1 is tf.data.AUTOTUNE
            settings["data.num_workers"] = num_parallel_calls
        if not prefetch:
            settings["data.optimize_cpu_gpu_overlap"] = False
        if not use_cache_files:
            settings["data.preprocessing_mode"] = "runtime"
        if memory_cache:
            settings["cache.tier"] = "ram"
        tuples = BatchTuples(self, settings, repeat)
        return tuples if importlib.util.find_spec("tensorflow") is None else _tensorflow_dataset(tuples)

    def get_performance_report(self) -> str:
        """What the cache holds and what the process's monitor found, as text."""
        lines = [f"Data set {self.data_path} ({self.subset}):", *self._cache_lines()]
        return "\n".join([*lines, get_performance_monitor().get_summary_report()])

    def _cache_lines(self) -> list[str]:
        try:
            info = self._cache().info()
        except stoker.StokerError as error:
            return [f"  no cache: {error}"]
        kinds = info.get("kinds", {})
        plain = {name: value for name, value in info.items() if not isinstance(value, dict)}
        return [f"  {name}: {value}" for name, value in [*plain.items(), *kinds.items()]]

    def __repr__(self) -> str:
        return f"<LJSpeechDataset {self.data_path} ({self.subset})>"


def _tensorflow_dataset(tuples: BatchTuples) -> Any:
    import tensorflow as tf  # type: ignore[import-not-found,unused-ignore]

    generate: Callable[[], Iterator[BatchTuple]] = lambda: iter(tuples)  # noqa: E731
    made = tf.data.Dataset.from_generator(
        generate,
        output_signature=(
            tf.TensorSpec([None, None], tf.int32),
            tf.TensorSpec([None, None, tuples.dataset.config.given.get("n_mels", 80)], tf.float32),
            tf.TensorSpec([None], tf.int32),
            tf.TensorSpec([None], tf.int32),
        ),
    ).prefetch(1)
    made.stoker_tuples = tuples  # what a trainer of stoker reads in place of the tensors
    return made
