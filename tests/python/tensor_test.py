"""Every way out of a Tensor: DLPack in both forms, NumPy, torch, and what cannot be had."""

from __future__ import annotations

import ctypes
import gc
import weakref
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
import torch
from small_world import World, tensors_of
from torch.utils.dlpack import from_dlpack

import stoker

CPU = (1, 0)


@pytest.fixture
def feed(world: World) -> Iterator[stoker.Feed]:
    with world.feed(**{"data.with_audio": True, "data.batch_dtype": "f32"}) as feed:
        yield feed


@pytest.fixture
def batch(feed: stoker.Feed) -> stoker.Batch:
    return next(iter(feed))


def name_of(capsule: Any) -> str:
    get = ctypes.pythonapi.PyCapsule_GetName
    get.restype, get.argtypes = ctypes.c_char_p, [ctypes.py_object]
    return str(get(capsule).decode())


def is_shared(one: Any, other: Any) -> bool:
    return bool(np.shares_memory(np.asarray(one), np.asarray(other)))


def test_every_part_says_the_same_everywhere(batch: stoker.Batch) -> None:
    for name, tensor in tensors_of(batch):
        array, twin, other = tensor.numpy(), np.from_dlpack(tensor), from_dlpack(tensor)
        assert array.shape == twin.shape == tuple(other.shape) == tensor.shape, name
        assert str(array.dtype) == str(twin.dtype) == str(other.dtype).removeprefix("torch.") == tensor.dtype
        assert is_shared(array, twin)
        assert array.ctypes.data == other.data_ptr()
        assert (tensor.size, tensor.nbytes, tensor.ndim) == (array.size, array.nbytes, array.ndim)
        assert len(tensor) == len(array)
        assert tensor.tolist() == array.tolist()
        assert tensor.device == "cpu"
        assert tensor.__dlpack_device__() == CPU
        assert not tensor.is_pinned
        assert repr(tensor) == f"stoker.Tensor(shape={tensor.shape}, dtype={tensor.dtype}, device=cpu)".replace(
            ",)", ")"
        )


def test_the_version_asked_for_decides_the_capsule(batch: stoker.Batch) -> None:
    for asked, name in [
        (None, "dltensor"),
        ((0, 8), "dltensor"),
        ((1, 0), "dltensor_versioned"),
        ((1, 1), "dltensor_versioned"),
        ((2, 0), "dltensor_versioned"),
    ]:
        assert name_of(batch.mel.__dlpack__(max_version=asked)) == name


def test_copies_are_copies(batch: stoker.Batch) -> None:
    for version in ((1, 0), None):
        own = from_dlpack(batch.mel.__dlpack__(copy=True, max_version=version))
        assert not is_shared(own, batch.mel)
        assert (own.numpy() == batch.mel.numpy()).all()
        shared = from_dlpack(batch.mel.__dlpack__(copy=False, max_version=version))
        assert is_shared(shared, batch.mel)
    assert not is_shared(np.from_dlpack(batch.mel, copy=True), batch.mel)
    assert is_shared(np.from_dlpack(batch.mel, copy=False, device="cpu"), batch.mel)


def test_places_that_cannot_be_had_are_refused(batch: stoker.Batch) -> None:
    mel = batch.mel
    assert name_of(mel.__dlpack__(dl_device=CPU)) == "dltensor"
    with pytest.raises(BufferError, match="own device"):
        mel.__dlpack__(dl_device=(2, 0))
    with pytest.raises(ValueError, match="stream=None"):
        mel.__dlpack__(stream=1)
    assert not hasattr(mel, "__cuda_array_interface__")
    for wrong in ({"dl_device": "cpu"}, {"dl_device": (1,)}, {"max_version": 1}, {"max_version": ("a", 0)}):
        with pytest.raises(TypeError):
            mel.__dlpack__(**wrong)


@pytest.mark.parametrize("stream", ["default", 1.5, object()])
def test_what_is_no_stream_is_a_type_error(batch: stoker.Batch, stream: Any) -> None:
    with pytest.raises(TypeError):
        batch.record_stream(stream)
    with pytest.raises(TypeError):
        batch.release(stream=stream)
    assert not batch.is_released


def test_the_per_thread_stream_cannot_be_followed(batch: stoker.Batch) -> None:
    with pytest.raises(ValueError, match="per-thread"):
        batch.record_stream(2)
    with pytest.raises(ValueError, match="per-thread"):
        batch.release(stream=2)
    batch.record_stream(0)  # as CUDA writes the default stream
    assert not batch.is_released


