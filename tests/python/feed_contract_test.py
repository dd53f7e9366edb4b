"""What a program may rely on of a Feed: loops, epochs, places, waiting, closing, what it says of itself."""

from __future__ import annotations

import contextlib
import gc
import itertools
import operator
import threading
import time
from collections.abc import Callable
from typing import Any

import pytest
from small_world import NARROW, World, contents, held_up

import stoker


def test_a_loop_is_an_epoch_and_len_counts_it(world: World) -> None:
    with world.feed() as feed:
        assert len(feed) == 10
        first, second = contents(feed), contents(feed)
        assert len(first) == len(second) == 10
        assert first != second  # shuffled anew
        assert feed.num_rows == 40
        assert feed.epoch == 2


def test_two_feeds_give_the_same_and_another_seed_does_not(world: World) -> None:
    def epoch(**more: Any) -> list[str]:
        with world.feed(**more) as feed:
            return list(contents(feed))

    assert epoch(seed=5) == epoch(seed=5, num_workers=2) != epoch(seed=6)


def test_places_are_those_of_the_epoch(world: World) -> None:
    with world.feed() as feed:
        for epoch in range(2):
            places = [(batch.epoch, batch.index, batch.is_last) for batch in feed]
            assert places == [(epoch, index, index == 9) for index in range(10)]


def test_a_broken_loop_is_followed_by_the_next_epoch(world: World) -> None:
    with world.feed() as feed:
        whole = [contents(feed) for _ in range(3)]
    for taken in (1, 4, 10):  # ten: the last batch came, the end did not
        with world.feed() as feed:
            list(itertools.islice(feed, taken))
            gc.collect()
            assert contents(feed) == whole[1], taken
            assert contents(feed) == whole[2], taken


def test_a_loop_that_took_nothing_is_begun_again(world: World) -> None:
    with world.feed() as feed:
        iter(feed)
        assert [batch.epoch for batch in feed] == [0] * 10


def test_an_ended_loop_stays_ended(world: World) -> None:
    with world.feed() as feed:
        loop = iter(feed)
        assert len(contents(loop)) == 10
        assert next(loop, None) is None
        assert next(loop, None) is None
        assert feed.epoch == 1


def test_set_epoch_goes_to_an_epoch_from_any_place(world: World) -> None:
    with world.feed() as feed:
        whole = [contents(feed) for _ in range(4)]
    with world.feed() as feed:
        feed.set_epoch(3)
        assert contents(feed) == whole[3]
        feed.set_epoch(1)
        next(iter(feed)).release()
        feed.set_epoch(1)  # from within it: from its beginning
        assert contents(feed) == whole[1]
        for epoch in range(3):  # as with a sampler
            feed.set_epoch(epoch)
            assert contents(feed) == whole[epoch]


def test_set_epoch_keeps_a_restored_place_of_that_epoch(world: World) -> None:
    with world.feed() as feed:
        whole = contents(feed)
    with world.feed() as feed:
        contents(itertools.islice(feed, 3))
        state = feed.state_dict()
    with world.feed(state=state) as feed:
        feed.set_epoch(0)
        assert contents(feed) == whole[3:]


def test_the_older_of_two_loops_is_refused(world: World) -> None:
    with world.feed() as feed:
        older = iter(feed)
        next(older).release()
        newer = iter(feed)
        with pytest.raises(stoker.UsageError, match="E-FEED-ITERATION") as refused:
            next(older)
        assert refused.value.code == "E-FEED-ITERATION"
        assert len(contents(newer)) == 10
        loop = iter(feed)
        feed.load_state_dict(feed.state_dict())
        with pytest.raises(stoker.UsageError, match="E-FEED-ITERATION"):
            next(loop)


def test_a_wait_ends_with_the_timeout_and_goes_on_later(world: World) -> None:
    with world.feed(batch_size=1) as feed:
        whole = contents(feed)
    with world.feed(timeout=0.3, **NARROW) as feed:
        loop, held = held_up(feed)
        begin = time.monotonic()
        with pytest.raises(TimeoutError) as late:
            next(loop)
        assert 0.25 < time.monotonic() - begin < 5
        error = late.value
        assert isinstance(error, stoker.FeedTimeout)
        assert error.code == "E-FEED-TIMEOUT"
        assert "300 ms" in error.promised
        assert "timeout" in error.help
        first = contents(held)
        assert first + contents(loop) == whole  # no batch was lost by the late calls


def test_a_timeout_below_zero_is_refused(world: World) -> None:
    with pytest.raises(ValueError, match="timeout"):
        world.feed(timeout=-1)


