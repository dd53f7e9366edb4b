"""A batch is the program's own while it is held: whatever is written over it changes no byte of a later one."""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from small_world import World, tensors_of

import stoker

CHOICES = st.fixed_dictionaries(
    {
        "data.with_audio": st.booleans(),
        "data.reference": st.sampled_from(["none", "same", "speaker"]),
        "data.batch_dtype": st.sampled_from(["f16", "bf16", "f32"]),
        "data.static_shapes": st.booleans(),
        "data.num_workers": st.sampled_from([0, 1, 2, 4]),
        "data.prefetch_buffer_size": st.integers(1, 4),
        "data.preprocessing_mode": st.sampled_from(["auto", "runtime"]),
        "cache.tier": st.sampled_from(["disk", "ram"]),
    },
    optional={"data.segment_frames": st.integers(1, 20)},
)
SIZES = st.one_of(
    st.fixed_dictionaries({"data.batch_size": st.integers(1, 9)}),
    st.fixed_dictionaries({"data.batch_frames": st.integers(400, 1500)}),
    st.fixed_dictionaries({"data.batch_frames": st.integers(400, 1500), "data.batch_layout": st.just("packed")}),
)


def scribble(batch: stoker.Batch) -> int:
    """Fills everything that can be written to; returns how many bytes."""
    num_bytes = 0
    for _, tensor in tensors_of(batch):
        if tensor.dtype == "bfloat16":
            import torch
            from torch.utils.dlpack import from_dlpack

            array: Any = from_dlpack(tensor).view(torch.uint8).numpy()
        else:
            array = np.from_dlpack(tensor)
        array.view(np.uint8).fill(0xA5)
        num_bytes += array.nbytes
    return num_bytes


def parts_of(batch: stoker.Batch) -> dict[str, tuple[Any, ...]]:
    return {name: (tensor.shape, tensor.numpy().tobytes()) for name, tensor in tensors_of(batch)}


@settings(max_examples=40)
@given(CHOICES, SIZES)
def test_writing_over_every_batch_changes_no_later_one(
    world: World, chosen: dict[str, Any], size: dict[str, Any]
) -> None:
    own: dict[str, Any] = {"data": world.data, "cache": world.cache, "cache.content": "both", "device": "cpu"}
    with stoker.Feed(**own, **chosen, **size) as clean, stoker.Feed(**own, **chosen, **size) as written:
        for _ in range(3):
            for one, other in zip(clean, written, strict=True):
                assert other.content_digest() == one.content_digest()
                assert parts_of(other) == parts_of(one)
                assert other.ids == one.ids
                assert scribble(other) >= other.mel.nbytes
                assert parts_of(other) != parts_of(one)