def test_a_capsule_that_nobody_takes_gives_its_batch_back(feed: stoker.Feed, batch: stoker.Batch) -> None:
    capsules = [batch.mel.__dlpack__(max_version=version) for version in (None, (1, 0)) for _ in range(50)]
    batch.release()
    assert len(feed.stats()["held"]) == 1
    capsules.clear()
    del batch
    gc.collect()
    assert feed.stats()["held"] == []


def test_a_capsule_that_was_taken_is_ended_by_its_taker(feed: stoker.Feed, batch: stoker.Batch) -> None:
    capsule = batch.mel.__dlpack__()
    taken = from_dlpack(capsule)
    batch.release()
    del capsule
    assert len(feed.stats()["held"]) == 1
    del taken
    assert feed.stats()["held"] == []


def test_numpy_as_it_asks(batch: stoker.Batch) -> None:
    mel = batch.mel
    assert is_shared(np.asarray(mel), mel)
    assert is_shared(np.array(mel, copy=False), mel)
    assert not is_shared(np.array(mel, copy=True), mel)
    assert np.asarray(mel, dtype=np.float32).dtype == np.float32
    wide = np.array(mel, dtype=np.float64)
    assert wide.dtype == np.float64
    assert (wide == mel.numpy()).all()
    with pytest.raises(ValueError, match="copy"):
        np.array(mel, dtype=np.float64, copy=False)
    assert float(np.mean(mel)) == pytest.approx(float(mel.numpy().mean()))


def test_bfloat16_reaches_torch_as_it_is_and_numpy_widened(world: World) -> None:
    with world.feed(**{"data.batch_dtype": "bf16"}) as feed:
        batch = next(iter(feed))
        mel = from_dlpack(batch.mel)
        assert batch.mel.dtype == "bfloat16"
        assert mel.dtype == torch.bfloat16
        assert batch.to_torch()["mel"].data_ptr() == mel.data_ptr()
        assert batch.mel.numpy().dtype == np.float32
        assert (mel.float().numpy() == batch.mel.numpy()).all()
        with pytest.raises(ValueError, match="copy"):
            np.array(batch.mel, copy=False)
        assert (batch.copy().mel.numpy() == batch.mel.numpy()).all()


def test_to_torch_gives_every_part_and_copies_where_asked(batch: stoker.Batch) -> None:
    parts, own = batch.to_torch(*batch), batch.to_torch(*batch, copy=True)
    assert list(parts) == list(own) == list(batch)
    # Without names, what the shape of padded rows tells is left out.
    assert set(batch) - set(batch.to_torch()) == {"frame_begins", "token_begins"}
    assert list(batch.to_torch("mel", "ids")) == ["mel", "ids"]
    assert parts["ids"] == own["ids"] == batch.ids
    for name, tensor in tensors_of(batch):
        is_length = tensor.ndim == 1  # a copy each time: the feed goes by its own
        assert is_shared(parts[name], tensor) != is_length
        assert not is_shared(own[name], tensor)
        assert torch.equal(parts[name], own[name])


def test_a_batch_is_a_mapping_with_attributes(batch: stoker.Batch) -> None:
    assert list(batch) == list(batch.keys()) == list(dict(batch))
    assert len(batch) == len(list(batch.items())) == len(list(batch.values()))
    assert "mel" in batch
    assert "reference_mel" not in batch
    assert batch.get("reference_mel") is None
    assert batch.get("nothing", 3) == 3
    assert batch.reference_mel is batch.reference_len is None
    assert batch.segments is None
    assert batch.arrays == {}
    assert batch.ids is batch["ids"]
    for name in ("reference_mel", "nothing"):
        with pytest.raises(KeyError, match=name):
            batch[name]
    for name, tensor in tensors_of(batch):
        assert is_shared(getattr(batch, name), tensor) != (tensor.ndim == 1)
    assert weakref.ref(batch)() is batch


def test_a_view_keeps_what_it_shows(world: World) -> None:
    """Nothing but the last slice is left of the batch."""
    with world.feed(num_workers=2) as feed:
        last = np.from_dlpack(next(iter(feed)).mel)[-1:, -1:].T
        taken = last.tobytes()
        gc.collect()
        for _ in range(3):
            for _ in feed:
                pass
        assert last.tobytes() == taken
