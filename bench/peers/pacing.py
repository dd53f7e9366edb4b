"""A consumer with a step of fixed length, which asks for less than its loader can bring: does it notice the loader?"""

import ctypes
import itertools
import statistics
import time
from collections.abc import Callable, Iterator
from typing import Any, TypeVar

SHARE = 0.9  # of the rate that the loader just showed
LEAST_INTERVALS = 12
LATENESS_S = 150e-6  # by which a sleeping thread may wake up late; the rest of a step is spent awake
PR_SET_TIMERSLACK = 29

Item = TypeVar("Item")


def pass_until(moment: float) -> None:
    """As a training thread waits for its GPU: asleep, so that loaders have the cores."""
    while (left := moment - time.perf_counter()) > 0.0:
        if left > LATENESS_S:
            time.sleep(left - LATENESS_S)


def paced(batches: Iterator[Item], touch: Callable[[Item], Any], step_s: float, seconds: float) -> dict[str, float]:
    """The first step's batches are a warm-up: the loader fills its buffers while the consumer sleeps."""
    ctypes.CDLL(None).prctl(PR_SET_TIMERSLACK, 1, 0, 0, 0)
    for _ in range(LEAST_INTERVALS):
        touch(next(batches))
        pass_until(time.perf_counter() + step_s)
    times: list[float] = []
    waited_s = 0.0
    begin = time.perf_counter()
    while len(times) <= LEAST_INTERVALS or times[-1] - begin < seconds:
        asked = time.perf_counter()
        batch = next(batches)
        times.append(time.perf_counter())
        waited_s += times[-1] - asked
        touch(batch)
        pass_until(times[-1] + step_s)
    intervals = [later - earlier for earlier, later in itertools.pairwise(times)]
    return {
        "paced_cv": statistics.pstdev(intervals) / statistics.fmean(intervals),
        "paced_stall": waited_s / (time.perf_counter() - begin),
    }