def test_close_from_another_thread_ends_a_wait(world: World) -> None:
    feed = world.feed(timeout=0.2, **NARROW)
    _, held = held_up(feed)
    feed._timeout_s = 0.0
    found: list[BaseException] = []

    def wait() -> None:
        try:
            list(feed)
        except BaseException as error:
            found.append(error)

    thread = threading.Thread(target=wait)
    thread.start()
    time.sleep(0.2)
    begin = time.monotonic()
    feed.close()
    thread.join(5)
    assert not thread.is_alive()
    assert time.monotonic() - begin < 2
    assert isinstance(found[0], stoker.UsageError)
    assert found[0].code == "E-FEED-CLOSED"
    assert len({batch.content_digest() for batch in held}) == len(held)  # still there


def test_whatever_threads_call_while_one_waits_is_refused_or_answered(world: World) -> None:
    """Nothing but a refusal may come of a second thread, whatever it asks for."""
    calls: list[Callable[[stoker.Feed], Any]] = [
        lambda feed: next(iter(feed)),
        lambda feed: feed.set_epoch(3),
        lambda feed: feed.load_state_dict({"stoker": state}),
        lambda feed: feed.state_dict(),
        lambda feed: feed.stats(),
        repr,
        len,
    ]
    with world.feed() as other:
        state = other.state_dict()["stoker"]
    feed = world.feed(timeout=0.2, **NARROW)
    loop, held = held_up(feed)
    ended = threading.Event()

    def wait() -> None:
        while not ended.is_set():
            with contextlib.suppress(stoker.FeedTimeout, stoker.UsageError):
                next(loop)

    thread = threading.Thread(target=wait)
    thread.start()
    codes = set()
    for call in calls * 30:
        try:
            call(feed)
        except stoker.StokerError as error:
            codes.add(error.code)
    ended.set()
    thread.join()
    assert codes <= {"E-FEED-ITERATION", "E-FEED-TIMEOUT", "E-FEED-CHANGED"}
    assert "E-FEED-ITERATION" in codes
    assert held
    feed.close()


def test_stats_and_close_from_many_threads(world: World) -> None:
    for _ in range(20):
        feed = world.feed()
        loop = iter(feed)
        next(loop)

        def ask(feed: stoker.Feed = feed) -> None:
            with contextlib.suppress(stoker.UsageError):
                while True:
                    feed.stats()
                    len(feed)

        def end(feed: stoker.Feed = feed) -> None:
            feed.close()

        threads = [threading.Thread(target=job) for job in (ask, ask, end, end)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(10)
            assert not thread.is_alive()


def test_a_closed_feed_says_so_and_may_be_closed_again(world: World) -> None:
    with world.feed() as feed:
        batch = next(iter(feed))
    feed.close()
    assert "closed" in repr(feed)
    assert str(world.data) in repr(feed)
    for call in (iter, len, stoker.Feed.state_dict, stoker.Feed.stats):
        with pytest.raises(stoker.UsageError, match="E-FEED-CLOSED") as refused:
            call(feed)
        assert refused.value.code == "E-FEED-CLOSED"
    assert batch.num_rows == 4
    assert batch.mel.numpy().shape[0] == 4


def test_the_context_manager_closes_after_an_exception(world: World) -> None:
    with pytest.raises(KeyError), world.feed() as feed:
        raise KeyError("something else")
    assert "closed" in repr(feed)


def test_repr_says_where_it_is(world: World) -> None:
    with world.feed() as feed:
        assert repr(feed) == f"stoker.Feed({str(world.data)!r}, 10 batches, at epoch 0 batch 0)"
        loop = iter(feed)
        batch = next(loop)
        assert "at epoch 0 batch 1" in repr(feed)
        assert repr(batch).startswith("stoker.Batch(epoch 0, batch 0, mel=(4, ")
        batch.release()
        assert repr(batch) == "stoker.Batch(released)"


def test_stats_count_what_was_given(world: World) -> None:
    with world.feed(num_workers=2) as feed:
        loop = iter(feed)
        held = [next(loop), next(loop)]
        stats = feed.stats()
        assert stats["batches"] == 2
        assert stats["clips"] == 8
        assert stats["workers"] == 2
        assert stats["buffer_bytes"] > 0
        assert [(each["epoch"], each["batch"]) for each in stats["held"]] == [(0, 0), (0, 1)]
        assert all("feed_contract_test.py:" in each["taken"] for each in stats["held"])
        held.clear()
        assert feed.stats()["held"] == []
        assert [shape[0] for shape in feed.shapes] == [4] * len(feed.shapes)


def test_length_hint_counts_down(world: World) -> None:
    with world.feed() as feed:
        loop = iter(feed)
        hints = [operator.length_hint(loop)] + [operator.length_hint(loop) for _ in loop]
        assert hints == list(range(10, -1, -1))
        assert operator.length_hint(loop) == 0
