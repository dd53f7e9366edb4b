"""Keyword arguments are the settings: names, values of every kind, files, ranks, and what a wrong one is told."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from small_world import World, contents

import stoker
from stoker import _engine
from stoker.settings import declared, keywords_of


def effective(**given: Any) -> dict[str, Any]:
    """The settings as the library understood them."""
    settings: dict[str, Any] = json.loads(_engine.effective_settings("", keywords_of(given)))
    return settings


def test_every_default_reads_back(world: World) -> None:
    """A Python value that is a setting's default, given, changes nothing."""
    defaults = effective()
    for setting in declared():
        default = json.loads(setting["default"])
        if default is None:
            default = "none"
        again = effective(**{setting["path"]: default})
        assert again == defaults, setting["path"]


@pytest.mark.parametrize("value", [True, False, np.bool_(True), np.bool_(False), "true"])
def test_truth_in_any_form(value: Any) -> None:
    assert effective(drop_last=value)["data.drop_last"] is (str(value).lower() != "false")


@pytest.mark.parametrize("value", [7, np.int64(7), np.int32(7), "7"])
def test_whole_numbers_in_any_form(value: Any) -> None:
    assert effective(batch_size=value)["data.batch_size"] == 7


@given(st.floats(min_value=0.0, max_value=86400.0, allow_subnormal=True))
def test_numbers_keep_every_bit(value: float) -> None:
    assert effective(**{"data.stall_limit": value})["data.stall_limit"] == value
    assert effective(**{"data.stall_limit": np.float64(value)})["data.stall_limit"] == value


# What a name in a list, or a value in a group, may be made of: everything but what ends a C string.
TEXT = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), min_size=1, max_size=12)


@given(st.lists(TEXT, max_size=4))
def test_lists_of_any_text(names: list[str]) -> None:
    for given_as in (names, tuple(names)):
        assert effective(**{"data.arrays": given_as})["data.arrays"] == names


@given(st.dictionaries(TEXT, TEXT, max_size=4))
def test_groups_of_any_text(columns: dict[str, str]) -> None:
    assert effective(**{"cache.arrays": columns})["cache.arrays"] == columns


@given(TEXT)
def test_a_path_is_taken_as_it_is(text: str) -> None:
    assert effective(**{"cache.dir": Path("/data") / text})["cache.dir"] == str(Path("/data") / text)
    assert effective(**{"cache.dir": "/data/" + text})["cache.dir"] == "/data/" + text


def test_a_list_of_sources(world: World) -> None:
    sources = [{"data": world.data, "weight": 2.5, "name": "a"}, {"data": "other, place", "name": "b: c"}]
    read = effective(**{"data.sources": sources})["data.sources"]
    assert [source["data"] for source in read] == [str(world.data), "other, place"]
    assert [source["name"] for source in read] == ["a", "b: c"]
    assert read[0]["weight"] == 2.5


def test_none_means_not_given(world: World) -> None:
    assert effective(batch_size=None, shuffle=None) == effective()
    with world.feed(seed=None, num_workers=None, **{"data.drop_last": None}) as feed:
        assert len(feed) == 10


def test_names_people_know(world: World) -> None:
    with world.feed(
        batch_size=16, drop_last=True, shuffle=False, num_workers=2, prefetch_factor=3, pin_memory=True
    ) as f:
        assert len(f) == 2
        assert f.stats()["depth"] == 6
        assert f.stats()["workers"] == 2
        ids = [name for batch in f for name in batch.ids]
    with world.feed(**{"data.batch_size": 40, "shuffle": False}) as feed:
        assert set(ids) < set(next(iter(feed)).ids)


def test_paths_and_texts_name_the_data(world: World) -> None:
    with world.feed(data=world.data) as one, world.feed(data=str(world.data)) as other:
        assert contents(one) == contents(other)


