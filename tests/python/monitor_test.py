"""PerformanceMonitor from Python: what it is told against what it reports."""

from __future__ import annotations

import math
import os
import random
import signal
import threading
import time

import pytest

from stoker.monitor import PerformanceMonitor


def test_steps_become_shares_and_a_verdict() -> None:
    monitor = PerformanceMonitor()
    rng = random.Random(5)
    steps = [(rng.uniform(0.03, 0.05), rng.uniform(0.01, 0.02)) for _ in range(200)]
    for data_s, compute_s in steps:
        monitor.log_step_timing(data_s, compute_s, 32)
    analysis = monitor.get_bottleneck_analysis()
    total_s = sum(map(sum, steps))
    assert analysis["verdict"] == "data_loading"
    assert analysis["data_share"] == pytest.approx(sum(data_s for data_s, _ in steps) / total_s)
    assert analysis["steps"]["samples_per_second"] == pytest.approx(32 * len(steps) / total_s)
    assert analysis["timing_analysis"]["model_compute"]["samples"] == len(steps)
    assert "data_loading_bottleneck" in analysis["bottlenecks"]
    assert len(analysis["recommendations"]) == len(analysis["bottlenecks"])
    assert "Data loading is the bottleneck" in monitor.get_summary_report()
    assert "200 steps" in repr(monitor)


def test_a_block_is_timed_also_when_it_raises() -> None:
    monitor = PerformanceMonitor()
    with pytest.raises(KeyError), monitor.time_operation("block"):
        time.sleep(0.02)
        raise KeyError
    with monitor.time_operation("block"):
        pass
    timing = monitor.get_bottleneck_analysis()["timing_analysis"]["block"]
    assert timing["samples"] == 2
    assert 0.02 <= timing["max_time"] < 10
    assert timing["min_time"] < 0.02


@pytest.mark.parametrize("bad", [-1.0, math.nan, math.inf])
def test_what_is_no_time_is_refused(bad: float) -> None:
    monitor = PerformanceMonitor()
    with pytest.raises(ValueError, match="expected two times .* found"):
        monitor.log_step_timing(bad, 1, 1)
    with pytest.raises(ValueError, match="expected a time of x .* found"):
        monitor.log_operation("x", bad)
    with pytest.raises(ValueError, match="monitor_interval"):
        PerformanceMonitor(monitor_interval=bad)
    with pytest.raises(ValueError, match="history_size"):
        PerformanceMonitor(history_size=0)
    assert monitor.get_bottleneck_analysis()["steps"]["count"] == 0


def test_the_machine_is_read_in_the_background_until_it_is_stopped() -> None:
    with PerformanceMonitor(monitor_interval=0.005) as monitor:
        assert monitor.is_monitoring
        monitor.start_monitoring()
        deadline = time.monotonic() + 20
        while monitor.get_bottleneck_analysis()["total_samples"] < 3 and time.monotonic() < deadline:
            time.sleep(0.005)
    assert not monitor.is_monitoring
    system = monitor.get_bottleneck_analysis()["system_metrics"]
    assert 0 < system["memory_percent"] <= 100
    assert 0 <= system["cpu_percent"] <= 100
    assert system["has_gpu"] == (system["gpu_utilization"] is not None)


def test_hits_of_the_cache_and_reset() -> None:
    monitor = PerformanceMonitor()
    monitor.record_cache_hit(9)
    monitor.record_cache_miss()
    assert monitor.get_bottleneck_analysis()["cache"] == {"hits": 9, "misses": 1, "hit_share": 0.9}
    monitor.reset()
    assert monitor.get_bottleneck_analysis()["cache"]["hit_share"] is None


def test_threads_lose_nothing() -> None:
    monitor = PerformanceMonitor(history_size=10)

    def work() -> None:
        for _ in range(1000):
            with monitor.time_operation("both"):
                monitor.log_step_timing(0.1, 0.2, 1)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    analysis = monitor.get_bottleneck_analysis()
    assert analysis["steps"]["count"] == 4000
    assert analysis["timing_analysis"]["both"]["samples"] == 10


def test_a_forked_child_starts_with_its_own_figures_and_ends() -> None:
    monitor = PerformanceMonitor(monitor_interval=0.005)
    monitor.start_monitoring()
    monitor.log_step_timing(1, 1, 1)
    child = os.fork()
    if child == 0:
        signal.alarm(20)
        count = monitor.get_bottleneck_analysis()["steps"]["count"]
        os._exit(0 if count == 0 and not monitor.is_monitoring else 1)
    assert os.waitpid(child, 0)[1] == 0
    assert monitor.is_monitoring
    assert monitor.get_bottleneck_analysis()["steps"]["count"] == 1
    monitor.stop_monitoring()
