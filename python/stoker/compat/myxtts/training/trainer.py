"""myxtts' trainer: the same two calls, carried out by stoker's trainer."""

from __future__ import annotations

import json
import warnings
from pathlib import Path
from typing import Any

import stoker
from stoker.compat.myxtts.config.config import ConfigSection, DataConfig, TrainingConfig, XTTSConfig, written_settings
from stoker.compat.myxtts.data.ljspeech import BatchTuples, LJSpeechDataset
from stoker.compat.myxtts.utils.performance import PerformanceMonitor, get_performance_monitor

_MODEL_SIZES = ("tiny", "small", "normal", "big")


def source_of(dataset: Any, what: str) -> LJSpeechDataset:
    """The data set behind what create_tf_dataset returned."""
    if isinstance(dataset, LJSpeechDataset):
        return dataset
    tuples = getattr(dataset, "stoker_tuples", dataset)
    if not isinstance(tuples, BatchTuples):
        raise TypeError(
            f"expected {what} to come from LJSpeechDataset.create_tf_dataset, found {type(dataset).__name__}; "
            "stoker trains from the data set's folder, not from tensors"
        )
    return tuples.dataset


def log_run(monitor: PerformanceMonitor, result: dict[str, Any]) -> None:
    """Tells the monitor the steps that a run wrote down (every `log_step`th), its mean step where there is none."""
    monitor.record_cache_hit(result["cache"]["hits"])
    monitor.record_cache_miss(result["cache"]["misses"])
    metrics = Path(result["run"]) / "metrics.jsonl"
    lines = metrics.read_text(encoding="utf-8").splitlines() if metrics.exists() else []
    for step in [json.loads(line) for line in lines] or [result]:
        num_clips = round(step["clips_per_s"] * step["step_ms"] / 1e3)
        monitor.log_step_timing(step["data_ms"] / 1e3, step["compute_ms"] / 1e3, num_clips)


class XTTSTrainer:
    """Trains stoker's model. `model` is a size (tiny, small, normal, big); an object of another project is not used."""

    def __init__(
        self,
        config: XTTSConfig | DataConfig | TrainingConfig,
        model: Any = None,
        resume_checkpoint: str | None = None,
        model_device: str | None = None,
    ) -> None:
        self.config = config
        self.performance_monitor: PerformanceMonitor = get_performance_monitor()
        self._settings: dict[str, Any] = {}
        if isinstance(model, str) and model in _MODEL_SIZES:
            self._settings["training.model_size"] = model
        elif model is not None:
            warnings.warn(
                f"{type(model).__name__} is not used: stoker trains its own model; say a size: "
                f"{', '.join(_MODEL_SIZES)}",
                stacklevel=2,
            )
        if resume_checkpoint is not None:
            self._settings |= {"training.checkpoint_dir": resume_checkpoint, "training.resume": True}
        if model_device is not None:
            self._settings["device"] = model_device.lower().replace("/gpu:", "cuda:")

    def _sections(self) -> list[ConfigSection]:
        return self.config.sections() if isinstance(self.config, XTTSConfig) else [self.config]

    def train(
        self,
        train_dataset: Any,
        val_dataset: Any = None,
        epochs: int | None = None,
        steps_per_epoch: int | None = None,
    ) -> dict[str, Any]:
        """Trains on the data sets' folders and returns what the run came to; the monitor gets the steps it logged."""
        source = source_of(train_dataset, "train_dataset")
        settings = dict(self._settings)
        if val_dataset is not None:
            val_path = source_of(val_dataset, "val_dataset").data_path
            if val_path != source.data_path:
                settings["data.val_path"] = str(val_path)
        if epochs is not None:
            settings["training.epochs"] = epochs
        if steps_per_epoch is not None:
            settings["training.steps"] = steps_per_epoch * (epochs if epochs is not None else self._epochs())
        with self.performance_monitor.time_operation("train"), written_settings(*self._sections()) as path:
            result = stoker.train(source.data_path, config=path, **settings)
        log_run(self.performance_monitor, result)
        return result

    def _epochs(self) -> int:
        training = self.config.training if isinstance(self.config, XTTSConfig) else self.config
        return int(getattr(training, "epochs", 1000))
