"""Programs written for myxtts: configuration, tuples, cache and trainer against the engine's own figures."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import stoker
from stoker import _engine
from stoker.compat.myxtts import BatchTuples, DataConfig, LJSpeechDataset, TrainingConfig, XTTSConfig, XTTSTrainer
from stoker.compat.myxtts.config.config import ConfigSection, written_settings
from stoker.compat.myxtts.training.trainer import log_run

# Taken out of the environment, where the engine would refuse a variable that it does not know.
PROGRAM = Path(os.environ.pop("STOKER_PROGRAM", Path(stoker.__file__).parents[2] / "stoker"))
NUM_CLIPS = 24


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("myxtts") / "data"
    command = [str(PROGRAM), "data", "make", "--out", str(made), "--clips", str(NUM_CLIPS), "--lengths", "uniform:1-2"]
    subprocess.run(command, check=True, capture_output=True)
    return made


def tuples(dataset: LJSpeechDataset, **options: Any) -> Iterator[Any]:
    made = dataset.create_tf_dataset(**options)
    assert isinstance(getattr(made, "stoker_tuples", made), BatchTuples)
    return iter(getattr(made, "stoker_tuples", made))


def effective(*sections: ConfigSection) -> dict[str, Any]:
    with written_settings(*sections) as path:
        settings: dict[str, Any] = json.loads(_engine.effective_settings(path, []))
    return settings


@pytest.mark.parametrize("section", [DataConfig, TrainingConfig])
def test_defaults_are_those_the_engine_gives_an_old_file(section: type[ConfigSection]) -> None:
    unsaid = effective(section())
    assert unsaid["features.preset"] == "myxtts" and unsaid["text.vocabulary"] == "myxtts"
    for key, value in section.defaults.items():
        if value is not None:
            assert effective(section(**{key: value})) == unsaid, key


def test_attributes_are_read_and_set() -> None:
    config = DataConfig()
    assert config.batch_size == 56
    config.batch_size = 8
    assert config.batch_size == 8 and DataConfig().batch_size == 56
    assert effective(config)["data.batch_size"] == 8
    assert config == DataConfig(batch_size=8) != DataConfig()
    assert repr(config) == "DataConfig(batch_size=8)"


def test_an_unknown_key_names_the_nearest_and_a_bad_value_its_range() -> None:
    with pytest.raises(stoker.StokerError, match="num_workers"):
        DataConfig(num_wrokers=3)
    with pytest.raises(stoker.StokerError, match="batch_size"):
        DataConfig(batch_size="many")
    with pytest.raises(AttributeError, match="no_such_key"):
        _ = DataConfig().no_such_key


@pytest.mark.parametrize("use_cache_files", [True, False])
def test_tuples_are_those_of_the_feed_padded_with_zeros(folder: Path, use_cache_files: bool) -> None:
    config = DataConfig(batch_size=4, num_workers=2)
    dataset = LJSpeechDataset(folder, config)
    settings: dict[str, Any] = {"device": "cpu", "batch_dtype": "f32", "data.split": "train", "shuffle": False}
    if not use_cache_files:
        settings["preprocessing_mode"] = "runtime"
    found = tuples(dataset, shuffle=False, repeat=False, use_cache_files=use_cache_files)
    with written_settings(config) as path, stoker.Feed(str(folder), config=path, **settings) as feed:
        num_rows = 0
        for batch, (tokens, mel, text_len, mel_len) in zip(feed, found, strict=True):
            assert [a.dtype for a in (tokens, mel, text_len, mel_len)] == [np.int32, np.float32, np.int32, np.int32]
            assert tokens.shape == (len(text_len), max(text_len))
            assert mel.shape == (len(mel_len), max(mel_len), 80)
            given = [row for row, num_frames in enumerate(np.asarray(batch.mel_len)) if num_frames > 0]
            assert len(given) == len(mel_len)
            for row, (num_tokens, num_frames) in enumerate(zip(text_len, mel_len, strict=True)):
                there = given[row]
                np.testing.assert_array_equal(mel[row, :num_frames], np.asarray(batch.mel)[there, :num_frames])
                np.testing.assert_array_equal(tokens[row, :num_tokens], np.asarray(batch.tokens)[there, :num_tokens])
                assert not mel[row, num_frames:].any() and not tokens[row, num_tokens:].any()
                assert tokens[row, 0] == 1 and tokens[row, num_tokens - 1] == 93  # BOS and EOS of the old vocabulary
            num_rows += len(mel_len)
        assert num_rows == feed.num_rows


def test_a_repeating_data_set_goes_on_and_each_iteration_begins_anew(folder: Path) -> None:
    dataset = LJSpeechDataset(str(folder), DataConfig(batch_size=4, num_workers=1))
    once = [mel_len.tolist() for _, _, _, mel_len in tuples(dataset, shuffle=False, repeat=False)]
    twice = [mel_len.tolist() for _, _, _, mel_len in islice(tuples(dataset, shuffle=False), 2 * len(once))]
    assert twice == once + once
    made = BatchTuples(dataset, {"device": "cpu", "data.shuffle": False}, repeat=False)
    assert len(made) == len(once)
    with pytest.raises(TypeError, match="no length"):
        len(BatchTuples(dataset, {}, repeat=True))


def test_tensorflow_gets_a_data_set_of_its_own(folder: Path) -> None:
    tf = pytest.importorskip("tensorflow")
    dataset = LJSpeechDataset(folder, DataConfig(batch_size=4, num_workers=1))
    made = dataset.create_tf_dataset(shuffle=False, repeat=False)
    assert isinstance(made, tf.data.Dataset)
    assert [spec.dtype for spec in made.element_spec] == [tf.int32, tf.float32, tf.int32, tf.int32]
    assert made.element_spec[1].shape.as_list() == [None, None, 80]
    for tensors, arrays in zip(made, tuples(dataset, shuffle=False, repeat=False), strict=True):
        for tensor, array in zip(tensors, arrays, strict=True):
            np.testing.assert_array_equal(tensor.numpy(), array)


def test_the_cache_is_built_checked_and_fixed(folder: Path) -> None:
    dataset = LJSpeechDataset(folder, DataConfig())
    dataset.precompute_mels(num_workers=2)
    dataset.precompute_tokens(num_workers=2, overwrite=False)
    sound = dataset.verify_and_fix_cache(fix=True)
    assert sound["checked"] > 0 and sound["fixed"] == 0 and sound["failed"] == 0
    shard = next((folder / ".stoker").rglob("shard-*.stk"))
    content = bytearray(shard.read_bytes())
    content[len(content) // 2] ^= 0xFF
    shard.write_bytes(content)
    assert dataset.verify_and_fix_cache(fix=False)["failed"] > 0
    assert dataset.verify_and_fix_cache(fix=True)["fixed"] > 0
    assert dataset.verify_and_fix_cache(fix=True) == sound
    report = dataset.get_performance_report()
    assert str(folder) in report and "precompute_mels" in report


def test_the_monitor_gets_the_steps_that_a_run_logged(tmp_path: Path) -> None:
    result = {"cache": {"hits": 3, "misses": 1}, "run": str(tmp_path), "steps": 250}
    result |= {"clips_per_s": 80.0, "step_ms": 50.0, "data_ms": 30.0, "compute_ms": 20.0}
    monitor = stoker.PerformanceMonitor()
    log_run(monitor, result)
    analysis = monitor.get_bottleneck_analysis()
    assert analysis["steps"]["count"] == 1 and analysis["steps"]["samples"] == 4
    assert analysis["data_share"] == pytest.approx(0.6) and analysis["cache"]["hit_share"] == 0.75
    steps = [{"clips_per_s": 100.0, "step_ms": 40.0, "data_ms": 0.0, "compute_ms": 40.0} for _ in range(2)]
    (tmp_path / "metrics.jsonl").write_text("".join(json.dumps(step) + "\n" for step in steps))
    log_run(monitor, result)
    assert monitor.get_bottleneck_analysis()["steps"]["count"] == 3
    assert monitor.get_bottleneck_analysis()["steps"]["samples"] == 12


def test_what_cannot_be_is_said(folder: Path, tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="no data set there"):
        LJSpeechDataset(tmp_path / "nowhere", DataConfig())
    with pytest.raises(ValueError, match="subset"):
        LJSpeechDataset(folder, DataConfig(), subset="dev")
    trainer = XTTSTrainer(XTTSConfig(), "tiny")
    with pytest.raises(TypeError, match="create_tf_dataset"):
        trainer.train([1, 2, 3], None)
    with pytest.warns(UserWarning, match="not used"):
        XTTSTrainer(XTTSConfig(), object())