@pytest.mark.parametrize(
    ("wrong", "meant"),
    [
        ("batchsize", "batch_size"),
        ("batch_frame", "batch_frames"),
        ("data.shufle", "data.shuffle"),
        ("num_wokers", "num_workers"),
    ],
)
def test_an_unknown_name_is_told_the_nearest(world: World, wrong: str, meant: str) -> None:
    with pytest.raises(stoker.ConfigError) as refused:
        world.feed(**{wrong: 3})
    assert wrong in str(refused.value)
    assert meant in str(refused.value)
    assert isinstance(refused.value, ValueError)


@pytest.mark.parametrize(
    ("name", "value", "code"),
    [
        ("data.batch_size", "many", "E-CONFIG-VALUE"),
        ("data.batch_size", -3, "E-CONFIG-RANGE"),
        ("data.batch_size", 2.5, "E-CONFIG-VALUE"),
        ("data.shuffle", 2, "E-CONFIG-VALUE"),
        ("data.batch_layout", "heaped", "E-CONFIG-VALUE"),
        ("data.stall_limit", float("nan"), "E-CONFIG-"),
        ("data.stall_limit", float("inf"), "E-CONFIG-"),
        ("data.arrays", {"a": 1}, "E-CONFIG-VALUE"),
        ("cache.arrays", ["a"], "E-CONFIG-VALUE"),
    ],
)
def test_a_wrong_value_is_named_with_its_argument(world: World, name: str, value: Any, code: str) -> None:
    with pytest.raises(stoker.ConfigError) as refused:
        world.feed(**{name: value})
    assert refused.value.code.startswith(code)
    assert name in str(refused.value)
    assert "Feed(" in refused.value.where


def test_a_config_file_comes_before_the_arguments(
    world: World, empty_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = empty_folder / "feed.yaml"
    file.write_text("data:\n  batch_size: 8\n  drop_last: true\n")
    with world.feed(config=file, batch_size=None) as feed:
        assert len(feed) == 5
    with world.feed(config=str(file), batch_size=16) as feed:
        assert len(feed) == 2
    monkeypatch.setenv("STOKER_DATA__BATCH_SIZE", "20")
    with world.feed(config=file, batch_size=None) as feed:
        assert len(feed) == 2
    with pytest.raises(stoker.ConfigError, match="E-CONFIG-FILE") as missing:
        world.feed(config=empty_folder / "nothing.yaml")
    assert missing.value.path == str(empty_folder / "nothing.yaml")


def ids_of(feed: stoker.Feed) -> list[tuple[str, ...]]:
    with feed:
        return [batch.ids for batch in feed]


@pytest.mark.parametrize("launcher", ["arguments", "torchrun", "slurm", "mpi"])
def test_ranks_share_every_batch(world: World, launcher: str, monkeypatch: pytest.MonkeyPatch) -> None:
    names = {
        "torchrun": ("RANK", "WORLD_SIZE"),
        "slurm": ("SLURM_PROCID", "SLURM_NTASKS"),
        "mpi": ("OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"),
    }
    whole = ids_of(world.feed(batch_size=4))
    shares = []
    for rank in range(2):
        arguments = {}
        if launcher == "arguments":
            arguments = {"rank": rank, "world_size": 2}
        else:
            monkeypatch.setenv(names[launcher][0], str(rank))
            monkeypatch.setenv(names[launcher][1], "2")
        shares.append(ids_of(world.feed(batch_size=4, **arguments)))
    assert len(shares[0]) == len(shares[1]) == len(whole)
    for first, second, both in zip(*shares, whole, strict=True):
        assert len(first) == len(second) == 2
        assert sorted(first + second) == sorted(both)


def test_arguments_go_before_the_launcher(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = ids_of(world.feed())
    monkeypatch.setenv("RANK", "1")
    monkeypatch.setenv("WORLD_SIZE", "2")
    assert ids_of(world.feed(rank=0, world_size=1)) == whole
    with pytest.raises(stoker.ConfigError, match="E-FEED-RANKS"):
        world.feed(rank=2)


def test_settings_are_in_the_help() -> None:
    assert "batch_frames: Mel frames a batch over all ranks" in str(stoker.Feed.__doc__)
