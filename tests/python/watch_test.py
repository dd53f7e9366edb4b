"""What stoker.watch says of loaders whose times are known."""

from __future__ import annotations

import importlib.util
import math
import statistics
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

watch_module: Any = importlib.import_module("stoker.watch")


class Ticks:
    """A clock that the test moves; the watch asks it in place of the real one."""

    def __init__(self) -> None:
        self.now = 1.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Ticks:
    ticks = Ticks()
    monkeypatch.setattr(watch_module, "perf_counter", ticks)
    return ticks


class Loader:
    """Takes the given time for each batch."""

    batch_size = 16

    def __init__(self, clock: Ticks, waits_s: list[float]) -> None:
        self.clock = clock
        self.waits_s = waits_s

    def __len__(self) -> int:
        return len(self.waits_s)

    def __iter__(self) -> Iterator[int]:
        for i, wait_s in enumerate(self.waits_s):
            self.clock.now += wait_s
            yield i


def run(clock: Ticks, waits_s: list[float], compute_s: float, epochs: int = 1) -> Any:
    with watch_module.watch(Loader(clock, waits_s)) as w:
        for _ in range(epochs):
            for _ in w:
                clock.now += compute_s
    return w


def test_wait_and_compute_are_told_apart(clock: Ticks) -> None:
    report = run(clock, [0.5, *[0.03] * 99], 0.01).report()
    assert report["first_batch_ms"] == pytest.approx(500)
    assert report["wait_ms"]["mean"] == pytest.approx(30)
    assert report["compute_ms"]["mean"] == pytest.approx(10)
    assert report["interval_ms"]["mean"] == pytest.approx(40)
    assert report["stall_share"] == pytest.approx(0.75)
    assert report["cv"] == pytest.approx(0, abs=1e-6)
    assert report["batches_per_s"] == pytest.approx(25)
    assert "the loader is the bottleneck: the loop waits 75 %" in report["verdict"]


@pytest.mark.parametrize(
    ("wait_s", "compute_s", "words"),
    [
        (0.0, 0.01, "keeps up: the loop waits 0.00 %"),
        (0.001, 0.01, "nearly keeps up: the loop waits 9.1 %"),
        (0.1, 0.01, "is the bottleneck: the loop waits 91 %"),
        (0.1, 0.0, "hardly computes, so this is the loader alone: 10 batches/s"),
    ],
)
def test_verdicts(clock: Ticks, wait_s: float, compute_s: float, words: str) -> None:
    w = run(clock, [wait_s] * 50, compute_s)
    assert words in w.verdict()
    assert str(w) == w.verdict()
    assert w.verdict().startswith("Loader: ")
    assert w.verdict().count(".\n") == 0 and w.verdict().endswith(".")


def test_bursts_are_named(clock: Ticks) -> None:
    w = run(clock, [0.2 if i % 8 == 0 else 0.0 for i in range(400)], 0.02)
    assert w.report()["cyclic_lag"] == 8
    assert "unevenly" in w.verdict() and "a cycle of 8 batches" in w.verdict()


@given(st.lists(st.floats(0.0, 2.0), min_size=2, max_size=60), st.floats(0.001, 1.0), st.integers(1, 3))
def test_figures_equal_those_of_the_whole_list(waits_s: list[float], compute_s: float, epochs: int) -> None:
    ticks = Ticks()
    real = watch_module.perf_counter
    watch_module.perf_counter, watch_module._FOLD_AFTER = ticks, 7
    try:
        report = run(ticks, waits_s, compute_s, epochs).report()
    finally:
        watch_module.perf_counter, watch_module._FOLD_AFTER = real, 4096
    later = waits_s[1:] * epochs
    intervals = [wait_s + compute_s for wait_s in later]
    assert report["batches"] == epochs * len(waits_s)
    assert report["epochs"] == epochs
    assert report["first_batch_ms"] == pytest.approx(1e3 * waits_s[0], abs=1e-6)
    assert report["interval_ms"]["mean"] == pytest.approx(1e3 * statistics.fmean(intervals))
    assert report["interval_ms"]["std"] == pytest.approx(1e3 * statistics.pstdev(intervals), abs=1e-6)
    assert report["interval_ms"]["min"] == pytest.approx(1e3 * min(intervals))
    assert report["wait_ms"]["max"] == pytest.approx(1e3 * max(later), abs=1e-6)
    assert report["stall_share"] == pytest.approx(sum(later) / sum(intervals), abs=1e-9)


def test_a_break_leaves_whole_batches_and_the_next_epoch_starts_anew(clock: Ticks) -> None:
    w = watch_module.watch(Loader(clock, [0.03] * 10), name="mine")
    for batch in w:
        clock.now += 0.01
        if batch == 4:
            break
    clock.now += 1000
    assert w.report()["batches"] == 5
    assert w.report()["stall_share"] == pytest.approx(0.75)
    assert [batch for batch in w] == list(range(10))
    assert w.report()["epochs"] == 2
    assert w.report()["wait_ms"]["max"] == pytest.approx(30)
    assert repr(w).startswith("<stoker.watch mine: 15 batches")


def test_errors_of_the_loader_and_of_the_loop_pass_through() -> None:
    def broken() -> Iterator[int]:
        yield 1
        raise OSError("disk")

    w = watch_module.watch(broken())
    with pytest.raises(OSError, match="disk"):
        list(w)
    assert w.report()["batches"] == 1
    with pytest.raises(KeyError), watch_module.watch([1, 2]) as w:
        for _ in w:
            raise KeyError("loop")
    assert "too few" in w.verdict()


def test_what_the_loader_has_is_still_there(clock: Ticks) -> None:
    loader = Loader(clock, [0.0] * 3)
    w = watch_module.watch(loader)
    assert len(w) == 3 and w.batch_size == 16 and bool(w)
    with pytest.raises(AttributeError):
        _ = w.no_such_thing
    with pytest.raises(TypeError):
        len(watch_module.watch(iter([1])))
    assert list(watch_module.watch(iter([1, 2]))) == [1, 2]
    assert not watch_module.watch([])
    assert "no batch" in watch_module.watch([]).verdict()
    w.reset()
    assert w.report()["batches"] == 0


def test_a_batch_costs_two_microseconds_at_most() -> None:
    batches = range(100_000)

    def seconds(loader: Any) -> float:
        begin = time.thread_time()  # what others do on the machine is not the watch's cost
        for _ in loader:
            pass
        return time.thread_time() - begin

    best = min(seconds(watch_module.watch(batches)) - seconds(batches) for _ in range(5))
    assert best / len(batches) < 2e-6


def test_memory_does_not_grow_with_the_number_of_batches() -> None:
    w = watch_module.watch(range(50_000))
    for _ in w:
        pass
    held = [len(series.new) + len(series.recent) for series in (w._waits, w._computes, w._intervals)]
    assert max(held) <= 4096 + 1000
    assert math.isclose(w._waits.count + len(w._waits.new), 49_999)


def test_the_module_needs_nothing_but_the_standard_library() -> None:
    path = Path(watch_module.__file__)
    spec = importlib.util.spec_from_file_location("alone", path)
    assert spec is not None and spec.loader is not None
    before = set(sys.modules)
    spec.loader.exec_module(importlib.util.module_from_spec(spec))
    assert not any(name.startswith(("numpy", "torch", "stoker._engine")) for name in set(sys.modules) - before)
