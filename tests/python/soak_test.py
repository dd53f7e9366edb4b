"""Many batches through Python: memory and open files stay as they are, and what a batch costs is printed.

STOKER_SOAK says how many; make test takes 20,000.
"""

from __future__ import annotations

import os
import time
from dataclasses import dataclass, field

import numpy as np
import pytest
from small_world import World

NUM_BATCHES = int(os.environ.pop("STOKER_SOAK", "20000"))  # the library knows no such variable
MOST_GROWTH_BYTES = 2 << 20  # what an allocator may keep; a leak of one object a batch is more


def resident_bytes() -> int:
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


@dataclass
class Figures:
    """Memory and open files over the batches."""

    at: list[int] = field(default_factory=list)
    memory: list[int] = field(default_factory=list)
    files: list[int] = field(default_factory=list)

    def look(self, count: int) -> None:
        self.at.append(count)
        self.memory.append(resident_bytes())
        self.files.append(len(os.listdir("/proc/self/fd")))

    def growth_bytes(self) -> float:
        """Of the line through what was seen after the first third, from its beginning to its end."""
        begin = len(self.at) // 3
        slope = np.polyfit(self.at[begin:], self.memory[begin:], 1)[0]
        return float(slope * (self.at[-1] - self.at[begin]))


def test_memory_and_files_stay_flat(world: World, capsys: pytest.CaptureFixture[str]) -> None:
    figures = Figures()
    count, waited_s, shapes = 0, 0.0, 0
    with world.feed(batch_size=1, num_workers=1, **{"cache.tier": "ram"}) as feed:
        begin = time.perf_counter()
        while count < NUM_BATCHES:
            for batch in feed:
                count += 1
                shapes += np.from_dlpack(batch.mel).shape[1]
                if count % 16 == 0:
                    batch.copy()
                    feed.state_dict()
                if count % (NUM_BATCHES // 60) == 0:
                    figures.look(count)
        seconds = time.perf_counter() - begin
        waited_s = feed.stats()["wait_s"]
    with capsys.disabled():
        growth = figures.growth_bytes()
        print(
            f"\n{count:,} batches, {seconds / count * 1e6:.1f} µs each ({waited_s / count * 1e6:.1f} µs waiting), ",
            end="",
        )
        print(f"memory {figures.memory[-1] / 2**20:.1f} MiB, grown by {growth / 2**10:.0f} KiB", flush=True)
    assert shapes > count
    assert growth < MOST_GROWTH_BYTES
    assert max(figures.files[2:]) == min(figures.files[2:])


def test_opening_and_closing_leaves_nothing(world: World) -> None:
    figures = Figures()
    for count in range(200):
        with world.feed(num_workers=2) as feed:
            held = next(iter(feed)).mel.numpy()
        del held, feed
        figures.look(count)
    # Threads that come and go leave the allocator's pools up to two MiB larger or smaller.
    assert figures.growth_bytes() < 2 * MOST_GROWTH_BYTES
    assert max(figures.files[10:]) == min(figures.files[10:])
