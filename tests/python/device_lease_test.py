"""Batches in GPU memory keep their bytes while slow kernels of several streams and threads read them.

Needs torch with CUDA and a GPU; skipped without. The oracle is the feed into host memory.
"""

from __future__ import annotations

import gc
import queue
import random
import threading
from collections.abc import Callable
from typing import Any

import pytest
import torch
from small_world import World
from torch.utils.dlpack import from_dlpack

import stoker

if not torch.cuda.is_available():
    pytest.skip("needs torch with CUDA and a GPU", allow_module_level=True)

GPU = torch.device("cuda:0")
cuda: Any = torch.cuda  # parts of it have no types
PARTS = ("mel", "tokens", "mel_len", "text_len", "speaker", "language")
NUM_EPOCHS = 12
SLOW_CYCLES = 4_000_000  # about 2 ms
Sums = dict[str, Any]


def checksum(tensor: torch.Tensor) -> torch.Tensor:
    """Of the bits and their places: any changed or moved value changes it."""
    bits = tensor.contiguous().view(torch.int16 if tensor.element_size() == 2 else torch.int32).flatten().long()
    weights = torch.arange(bits.numel(), device=bits.device) % 8191 + 1
    return (bits * weights).sum()


@pytest.fixture(scope="module")
def expected(world: World) -> Callable[[str], dict[tuple[int, int], Sums]]:
    """Sums of every part by epoch and batch, from host memory."""
    known: dict[str, dict[tuple[int, int], Sums]] = {}

    def sums_of(dtype: str) -> dict[tuple[int, int], Sums]:
        if dtype not in known:
            with world.cached(dtype) as feed:
                known[dtype] = {
                    (batch.epoch, batch.index): {name: int(checksum(from_dlpack(batch[name]))) for name in PARTS}
                    for _ in range(NUM_EPOCHS)
                    for batch in feed
                }
        return known[dtype]

    return sums_of


def slowly(tensors: dict[str, torch.Tensor], cycles: int) -> Sums:
    """Queues a wait and then the sums on the current stream; the host does not wait."""
    cuda._sleep(cycles)
    return {name: checksum(tensor) for name, tensor in tensors.items()}


def by_dlpack(batch: stoker.Batch, stream: torch.cuda.Stream, cycles: int) -> Sums:
    return slowly({name: from_dlpack(batch[name]) for name in PARTS}, cycles)


def by_to_torch(batch: stoker.Batch, stream: torch.cuda.Stream, cycles: int) -> Sums:
    parts = batch.to_torch()
    return slowly({name: parts[name] for name in PARTS}, cycles)


def by_release(batch: stoker.Batch, stream: torch.cuda.Stream, cycles: int) -> Sums:
    """Read without a word to the feed on another stream, which release() names."""
    tensors = {name: from_dlpack(batch[name]) for name in PARTS}
    other = cuda.Stream()
    other.wait_stream(stream)
    with torch.cuda.stream(other):
        sums = slowly(tensors, cycles)
    tensors.clear()
    batch.release(stream=other.cuda_stream)
    stream.wait_stream(other)
    return sums


def by_record_stream(batch: stoker.Batch, stream: torch.cuda.Stream, cycles: int) -> Sums:
    tensors = {name: from_dlpack(batch[name]) for name in PARTS}
    other = cuda.Stream()
    other.wait_stream(stream)
    batch.record_stream(other)
    with torch.cuda.stream(other):
        sums = slowly(tensors, cycles)
    stream.wait_stream(other)
    return sums


class OnlyInterface:
    """Shows nothing of a tensor but that protocol, as to CuPy or Numba."""

    def __init__(self, tensor: stoker.Tensor) -> None:
        self._tensor = tensor

    @property
    def __cuda_array_interface__(self) -> Any:
        return self._tensor.__cuda_array_interface__


def by_cuda_array_interface(batch: stoker.Batch, stream: torch.cuda.Stream, cycles: int) -> Sums:
    """That protocol orders the default stream behind the batch; others follow it."""
    tensors = {}
    for name in PARTS:
        part = batch[name]
        if part.dtype == "bfloat16":
            tensors[name] = from_dlpack(part)
            continue
        interface = part.__cuda_array_interface__
        assert interface["version"] == 3
        assert interface["shape"] == part.shape
        tensors[name] = torch.as_tensor(OnlyInterface(part), device=GPU)
        assert tensors[name].data_ptr() == interface["data"][0]
    stream.wait_stream(torch.cuda.default_stream())
    batch.record_stream(stream.cuda_stream)
    return slowly(tensors, cycles)


def by_copy(batch: stoker.Batch, stream: torch.cuda.Stream, cycles: int) -> Sums:
    own = batch.copy()
    batch.release()
    return slowly({name: from_dlpack(own[name]) for name in PARTS}, cycles)


