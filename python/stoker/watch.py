"""Diagnoses any loader from the outside: how long the loop waits for batches, how evenly they come, and what follows.

The times are those of the thread that iterates. A loop that hands work to a GPU and does not wait for it spends the
GPU's time where it waits next, which is then also what this sees.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Iterable, Iterator
from time import perf_counter
from types import TracebackType
from typing import Any, Generic, TypeVar

T = TypeVar("T")

_FOLD_AFTER = 4096
_KEPT = 1000
_LOADER_BOUND_SHARE = 0.3
_KEEPS_UP_SHARE = 0.005
_UNEVEN_CV = 0.3
_EVEN_CV = 0.05
_NO_COMPUTE_SHARE = 0.95


def cyclic_lag(values: list[float]) -> int:
    """The lag from 2 to 19 at which the values repeat themselves most, 0 where they do not."""
    count = len(values)
    if count < 38:
        return 0
    mean = sum(values) / count
    centred = [value - mean for value in values]
    squares = sum(value * value for value in centred)
    if squares <= 0:
        return 0
    best, best_lag = max(0.3, 4 / math.sqrt(count)), 0
    for lag in range(2, 20):
        found = sum(a * b for a, b in zip(centred, centred[lag:], strict=False)) / squares
        if found > best:
            best, best_lag = found, lag
    return best_lag


class _Series:
    """Mean, deviation and extremes of many times; new ones are only appended and summed up later."""

    def __init__(self) -> None:
        self.new: list[float] = []
        self.recent: deque[float] = deque(maxlen=_KEPT)
        self.count = 0
        self.mean = 0.0
        self.least = math.inf
        self.most = 0.0
        self._squares = 0.0

    def fold(self) -> None:
        """Sums up what was appended since the last call."""
        new = self.new
        if not new:
            return
        count, total = len(new), self.count + len(new)
        mean = sum(new) / count
        between = mean - self.mean
        self._squares += sum((value - mean) ** 2 for value in new) + between * between * self.count * count / total
        self.mean += between * count / total
        self.count = total
        self.least = min(self.least, *new)
        self.most = max(self.most, *new)
        self.recent.extend(new)
        new.clear()

    @property
    def sum(self) -> float:
        return self.mean * self.count

    @property
    def std(self) -> float:
        return math.sqrt(self._squares / self.count) if self.count else 0.0

    @property
    def cv(self) -> float:
        return self.std / self.mean if self.mean > 0 else 0.0

    def report_ms(self) -> dict[str, float]:
        least = self.least if self.count else 0.0
        figures = {"mean": self.mean, "std": self.std, "min": least, "max": self.most}
        return {name: 1e3 * value for name, value in figures.items()}


class Watch(Generic[T]):
    """A loader with a clock on it: iterate it in place of the loader, then ask for `verdict()` or `report()`."""

    def __init__(self, loader: Iterable[T], name: str | None = None) -> None:
        self._loader = loader
        self._name = name if name is not None else type(loader).__name__
        self.reset()

    def reset(self) -> None:
        """Forgets every figure."""
        self._waits = _Series()
        self._computes = _Series()
        self._intervals = _Series()
        self._first = _Series()
        self._num_batches = 0

    def __iter__(self) -> Iterator[T]:
        clock = perf_counter
        asked = clock()
        source = iter(self._loader)
        got = 0.0
        for batch in source:
            last, got = got, clock()
            if last:
                self._waits.new.append(got - asked)
                self._intervals.new.append(got - last)
            else:
                self._first.new.append(got - asked)
            self._num_batches += 1
            yield batch
            asked = clock()
            self._computes.new.append(asked - got)
            if len(self._computes.new) >= _FOLD_AFTER:
                self._fold()

    def __len__(self) -> int:
        return len(self._loader)  # type: ignore[arg-type]

    def __bool__(self) -> bool:
        return bool(self._loader)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        return getattr(self._loader, name)

    def __enter__(self) -> Watch[T]:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._fold()

    def _fold(self) -> None:
        for series in (self._waits, self._computes, self._intervals, self._first):
            series.fold()

    @property
    def stall_share(self) -> float:
        """The share of the loop's time, from the first batch on, in which it waited for the next one."""
        self._fold()
        return self._waits.sum / self._intervals.sum if self._intervals.sum > 0 else 0.0

    def verdict(self) -> str:
        """One sentence: does the loader keep up, and do batches come evenly?"""
        share = self.stall_share
        if self._num_batches == 0:
            return f"{self._name}: no batch was taken yet."
        if self._intervals.count == 0:
            return f"{self._name}: one batch is too few for a verdict."
        times = f"{1e3 * self._waits.mean:.3g} ms of waiting and {1e3 * self._computes.mean:.3g} ms of compute a batch"
        if share > _NO_COMPUTE_SHARE:
            rate = 1 / self._intervals.mean
            text = f"the loop hardly computes, so this is the loader alone: {rate:.4g} batches/s"
        elif share > _LOADER_BOUND_SHARE:
            text = f"the loader is the bottleneck: the loop waits {100 * share:.0f} % of its time ({times})"
        elif share > _KEEPS_UP_SHARE:
            text = f"the loader nearly keeps up: the loop waits {100 * share:.1f} % of its time ({times})"
        else:
            text = f"the loader keeps up: the loop waits {100 * share:.2f} % of its time ({times})"
        return f"{self._name}: {text}{self._evenness()}."

    def _evenness(self) -> str:
        cv, lag = self._intervals.cv, self._cycle()
        if cv <= _UNEVEN_CV:
            return f", in bursts of {lag} batches" if lag else ""
        return f"; batches come unevenly (std/mean {cv:.2f}{f', a cycle of {lag} batches' if lag else ''})"

    def _cycle(self) -> int:
        return cyclic_lag(list(self._intervals.recent)) if self._intervals.cv > _EVEN_CV else 0

    def report(self) -> dict[str, Any]:
        """Every figure behind the verdict; times in milliseconds."""
        share = self.stall_share
        return {
            "name": self._name,
            "epochs": self._first.count,
            "batches": self._num_batches,
            "first_batch_ms": 1e3 * self._first.mean,
            "wait_ms": self._waits.report_ms(),
            "compute_ms": self._computes.report_ms(),
            "interval_ms": self._intervals.report_ms(),
            "cv": self._intervals.cv,
            "stall_share": share,
            "cyclic_lag": self._cycle(),
            "batches_per_s": 1 / self._intervals.mean if self._intervals.mean > 0 else 0.0,
            "verdict": self.verdict(),
        }

    def __str__(self) -> str:
        return self.verdict()

    def _repr_html_(self) -> str:
        from stoker.report import verdict_html  # this file works alone

        figures = {
            "batches": f"{self._num_batches:,}",
            "waiting": f"{100 * self.stall_share:.1f} % of the time",
            "a batch": f"{1e3 * self._intervals.mean:.3g} ms",
            "std/mean": f"{self._intervals.cv:.2f}",
        }
        return verdict_html(self.verdict(), figures)

    def __repr__(self) -> str:
        return f"<stoker.watch {self._name}: {self._num_batches} batches, {100 * self.stall_share:.1f} % waiting>"


def watch(loader: Iterable[T], name: str | None = None) -> Watch[T]:
    """Wraps any iterable; `with watch(loader) as w:` reads well, and `for batch in watch(loader)` works too."""
    return Watch(loader, name)
