"""Failures of the library as exceptions: class by kind, code, place, cure; whole in another process."""

from __future__ import annotations

import copy
import os
import pickle
import shutil
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import pytest
from small_world import NARROW, World, contents

import stoker
from stoker import errors

KINDS = [
    (2, stoker.ConfigError, ValueError),
    (3, stoker.DataError, Exception),
    (4, stoker.StorageError, OSError),
    (5, stoker.OutOfMemory, MemoryError),
    (6, stoker.GpuError, RuntimeError),
    (7, stoker.LockError, Exception),
]


def made(exit_code: int, code: str = "E-SOME-CODE") -> stoker.StokerError:
    parts = {"path": "a/b.wav", "where": "a/b.wav:3:4 @12", "promised": "more", "found": "less", "help": "do it"}
    return errors.make(code=code, exit_code=exit_code, message="error[E-SOME-CODE] less", **parts)


@pytest.mark.parametrize(("exit_code", "kind", "builtin"), KINDS)
def test_the_class_says_the_kind(exit_code: int, kind: type, builtin: type) -> None:
    error = made(exit_code)
    assert error.exit_code == exit_code
    assert str(error) == "error[E-SOME-CODE] less\nhelp: do it"
    assert kind is type(error)
    assert issubclass(kind, builtin)


@pytest.mark.parametrize("exit_code", [kind[0] for kind in KINDS])
def test_an_error_survives_pickling_and_copying(exit_code: int) -> None:
    error = made(exit_code)
    copies = [copy.copy(error), copy.deepcopy(error)]
    copies += [pickle.loads(pickle.dumps(error, protocol)) for protocol in range(pickle.HIGHEST_PROTOCOL + 1)]
    for other in copies:
        assert type(other) is type(error)
        assert vars(other) == vars(error)
        assert str(other) == str(error)
        assert other.args == error.args


def test_missing_data_is_a_storage_error(world: World, empty_folder: Path) -> None:
    with pytest.raises(stoker.StorageError) as missing:
        world.feed(data=empty_folder / "nowhere")
    error = missing.value
    assert error.code == "E-IO-MISSING"
    assert error.path == error.where == str(empty_folder / "nowhere")
    assert error.help
    assert error.exit_code == 4


def test_an_empty_folder_is_a_data_error(empty_folder: Path) -> None:
    with pytest.raises(stoker.DataError) as empty:
        stoker.Feed(empty_folder)
    assert empty.value.exit_code == 3
    assert str(empty_folder) in str(empty.value)


def test_a_damaged_state_is_refused_and_changes_nothing(world: World) -> None:
    with world.feed() as feed, world.feed() as twin:
        for state in ({"stoker": "nonsense"}, {"stoker": ""}, {"stoker": feed.state_dict()["stoker"][:-9]}):
            with pytest.raises(stoker.ConfigError, match="E-FEED-STATE"):
                feed.load_state_dict(state)
            with pytest.raises(stoker.ConfigError, match="E-FEED-STATE"):
                world.feed(state=state)
        nothing: Any
        for nothing in ({}, {"other": 1}, None, 3):
            with pytest.raises(ValueError, match="state_dict"):
                feed.load_state_dict(nothing)
        assert contents(feed) == contents(twin)


def test_the_state_of_other_settings_is_refused(world: World) -> None:
    with world.feed(seed=1) as feed:
        state = feed.state_dict()
    with world.feed(seed=2) as other, pytest.raises(stoker.DataError, match="E-FEED-CHANGED") as changed:
        other.load_state_dict(state)
    assert changed.value.code == "E-FEED-CHANGED"


def test_a_file_that_turns_bad_is_named(world: World, empty_folder: Path) -> None:
    shutil.copytree(world.data, empty_folder / "data", ignore=shutil.ignore_patterns(".stoker"))
    where = {"data": empty_folder / "data", "cache": empty_folder / "cache", "cache.content": "mel"}
    # A wide feed may hold every batch of the loop below before the first file is cut short.
    with world.feed(**where, **NARROW, **{"data.preprocessing_mode": "runtime", "data.bad_inputs": "fail"}) as feed:
        for wav in sorted((empty_folder / "data" / "wavs").iterdir()):
            os.truncate(wav, 20)
        with pytest.raises(stoker.StokerError) as bad:
            contents(feed)
    assert bad.value.path.endswith(".wav")
    assert bad.value.where.startswith(bad.value.path)
    assert bad.value.help


def fail_elsewhere(folder: str) -> None:
    """In another process, whose exceptions are pickled."""
    stoker.Feed(Path(folder) / "nowhere")


def test_an_error_of_another_process_arrives_whole(empty_folder: Path) -> None:
    with (
        ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool,
        pytest.raises(stoker.StorageError) as missing,
    ):
        pool.submit(fail_elsewhere, str(empty_folder)).result(60)
    assert missing.value.path == str(empty_folder / "nowhere")
    assert missing.value.help
