"""`import stoker` costs little and does nothing: no thread, no CUDA, no NumPy, no torch."""

import json
import os
import subprocess
import sys
from typing import Any

LOOK = """
import json, os, sys, time
before = set(sys.modules)
begin = time.process_time()
import stoker
took_ms = 1000 * (time.process_time() - begin)
maps = open("/proc/self/maps").read()
print(json.dumps({
    "took_ms": took_ms,
    "num_threads": len(os.listdir("/proc/self/task")),
    "modules": sorted(set(sys.modules) - before),
    "devices": [os.readlink("/proc/self/fd/" + fd) for fd in os.listdir("/proc/self/fd")
                if os.path.exists("/proc/self/fd/" + fd) and "nvidia" in os.readlink("/proc/self/fd/" + fd)],
    "driver": "libcuda.so" in maps,
}))
"""
MOST_MS = 50.0


def imported() -> dict[str, Any]:
    done = subprocess.run([sys.executable, "-c", LOOK], check=True, capture_output=True, text=True, env=os.environ)
    looked: dict[str, Any] = json.loads(done.stdout)
    return looked


def test_takes_less_than_50_ms() -> None:
    # Time of the processor: the machine may have other work. The least of several: the first one reads from the disk.
    assert min(imported()["took_ms"] for _ in range(5)) < MOST_MS


def test_starts_no_thread() -> None:
    assert imported()["num_threads"] == 1


def test_touches_no_gpu() -> None:
    looked = imported()
    assert looked["devices"] == [] and not looked["driver"]


def test_imports_neither_numpy_nor_torch() -> None:
    heavy = {"numpy", "torch", "jax", "tensorflow", "asyncio", "multiprocessing"}
    assert heavy.isdisjoint(name.split(".")[0] for name in imported()["modules"])
