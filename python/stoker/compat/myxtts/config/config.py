"""myxtts' configuration classes: any of its keys, checked and translated by the engine that reads its old files."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, ClassVar

from stoker import _engine

# What a key of myxtts is where nobody sets it. The engine has the same values for old files; a test compares them.
DATA_DEFAULTS: dict[str, Any] = {
    "dataset_path": "",
    "dataset_name": "ljspeech",
    "auto_download_ljspeech": True,
    "metadata_train_file": None,
    "metadata_eval_file": None,
    "wavs_train_dir": None,
    "wavs_eval_dir": None,
    "sample_rate": 22050,
    "trim_silence": True,
    "normalize_audio": True,
    "text_cleaners": ["english_cleaners"],
    "language": "en",
    "add_blank": True,
    "enable_multispeaker": False,
    "speaker_id_pattern": None,
    "max_speakers": 1000,
    "enable_loudness_normalization": True,
    "target_loudness_lufs": -23.0,
    "enable_pitch_shift": False,
    "pitch_shift_range": [-2.0, 2.0],
    "enable_noise_mixing": False,
    "noise_mixing_probability": 0.3,
    "noise_mixing_snr_range": [10.0, 30.0],
    "train_split": 0.9,
    "val_split": 0.1,
    "train_subset_fraction": 1.0,
    "eval_subset_fraction": 1.0,
    "subset_seed": 42,
    "max_text_tokens": 1024,
    "batch_size": 56,
    "num_workers": 18,
    "prefetch_buffer_size": 12,
    "shuffle_buffer_multiplier": 30,
    "enable_memory_mapping": True,
    "cache_verification": True,
    "prefetch_to_gpu": True,
    "auto_rebuild_token_cache": True,
    "auto_rebuild_mel_cache": False,
    "max_mel_frames": 1024,
    "max_text_length": 200,
    "pad_to_fixed_length": False,
    "mixed_precision": True,
    "reference_audio_length": 3.0,
    "max_audio_length": 11.0,
    "use_tf_native_loading": True,
    "enhanced_gpu_prefetch": True,
    "optimize_cpu_gpu_overlap": True,
    "auto_tune_performance": True,
    "data_gpu": None,
    "model_gpu": None,
    "pipeline_buffer_size": 50,
    "model_start_delay": 2.0,
    "preprocessing_mode": "auto",
    "memory_cache": False,
    # Of these the engine has no setting; the values say what it does.
    "enable_vad": False,
    "enable_phone_normalization": False,
    "use_phonemes": False,
    "phoneme_language": None,
    "enable_multilingual": False,
    "supported_languages": None,
    "language_detection_method": "metadata",
    "enable_xla": False,
    "enable_tensorrt": False,
    "pin_memory": True,
    "persistent_workers": True,
}
TRAINING_DEFAULTS: dict[str, Any] = {
    "epochs": 1000,
    "gradient_accumulation_steps": 1,
    "max_memory_fraction": 0.9,
    "enable_graph_mode": True,
    "enable_eager_debug": False,
    "optimizer": "adamw",
    "beta1": 0.9,
    "beta2": 0.999,
    "eps": 1e-8,
    "weight_decay": 1e-6,
    "gradient_clip_norm": 1.0,
    "scheduler": "noam",
    "warmup_steps": 4000,
    "save_step": 25000,
    "val_step": 5000,
    "log_step": 100,
    "early_stopping_patience": 25,
}


class ConfigSection:
    """Keys of one section as attributes; those that were given are handed to the engine, which knows every old name."""

    section: ClassVar[str] = ""
    defaults: ClassVar[dict[str, Any]] = {}

    def __init__(self, **values: Any) -> None:
        self.__dict__["given"] = values
        with written_settings(self) as path:
            _engine.effective_settings(path, [])

    def __getattr__(self, name: str) -> Any:
        for values in (self.__dict__.get("given", {}), self.defaults):
            if name in values:
                return values[name]
        raise AttributeError(f"{type(self).__name__} has no {name}")

    def __setattr__(self, name: str, value: Any) -> None:
        self.given[name] = value

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self) and self.__dict__ == other.__dict__

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(f'{name}={value!r}' for name, value in self.given.items())})"


class DataConfig(ConfigSection):
    """Keys of myxtts' `data:` section."""

    section = "data"
    defaults = DATA_DEFAULTS


class TrainingConfig(ConfigSection):
    """Keys of myxtts' `training:` section, and those of stoker's."""

    section = "training"
    defaults = TRAINING_DEFAULTS


class ModelConfig(ConfigSection):
    """Keys of myxtts' `model:` section."""

    section = "model"


class XTTSConfig:
    """The three sections together."""

    def __init__(
        self,
        model: ModelConfig | None = None,
        data: DataConfig | None = None,
        training: TrainingConfig | None = None,
    ) -> None:
        self.model = model if model is not None else ModelConfig()
        self.data = data if data is not None else DataConfig()
        self.training = training if training is not None else TrainingConfig()

    def sections(self) -> list[ConfigSection]:
        """The sections, for `written_settings`."""
        return [self.data, self.training, self.model]


@contextmanager
def written_settings(*sections: ConfigSection) -> Iterator[str]:
    """The path of a settings file in myxtts' own keys; it is there until the block ends."""
    # One name that only myxtts has makes the engine read the file as one of its own.
    content: dict[str, dict[str, Any]] = {"data": {"use_tf_native_loading": True}}
    for section in sections:
        content.setdefault(section.section, {}).update(section.given)
    with tempfile.TemporaryDirectory(prefix="stoker-") as folder:
        path = Path(folder) / "myxtts.yaml"
        path.write_text(json.dumps({name: keys for name, keys in content.items() if keys}, indent=1, default=str))
        yield str(path)