def by_pin(batch: stoker.Batch, stream: torch.cuda.Stream, cycles: int) -> Sums:
    own = batch.pin()
    batch.release()
    assert own.mel.is_pinned
    return slowly({name: from_dlpack(own[name]).to(GPU, non_blocking=True) for name in PARTS}, cycles)


READERS = [by_dlpack, by_to_torch, by_release, by_record_stream, by_cuda_array_interface, by_copy, by_pin]
PASSED_ON = [by_dlpack, by_to_torch, by_cuda_array_interface]  # leave the batch to the next reader


class Readers:
    """Threads with a stream each, which read batches and pass some on to another."""

    def __init__(self, seed: int, num_threads: int, on_default: bool) -> None:
        self.found: list[tuple[tuple[int, int], str, Sums]] = []
        self.failed: list[BaseException] = []
        self._inbox: queue.Queue[stoker.Batch | None] = queue.Queue(maxsize=2)
        self._threads = [
            threading.Thread(target=self._run, args=(random.Random(seed + i), on_default and i == 0), daemon=True)
            for i in range(num_threads)
        ]
        for thread in self._threads:
            thread.start()

    def give(self, batch: stoker.Batch) -> None:
        while not self.failed:
            try:
                return self._inbox.put(batch, timeout=1)
            except queue.Full:
                continue
        raise self.failed[0]

    def end(self) -> None:
        for _ in self._threads:
            self._inbox.put(None, timeout=30)
        for thread in self._threads:
            thread.join(30)
            assert not thread.is_alive()
        while not self._inbox.empty():  # passed on to a thread that had ended
            self._inbox.get()
        if self.failed:
            raise self.failed[0]

    def _run(self, choose: random.Random, is_default: bool) -> None:
        stream = torch.cuda.default_stream() if is_default else cuda.Stream()
        try:
            with torch.cuda.stream(stream):
                self._read_all(choose, stream)
        except BaseException as error:
            self.failed.append(error)

    def _read_all(self, choose: random.Random, stream: torch.cuda.Stream) -> None:
        while (batch := self._inbox.get()) is not None:
            place = (batch.epoch, batch.index)
            if choose.random() < 0.3:  # looked at, then passed on
                reader = choose.choice(PASSED_ON)
                self.found.append((place, reader.__name__, reader(batch, stream, choose.randrange(SLOW_CYCLES))))
                try:
                    self._inbox.put_nowait(batch)
                    continue
                except queue.Full:
                    pass
            reader = choose.choice(READERS)
            self.found.append((place, reader.__name__, reader(batch, stream, choose.randrange(SLOW_CYCLES))))
            if choose.random() < 0.5:
                del batch  # else held until the next one comes


def wrong_of(readers: Readers, sums: dict[tuple[int, int], Sums]) -> list[str]:
    torch.cuda.synchronize()
    wrong = []
    for place, reader, found in readers.found:
        for name, total in found.items():
            if int(total) != sums[place][name]:
                wrong.append(f"{name} of epoch {place[0]} batch {place[1]} by {reader}")
    return wrong


@pytest.mark.parametrize(
    ("num_threads", "dtype", "on_default"),
    [(1, "f16", True), (2, "f16", False), (2, "bf16", True), (4, "f16", True), (4, "f32", False)],
)
def test_slow_readers_see_no_changed_byte(
    world: World,
    expected: Callable[[str], dict[tuple[int, int], Sums]],
    num_threads: int,
    dtype: str,
    on_default: bool,
) -> None:
    readers = Readers(num_threads, num_threads, on_default)
    # Every thread may hold one, the inbox two, the loop one; the feed needs room beside them.
    with world.on_gpu(dtype, **{"gpu.buffer_size": 2 * num_threads + 6}) as feed:
        for _ in range(NUM_EPOCHS):
            for batch in feed:
                readers.give(batch)
                del batch
        readers.end()
        assert wrong_of(readers, expected(dtype)) == []
        assert len(readers.found) >= NUM_EPOCHS * 10
        gc.collect()
        assert feed.stats()["held"] == []


def test_a_plain_loop_that_never_waits(world: World, expected: Callable[[str], dict[tuple[int, int], Sums]]) -> None:
    """As most programs are: one thread, two streams in turn, each batch dropped while its kernels are queued."""
    streams = [cuda.Stream(), cuda.Stream()]
    found = []
    with world.on_gpu("f16") as feed:
        for _ in range(NUM_EPOCHS):
            for i, batch in enumerate(feed):
                with torch.cuda.stream(streams[i % 2]):
                    found.append(((batch.epoch, batch.index), by_dlpack(batch, streams[i % 2], SLOW_CYCLES)))
        torch.cuda.synchronize()
    sums = expected("f16")
    assert [place for place, each in found if {name: int(total) for name, total in each.items()} != sums[place]] == []
