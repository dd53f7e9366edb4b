"""A feed waits rather than overwrite what is held, and says which batches are and where they were taken."""

from __future__ import annotations

import inspect
import logging
import threading
import time

import pytest
from small_world import NARROW, World, batch_digest, held_up

import stoker


def line_of_next() -> int:
    """Of the `for` in held_up()."""
    lines, first = inspect.getsourcelines(held_up)
    return first + next(i for i, line in enumerate(lines) if "for batch in loop" in line)


def test_the_feed_waits_and_goes_on_when_one_comes_back(world: World) -> None:
    with world.feed(timeout=0.3, **NARROW) as feed:
        loop, held = held_up(feed)
        taken = [batch_digest(batch) for batch in held]
        feed_place = feed.state_dict()
        timer = threading.Timer(0.1, lambda: held.pop(0).release())
        timer.start()
        batch = next(loop)
        timer.join()
        assert [batch_digest(each) for each in held] == taken[1:]
        assert batch_digest(batch) not in taken
        assert feed.state_dict() != feed_place


def test_after_five_seconds_a_warning_names_them(world: World, caplog: pytest.LogCaptureFixture) -> None:
    """While the call still waits, and once."""
    seen_s: list[float] = []
    with world.feed(timeout=6.0, **NARROW) as feed, caplog.at_level(logging.WARNING, "stoker"):

        def look() -> None:
            begin = time.monotonic()
            while not caplog.records and time.monotonic() - begin < 10:
                time.sleep(0.05)
            seen_s.append(time.monotonic() - begin)

        thread = threading.Thread(target=look)
        thread.start()
        _, held = held_up(feed)
        thread.join()
        assert 4.5 < seen_s[0] < 5.9
    (record,) = caplog.records
    assert record.name == "stoker"
    text = record.getMessage()
    assert f"{len(held)} batches are held" in text
    for index in range(len(held)):
        assert f"epoch 0 batch {index} (taken at " in text
    assert f"small_world.py:{line_of_next()})" in text


def test_the_stall_limit_ends_the_wait_and_names_them(world: World) -> None:
    with world.feed(**NARROW, **{"data.stall_limit": 1.0}) as feed:
        held = []
        begin = time.monotonic()
        with pytest.raises(stoker.UsageError) as stalled:
            for batch in feed:
                held.append(batch)
        assert 0.5 < time.monotonic() - begin < 10
        error = stalled.value
        assert error.code == "E-PIPE-LEASES"
        assert f"{len(held)} batches are held" in error.found
        assert "epoch 0 batch 0 (taken at " in error.found
        assert "held_batches_test.py:" in error.found
        assert error.help


def test_without_workers_holding_all_is_refused_at_once(world: World) -> None:
    with world.feed(**{**NARROW, "num_workers": 0}) as feed:
        held = []
        begin = time.monotonic()
        with pytest.raises(stoker.UsageError, match="E-PIPE-LEASES"):
            for batch in feed:
                held.append(batch)
        assert time.monotonic() - begin < 5
        assert held


def test_tensors_hold_their_batch_in_the_list(world: World) -> None:
    with world.feed() as feed:
        loop = iter(feed)
        batch = next(loop)
        mel = batch.mel
        view = batch.tokens.numpy()
        batch.release()
        assert len(feed.stats()["held"]) == 1
        del mel
        assert len(feed.stats()["held"]) == 1
        del view, batch
        assert feed.stats()["held"] == []
