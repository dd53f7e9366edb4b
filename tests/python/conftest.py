"""Data for every test of the package, made once a run by the command; and an environment without ranks."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import settings
from small_world import ENVIRONMENT_OF_RANKS, World, open_world

settings.register_profile("stoker", deadline=None, derandomize=True, database=None)
settings.load_profile("stoker")


@pytest.fixture(scope="session")
def world(tmp_path_factory: pytest.TempPathFactory) -> World:
    """Forty short clips of two speakers, and their cache."""
    return open_world(tmp_path_factory.mktemp("world"), num_clips=40)


@pytest.fixture(autouse=True)
def no_ranks_from_outside(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """What a launcher or a user's shell has set would decide what a feed does."""
    for name in list(os.environ):
        if name in ENVIRONMENT_OF_RANKS or (name.startswith("STOKER_") and "__" in name):
            monkeypatch.delenv(name)
    yield


@pytest.fixture
def empty_folder(tmp_path: Path) -> Path:
    """A folder with nothing in it."""
    return tmp_path
