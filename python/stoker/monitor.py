"""A training loop tells the monitor what it does; the monitor says whether data, compute or the machine holds it up."""

from __future__ import annotations

import json
import os
from time import perf_counter
from types import TracebackType
from typing import Any

from stoker import _engine
from stoker.report import verdict_html


class OperationTimer:
    """Adds the time of a `with` block to its operation, also when the block raises."""

    __slots__ = ("_begin", "_monitor", "_name")

    def __init__(self, monitor: PerformanceMonitor, name: str) -> None:
        self._monitor = monitor
        self._name = name
        self._begin = 0.0

    def __enter__(self) -> OperationTimer:
        self._begin = perf_counter()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._monitor.log_operation(self._name, perf_counter() - self._begin)


class PerformanceMonitor:
    """Keeps the last `history_size` steps and operations, and reads the machine every `monitor_interval` seconds.

    Thread-safe, and of bounded memory however long it runs. Readings are taken by `start_monitoring()` in the
    background or one at a time by `sample()`. `gpu` counts as nvidia-smi does.
    """

    def __init__(self, monitor_interval: float = 1.0, history_size: int = 1000, gpu: int = 0) -> None:
        if not 0 < monitor_interval < 86_400:
            raise ValueError(f"expected a monitor_interval between 0 and 86,400 seconds, found {monitor_interval}")
        if not 0 < history_size <= 1_000_000:
            raise ValueError(f"expected a history_size from 1 to 1,000,000, found {history_size}")
        self.monitor_interval = monitor_interval
        self.history_size = history_size
        self.gpu = gpu
        self._open()

    def _open(self) -> None:
        self._process = os.getpid()
        self._engine = _engine.PerformanceMonitor(self.history_size, self.monitor_interval, self.gpu)

    def _here(self) -> _engine.PerformanceMonitor:
        """The engine's monitor; a forked child begins with its own, as the parent's threads are not there."""
        if self._process != os.getpid():
            self._open()
        return self._engine

    def time_operation(self, operation_name: str) -> OperationTimer:
        """A context manager that adds the time of its block to the operation of that name."""
        return OperationTimer(self, operation_name)

    def log_operation(self, operation_name: str, run_s: float) -> None:
        """Adds one run of an operation that was timed elsewhere."""
        if not self._here().log_operation(operation_name, run_s):
            raise ValueError(f"expected a time of {operation_name} in seconds, 0 or more; found {run_s}")

    def log_step_timing(self, data_time: float, compute_time: float, batch_size: int) -> None:
        """Adds one step: seconds that it waited for its batch, seconds of compute, utterances in the batch."""
        if not self._here().log_step_timing(data_time, compute_time, batch_size):
            raise ValueError(f"expected two times in seconds, 0 or more; found {data_time} and {compute_time}")

    def record_cache_hit(self, count: int = 1) -> None:
        """Counts records that were found in the cache."""
        self._here().count_cache_hits(count)

    def record_cache_miss(self, count: int = 1) -> None:
        """Counts records that had to be computed."""
        self._here().count_cache_misses(count)

    def sample(self) -> None:
        """Takes one reading of processor, memory and GPU now."""
        self._here().sample_now()

    def start_monitoring(self) -> None:
        """Takes a reading now, and from then on one every `monitor_interval` in the background."""
        engine = self._here()
        if not engine.is_sampling:
            engine.sample_now()
            engine.start_sampling()

    def stop_monitoring(self) -> None:
        """Ends the background readings; what was measured stays."""
        self._here().stop_sampling()

    @property
    def is_monitoring(self) -> bool:
        """Whether readings are taken in the background."""
        return bool(self._here().is_sampling)

    def get_bottleneck_analysis(self) -> dict[str, Any]:
        """Verdict, shares of data and compute, `bottlenecks` with `recommendations`, and the figures behind them."""
        analysis: dict[str, Any] = json.loads(self._here().report_json())
        return analysis

    def get_summary_report(self) -> str:
        """The same as text for people."""
        return str(self._here().summary_report())

    def reset(self) -> None:
        """Forgets every figure; background readings go on."""
        self._here().reset()

    def __enter__(self) -> PerformanceMonitor:
        self.start_monitoring()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop_monitoring()

    def _repr_html_(self) -> str:
        analysis = self.get_bottleneck_analysis()
        figures = {
            finding["name"]: advice
            for finding, advice in zip(analysis["findings"], analysis["recommendations"], strict=True)
        }
        return verdict_html(analysis["sentence"], {"steps": f"{analysis['steps']['count']:,}", **figures})

    def __repr__(self) -> str:
        analysis = self.get_bottleneck_analysis()
        return f"<stoker.PerformanceMonitor: {analysis['steps']['count']} steps; {analysis['sentence']}>"
