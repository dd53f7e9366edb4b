"""Whoever holds anything of a batch keeps its bytes, whatever threads do with the others meanwhile."""

from __future__ import annotations

import gc
import itertools
import queue
import random
import threading
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch
from small_world import World, array_digest, batch_digest, contents, tensors_of
from torch.utils.dlpack import from_dlpack

import stoker

MANY = {"data.with_audio": True, "data.reference": "speaker", "data.segment_frames": 8}
Held = tuple[str, Callable[[], str], list[Any]]


def view_of(choose: random.Random, batch: stoker.Batch, will_release: bool) -> Held:
    """Something made from a batch, its digest now, and how to digest it again."""
    name, tensor = choose.choice(list(tensors_of(batch)))
    kind = choose.randrange(2 if will_release else 0, 8)
    if kind == 0:
        held: Any = batch
        return held.content_digest(), held.content_digest, [held]
    if kind == 1:
        return batch_digest(batch), lambda: batch_digest(batch), [batch]
    if kind == 2:
        own = batch.copy()
        return batch_digest(own), lambda: batch_digest(own), [own]
    if kind == 3:
        parts = batch.to_torch()
        return torch_digest(parts), lambda: torch_digest(parts), [parts]
    view: Any
    if kind == 4:
        view = from_dlpack(tensor)[..., ::2]  # a view of a view, in the end
    elif kind == 5:
        view = np.from_dlpack(tensor) if tensor.dtype != "bfloat16" else tensor.numpy()
    elif kind == 6:
        view = np.asarray(tensor)[1:]
    else:
        view = tensor
    return digest_of(view), lambda: digest_of(view), [view]


def digest_of(view: Any) -> str:
    if isinstance(view, stoker.Tensor):
        view = view.numpy()
    elif isinstance(view, torch.Tensor):
        view = view.float().numpy()
    return str(array_digest(view))


def torch_digest(parts: dict[str, Any]) -> str:
    return " ".join(digest_of(part) for part in parts.values() if isinstance(part, torch.Tensor))


class Program:
    """Threads that hold, pass on, look again and drop what a loop over a feed gives them."""

    def __init__(self, seed: int, num_threads: int) -> None:
        self.changed: list[str] = []
        self.num_looks = 0
        self._inbox: queue.Queue[Held | None] = queue.Queue()
        self._threads = [
            threading.Thread(target=self._hold, args=(random.Random(seed + i),), daemon=True)
            for i in range(num_threads)
        ]
        for thread in self._threads:
            thread.start()

    def give(self, held: Held) -> None:
        self._inbox.put(held)

    def end(self) -> None:
        for _ in self._threads:
            self._inbox.put(None)
        for thread in self._threads:
            thread.join(60)
            assert not thread.is_alive()
        while not self._inbox.empty():  # passed on to a thread that had ended
            if (held := self._inbox.get()) is not None:
                self._look(held)

    def _hold(self, choose: random.Random) -> None:
        own: list[Held] = []
        while (held := self._inbox.get()) is not None:
            own.append(held)
            del held
            if choose.random() < 0.3:
                time.sleep(choose.random() * 0.002)
            if own and choose.random() < 0.15:
                self._inbox.put(own.pop(choose.randrange(len(own))))  # passed on to any thread
            while len(own) > 2:
                self._look(own.pop(choose.randrange(len(own))))
        for each in own:
            self._look(each)

    def _look(self, held: Held) -> None:
        self.num_looks += 1
        taken, again, _ = held
        try:
            now = again()
        except Exception as error:
            now = repr(error)
        if taken != now:
            self.changed.append(f"{taken} became {now}")


