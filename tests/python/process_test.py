"""A feed among processes and feeds: forked, spawned, several at once, and no thread left behind."""

from __future__ import annotations

import contextlib
import gc
import itertools
import multiprocessing
import os
import pickle
import subprocess
import sys
import threading
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from small_world import World, contents

import stoker
from stoker import _engine


def in_child(work: Callable[[], object]) -> str:
    """Runs `work` in a forked process; returns what it says, or its failure, once it has ended cleanly."""
    source, sink = os.pipe()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        child = os.fork()
    if child == 0:
        try:
            said = str(work())
        except BaseException as error:
            said = f"{type(error).__name__}: {error}"
        os.write(sink, said.encode())
        os._exit(0)
    os.close(sink)
    with os.fdopen(source) as stream:
        said = stream.read()
    begin = time.monotonic()
    while os.waitpid(child, os.WNOHANG) == (0, 0):
        assert time.monotonic() - begin < 20, "the child does not end"
        time.sleep(0.01)
    return said


def test_a_feed_is_refused_in_a_forked_process(world: World) -> None:
    with world.feed(num_workers=2) as feed:
        loop = iter(feed)
        held = next(loop)
        digest = held.content_digest()
        uses: list[Callable[[], object]] = [
            lambda: next(loop),
            lambda: list(feed),
            lambda: len(feed),
            feed.state_dict,
            feed.stats,
            lambda: feed.set_epoch(1),
        ]
        for use in uses:
            said = in_child(use)
            assert said.startswith("UsageError: error[E-FEED-FORK]")
            assert "spawn or forkserver" in said
        assert "of the parent process" in in_child(lambda: repr(feed))
        assert in_child(feed.close) == "None"
        assert in_child(held.release) == "None"
        assert in_child(held.content_digest) == digest
        assert in_child(lambda: (gc.collect(), "collected")[1]) == "collected"
        assert held.content_digest() == digest  # the parent's is still its own
        assert len(contents(loop)) == 9
        assert len(contents(feed)) == 10


def test_a_new_feed_opens_in_a_forked_process(world: World) -> None:
    with world.feed() as feed, world.feed() as other:
        whole = contents(feed)
        assert in_child(lambda: contents(world.feed()) == whole) == "True"
        assert contents(other) == whole


def test_a_process_forked_while_threads_wait_ends_cleanly(world: World) -> None:
    with world.feed(batch_size=1, num_workers=2) as feed:
        ended = threading.Event()

        def take() -> None:
            while not ended.is_set():
                contents(feed)

        thread = threading.Thread(target=take)
        thread.start()
        for _ in range(20):
            assert in_child(lambda: (gc.collect(), feed.close())[1]) == "None"
        ended.set()
        thread.join()


def test_an_interpreter_that_was_forked_exits_cleanly(world: World) -> None:
    done = world.python("""
import os, sys
own = feed(num_workers=2)
loop = iter(own)
held = next(loop)
child = os.fork()
if child == 0:
    sys.exit(7)
assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7
print(len(list(loop)))
""")
    assert (done.returncode, done.stdout, done.stderr) == (0, "9\n", "")


def test_fork_before_the_feed_is_harmless(world: World) -> None:
    done = world.python("""
import os
child = os.fork()
own = feed()
os.write(1, f"{len(list(own))}\\n".encode())
if child == 0:
    raise SystemExit(0)
assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
""")
    assert (done.returncode, done.stdout, done.stderr) == (0, "10\n10\n", "")


def rest_of(feed: stoker.Feed, answers: Any) -> None:
    """In another process: the batches that are left of the epoch."""
    answers.put((contents(feed), feed.epoch))


@pytest.mark.parametrize("method", ["spawn", "forkserver"])
def test_a_feed_goes_on_in_another_process(world: World, method: Any) -> None:
    context = multiprocessing.get_context(method)
    with world.feed() as feed:
        whole = contents(feed)
    with world.feed() as feed:
        loop = iter(feed)
        contents(itertools.islice(loop, 4))
        answers = context.Queue()
        process = context.Process(target=rest_of, args=(feed, answers))
        process.start()
        assert answers.get(timeout=60) == (whole[4:], 1)
        process.join(20)
        assert process.exitcode == 0
        assert contents(loop) == whole[4:]  # the parent's own place


def test_a_pickled_feed_is_the_same_feed(world: World) -> None:
    with world.feed(seed=3, timeout=2.5, **{"data.drop_last": True}) as feed:
        contents(itertools.islice(feed, 4))
        with pickle.loads(pickle.dumps(feed)) as other:
            assert repr(other) == repr(feed)
            assert contents(other) == contents(pickle.loads(pickle.dumps(feed)))


def num_threads() -> int:
    return len(os.listdir("/proc/self/task"))


def thread_names() -> list[str]:
    names = []
    for task in Path("/proc/self/task").iterdir():
        with contextlib.suppress(OSError):  # it has just ended
            names.append((task / "comm").read_text())
    return names


def settled(count: int) -> bool:
    """A thread that was joined may be listed for a moment."""
    begin = time.monotonic()
    while num_threads() > count and time.monotonic() - begin < 5:
        time.sleep(0.01)
    return num_threads() <= count


def test_no_thread_is_left_by_close_or_by_import(world: World) -> None:
    code = "import os, stoker; print(len(os.listdir('/proc/self/task')))"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "1\n"
    before = num_threads()
    for num_workers in (0, 1, 4, None):
        feed = world.feed(num_workers=num_workers)
        held = next(iter(feed))
        assert num_threads() > before or num_workers == 0
        feed.close()
        assert not any(name.startswith("stoker-fill") for name in thread_names())
        assert held.num_rows == 4
        del held  # it keeps the plan of its epoch
        assert settled(before)
    for _ in range(3):  # nobody closes it
        list(itertools.islice(world.feed(num_workers=2), 2))
    gc.collect()
    assert settled(before)


def test_feeds_share_the_cores(world: World) -> None:
    num_cores = _engine.num_cores()
    assert 1 <= num_cores <= len(os.sched_getaffinity(0))
    with world.feed() as alone:
        contents(itertools.islice(alone, 1))
        most = alone.stats()["workers"]
    feeds = [world.feed() for _ in range(4)]
    for feed in feeds:
        contents(itertools.islice(feed, 1))
    together = [feed.stats()["workers"] for feed in feeds]
    assert all(1 <= workers <= most for workers in together)
    assert sum(together) <= max(num_cores, len(feeds))
    for feed in feeds[1:]:
        feed.close()
    assert feeds[0].stats()["workers"] >= together[0]
    chosen = world.feed(num_workers=3)
    assert chosen.stats()["workers"] == 3
    again = pickle.loads(pickle.dumps(feeds[0]))
    assert again.stats()["workers"] + feeds[0].stats()["workers"] <= max(num_cores, 2)
    for feed in (feeds[0], chosen, again):
        feed.close()
