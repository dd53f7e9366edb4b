"""A wait for a batch keeps nobody else waiting: other threads run, Ctrl-C ends it, the program goes on."""

from __future__ import annotations

import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest
from small_world import NARROW, World, contents, held_up

import stoker


def test_other_threads_run_while_one_waits(world: World) -> None:
    with world.feed(timeout=0.5, **NARROW) as feed:
        loop, held = held_up(feed)
        count = 0
        ended = threading.Event()

        def work() -> None:
            nonlocal count
            while not ended.is_set():
                count += 1
                time.sleep(0.001)

        thread = threading.Thread(target=work)
        thread.start()
        with pytest.raises(stoker.FeedTimeout):
            next(loop)
        ended.set()
        thread.join()
        assert count > 50  # of 0.5 s
        assert held


def test_opening_keeps_no_thread_waiting(world: World) -> None:
    gaps = []
    ended = threading.Event()

    def work() -> None:
        last = time.monotonic()
        while not ended.is_set():
            time.sleep(0.001)
            now = time.monotonic()
            gaps.append(now - last)
            last = now

    thread = threading.Thread(target=work)
    thread.start()
    for _ in range(10):
        with world.feed() as feed:
            contents(feed)
    ended.set()
    thread.join()
    assert len(gaps) > 20


def test_a_handler_runs_and_the_wait_goes_on(world: World) -> None:
    """A signal whose handler returns ends nothing."""
    calls = []
    before = signal.signal(signal.SIGALRM, lambda *_: calls.append(time.monotonic()))
    try:
        with world.feed(timeout=0.5, **NARROW) as feed:
            loop, held = held_up(feed)
            begin = time.monotonic()
            signal.setitimer(signal.ITIMER_REAL, 0.1)
            with pytest.raises(stoker.FeedTimeout):
                next(loop)
            assert time.monotonic() - begin > 0.45
            assert calls[0] - begin < 0.35
            assert held
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def test_an_exception_of_a_handler_loses_no_batch(world: World) -> None:
    with world.feed(batch_size=1) as feed:
        whole = contents(feed)

    def interrupt(*_: object) -> None:
        raise InterruptedError("now")

    before = signal.signal(signal.SIGALRM, interrupt)
    try:
        with world.feed(timeout=0.5, **NARROW) as feed:
            loop, held = held_up(feed)
            digests = []
            for _ in range(5):
                with pytest.raises(InterruptedError):
                    signal.setitimer(signal.ITIMER_REAL, 0.08)
                    next(loop)
                digests += contents([held.pop(0)])
                held.append(next(loop))
            assert digests + contents(held) + contents(loop) == whole
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


WAITING = """
import sys, time
sys.path.insert(0, sys.argv[1])
from pathlib import Path
from small_world import NARROW, World, held_up
world = World(Path(sys.argv[2]), Path(sys.argv[3]))
feed = world.feed(timeout=0.3, **NARROW, **{"data.stall_limit": 0})
loop, held = held_up(feed)
feed._timeout_s = 0.0
if sys.argv[4] == "again":
    feed.load_state_dict(feed.state_dict())
print("waits", flush=True)
try:
    if sys.argv[4] == "again":
        held += list(feed)
    else:
        while True:
            try:
                next(loop)
            except TimeoutError:
                pass
except KeyboardInterrupt:
    print(time.monotonic(), flush=True)
held.clear()
print(feed.epoch, flush=True)
"""


def interrupted_after_s(world: World, how: str) -> float:
    """Runs the program above to its wait, interrupts it, and returns how long the exception took."""
    command = [sys.executable, "-B", "-c", WAITING, str(Path(__file__).parent), str(world.program), str(world.folder)]
    program = subprocess.Popen([*command, how], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert program.stdout is not None
    assert program.stdout.readline() == "waits\n"
    time.sleep(0.5)
    begin = time.monotonic()
    program.send_signal(signal.SIGINT)
    out, err = program.communicate(timeout=20)
    ended, epoch = out.splitlines()
    assert epoch == "0"
    assert (program.returncode, err) == (0, "")
    return float(ended) - begin


@pytest.mark.parametrize("how", ["again", "loop"])
def test_control_c_ends_a_wait_at_once(world: World, how: str) -> None:
    took_s: list[float] = []
    while len(took_s) < 3 and min(took_s, default=1.0) >= 0.2:  # the machine may have other work
        took_s.append(interrupted_after_s(world, how))
    assert min(took_s) < 0.2, took_s