@pytest.mark.parametrize(
    ("seed", "num_workers", "dtype"), [(1, 1, "f16"), (2, 2, "bf16"), (3, 4, "f32"), (4, 2, "f16")]
)
def test_what_is_held_keeps_its_bytes(world: World, seed: int, num_workers: int, dtype: str) -> None:
    more = {
        **MANY,
        "num_workers": num_workers,
        "data.batch_dtype": dtype,
        "data.prefetch_buffer_size": 16,
        "data.stall_limit": 20,
    }
    choose = random.Random(seed)
    program = Program(seed, num_threads=3)
    with world.feed(batch_size=2, **more) as feed:
        digests = []
        for _ in range(15):
            for batch in feed:
                digests.append(batch.content_digest())
                will_release = choose.random() < 0.4
                for _ in range(choose.randrange(1, 3)):
                    program.give(view_of(choose, batch, will_release))
                if will_release:
                    batch.release()
                del batch
        program.end()
        assert feed.stats()["held"] == []
    assert program.changed == []
    assert program.num_looks > 300
    with world.feed(batch_size=2, num_workers=1, **MANY, **{"data.batch_dtype": dtype}) as feed:
        assert digests == [digest for _ in range(15) for digest in contents(feed)]


def test_held_batches_outlive_the_feed(world: World) -> None:
    with world.feed() as feed:
        loop = iter(feed)
        batches = [next(loop) for _ in range(3)]
        taken = [batch_digest(batch) for batch in batches]
        view = batches[0].mel.numpy()
        digest = array_digest(view)
    del feed, loop
    gc.collect()
    assert [batch_digest(batch) for batch in batches] == taken
    batches.clear()
    assert array_digest(view) == digest


def test_a_released_batch_is_refused_and_its_tensors_stay(world: World) -> None:
    with world.feed(num_workers=2) as feed:
        loop = iter(feed)
        batch = next(loop)
        mel, tokens, ids = from_dlpack(batch.mel), batch.tokens.numpy(), batch.ids
        taken = digest_of(mel), digest_of(tokens)
        batch.release()
        batch.release()  # once more is nothing
        assert batch.is_released
        uses: list[Callable[[stoker.Batch], Any]] = [
            lambda b: b.mel,
            lambda b: b["mel"],
            lambda b: b.get("mel"),
            lambda b: b.arrays,
            lambda b: b.segments,
            lambda b: b.num_rows,
            lambda b: b.device,
            lambda b: b.record_stream(1),
            lambda b: "mel" in b,
            len,
            dict,
            list,
            stoker.Batch.content_digest,
            stoker.Batch.copy,
            stoker.Batch.to_torch,
        ]
        for use in uses:
            with pytest.raises(stoker.UsageError) as refused:
                use(batch)
            assert refused.value.code == "E-FEED-RELEASED"
        del batch
        contents(itertools.chain(loop, feed))
        assert (digest_of(mel), digest_of(tokens)) == taken
        assert len(ids) == 4


def test_a_digest_in_one_thread_survives_the_release_in_another(world: World) -> None:
    with world.feed(batch_size=8, num_workers=2, **MANY) as feed:
        expected = contents(feed)
        feed.set_epoch(0)
        for batch, digest in zip(feed, expected, strict=True):
            found: list[str] = []

            def look(batch: stoker.Batch = batch, found: list[str] = found) -> None:
                try:
                    found.append(batch.content_digest())
                except stoker.UsageError as error:
                    found.append(error.code)

            thread = threading.Thread(target=look)
            thread.start()
            batch.release()
            thread.join()
            assert found[0] in (digest, "E-FEED-RELEASED")


def test_a_copy_is_all_of_it_and_holds_nothing(world: World) -> None:
    with world.feed(**MANY, **{"data.batch_dtype": "bf16"}) as feed:
        batch = next(iter(feed))
        own = batch.copy()
        assert batch_digest(own) == batch_digest(batch)
        assert list(own) == list(batch)
        assert (own.epoch, own.index, own.is_last, own.num_rows, own.device) == (0, 0, False, 4, "cpu")
        assert own.segments.mel.shape == batch.segments.mel.shape
        assert own.arrays == {}
        batch.release()
        assert feed.stats()["held"] == []
        assert batch_digest(own.copy()) == batch_digest(own)
        own.release()
        assert own.mel.dtype == "bfloat16"
        with pytest.raises(AttributeError, match="nothing"):
            _ = own.nothing
