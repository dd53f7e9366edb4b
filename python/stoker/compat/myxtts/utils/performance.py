"""The one monitor of a process, as myxtts' programs ask for it."""

from __future__ import annotations

import threading

from stoker.monitor import OperationTimer, PerformanceMonitor

__all__ = [
    "PerformanceMonitor",
    "get_performance_monitor",
    "print_performance_report",
    "start_performance_monitoring",
    "stop_performance_monitoring",
    "time_operation",
]

_lock = threading.Lock()
_monitors: list[PerformanceMonitor] = []


def get_performance_monitor() -> PerformanceMonitor:
    """The process's monitor, made when it is first asked for."""
    with _lock:
        if not _monitors:
            _monitors.append(PerformanceMonitor())
        return _monitors[0]


def start_performance_monitoring() -> None:
    """Begins to read processor, memory and GPU in the background."""
    get_performance_monitor().start_monitoring()


def stop_performance_monitoring() -> None:
    """Ends the background readings."""
    get_performance_monitor().stop_monitoring()


def print_performance_report() -> None:
    """Prints what the process's monitor found."""
    print(get_performance_monitor().get_summary_report())


def time_operation(operation_name: str) -> OperationTimer:
    """Times a block with the process's monitor."""
    return get_performance_monitor().time_operation(operation_name)
