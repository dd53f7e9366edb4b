"""Causes that come from outside the program: neighbours, quotas, few cores, files that are not in memory."""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import threading
import time
from collections.abc import Iterator
from pathlib import Path

CPU_GROUPS = (Path("/sys/fs/cgroup/cpu"), Path("/sys/fs/cgroup"))
PERIOD_US = 100_000
MOST_SHARES, MOST_WEIGHT = 262_144, 10_000  # of control groups, version 1 and 2
CALM_CORES = 0.15
CALM_SPAN_S = 0.4
TICKS_PER_S = float(os.sysconf("SC_CLK_TCK"))


class CannotPlantError(RuntimeError):
    """This machine does not let the cause be planted; the message says why."""


def allowed_cores() -> list[int]:
    return sorted(os.sched_getaffinity(0))


def busy_cpu_s(cores: list[int]) -> float:
    """Processor time of everybody on these cores since the machine was started."""
    ticks = 0
    for line in Path("/proc/stat").read_text(encoding="ascii").splitlines():
        name, *numbers = line.split()
        if name.startswith("cpu") and name[3:].isdigit() and int(name[3:]) in cores:
            user, nice, system, _, _, irq, softirq, steal = (int(number) for number in numbers[:8])
            ticks += user + nice + system + irq + softirq + steal
    return ticks / TICKS_PER_S


def children_cpu_s() -> float:
    times = os.times()
    return times.children_user + times.children_system + times.user + times.system


class OthersWatch:
    """Cores that programs other than this one and its ended children used since it began."""

    def __init__(self) -> None:
        self.cores = allowed_cores()
        self.began, self.busy_s, self.own_s = time.monotonic(), busy_cpu_s(self.cores), children_cpu_s()

    def used_cores(self) -> float:
        passed = max(1e-3, time.monotonic() - self.began)
        others = busy_cpu_s(self.cores) - self.busy_s - (children_cpu_s() - self.own_s)
        return max(0.0, others) / passed


def wait_for_calm(limit_s: float) -> None:
    """Returns when the machine has been idle for a moment; a machine that never is is used as it is."""
    began = time.monotonic()
    while time.monotonic() - began < limit_s:
        watch = OthersWatch()
        time.sleep(CALM_SPAN_S)
        if watch.used_cores() < CALM_CORES:
            return


def spin(until: float, priority: int) -> None:
    if priority:
        os.setpriority(os.PRIO_PROCESS, 0, priority)
    while time.monotonic() < until:
        pass


@contextlib.contextmanager
def neighbours(count: int, limit_s: float, priority: int) -> Iterator[None]:
    """So many programs that use a core each, or want to."""
    until = time.monotonic() + limit_s
    programs = [multiprocessing.Process(target=spin, args=(until, priority), daemon=True) for _ in range(count)]
    for program in programs:
        program.start()
    try:
        yield
    finally:
        for program in programs:
            program.terminate()
            program.join()


@contextlib.contextmanager
def quota(cores: float, alone: bool) -> Iterator[Path]:
    """A control group with that CPU quota; what joins it writes its number into cgroup.procs of the folder.

    A priority counts inside a group only: `alone` gives the group as much weight as there is.
    """
    mount = next((each for each in CPU_GROUPS if (each / "cgroup.procs").exists()), None)
    if mount is None:
        raise CannotPlantError("no control group for the CPU is mounted")
    folder = mount / f"stoker-trial-{os.getpid()}"
    try:
        folder.mkdir()
    except OSError as error:
        raise CannotPlantError(f"no control group can be made: {error}") from error
    quota_us = str(round(cores * PERIOD_US))
    try:
        if (folder / "cpu.cfs_quota_us").exists():
            (folder / "cpu.cfs_period_us").write_text(str(PERIOD_US), encoding="ascii")
            (folder / "cpu.cfs_quota_us").write_text(quota_us, encoding="ascii")
            if alone:
                (folder / "cpu.shares").write_text(str(MOST_SHARES), encoding="ascii")
        elif (folder / "cpu.max").exists():
            (folder / "cpu.max").write_text(f"{quota_us} {PERIOD_US}", encoding="ascii")
            if alone:
                (folder / "cpu.weight").write_text(str(MOST_WEIGHT), encoding="ascii")
        else:
            raise CannotPlantError("the control group has no CPU controller")
        yield folder
    finally:
        with contextlib.suppress(OSError):
            folder.rmdir()


def drop_from_memory(files: list[Path]) -> None:
    for file in files:
        handle = os.open(file, os.O_RDONLY)
        try:
            os.posix_fadvise(handle, 0, 0, os.POSIX_FADV_DONTNEED)
        finally:
            os.close(handle)


@contextlib.contextmanager
def cold(files: list[Path], every_s: float) -> Iterator[None]:
    """The files leave memory now and again while the block runs, as data larger than memory does."""
    for file in files:  # what was never written cannot be dropped
        handle = os.open(file, os.O_RDONLY)
        os.fsync(handle)
        os.close(handle)
    ended = threading.Event()

    def drop() -> None:
        while not ended.wait(every_s):
            drop_from_memory(files)

    drop_from_memory(files)
    thread = threading.Thread(target=drop)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()
