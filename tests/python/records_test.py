"""The records of a feed, read from its file as the page of the format says; what a loop notes is in them."""

from __future__ import annotations

import os
import struct
import time
from pathlib import Path
from typing import Any

import pytest
from small_world import World

import stoker

RECORD_BYTES = 600
WORKS_AT = 416


def records(path: str) -> list[bytes]:
    with open(path, "rb") as file:
        head = file.read(4096)
        magic, version, first, size, stride, places, kept = struct.unpack_from("<8s6I", head)
        assert (magic, version, size) == (b"STKRECS\n", 2, RECORD_BYTES)
        (written,) = struct.unpack_from("<Q", head, 64)
        found = []
        for number in range(max(0, written - kept), written):
            at = first + number % places * stride
            (mark,) = struct.unpack("<Q", os.pread(file.fileno(), 8, at))
            assert mark == 2 * number + 2
            found.append(os.pread(file.fileno(), RECORD_BYTES, at + 8))
        return found


def test_a_loop_notes_what_it_does_beside_its_steps(world: World) -> None:
    with stoker.Feed(world.data, cache=world.cache, num_workers=1, batch_size=4) as feed:
        batches = iter(feed)
        next(batches)
        with feed.note("logging"):
            time.sleep(0.01)
        next(batches)
        path = feed.records
        found = records(path)
        assert [struct.unpack_from("<Q", each)[0] for each in found] == [0, 1]
        noted = [struct.unpack_from("<5q", each, WORKS_AT) for each in found]
        assert noted[0] == (0, 0, 0, 0, 0)
        assert noted[1][0] >= 10_000_000
        assert noted[1][1:] == (0, 0, 0, 0)
        with pytest.raises(ValueError, match="checkpoint"), feed.note("dancing"):
            pass
    assert not Path(path).exists()


def test_records_may_be_off(world: World) -> None:
    off: dict[str, Any] = {"observe.records": False}
    with stoker.Feed(world.data, cache=world.cache, num_workers=1, **off) as feed:
        next(iter(feed))
        with feed.note("logging"):
            pass
        assert feed.records == ""
