"""A feed into GPU memory gives what one into host memory gives, in every form; and what a loop of torch gets of it.

Needs torch with CUDA and a GPU; skipped without.
"""

from __future__ import annotations

import time

import pytest
import torch
from small_world import World, array_digest, contents, tensors_of
from torch.utils.dlpack import from_dlpack

import stoker

if not torch.cuda.is_available():
    pytest.skip("needs torch with CUDA and a GPU", allow_module_level=True)

GPU = torch.device("cuda:0")


def digest_of(tensor: torch.Tensor) -> str:
    return str(array_digest(tensor.cpu().numpy()))


def test_digests_are_those_of_host_memory(world: World) -> None:
    for dtype in ("f16", "bf16", "f32"):
        with world.on_gpu(dtype) as feed, world.cached(dtype) as host:
            for _ in range(2):
                assert contents(feed) == contents(host)


def test_resume_from_host_memory_to_the_gpu_and_back(world: World) -> None:
    with world.cached("f16") as host:
        whole = contents(host)
    with world.on_gpu("f16") as feed:
        loop = iter(feed)
        first = contents([next(loop) for _ in range(3)])
        state = feed.state_dict()
    with world.cached("f16", state=state) as host:
        assert first + contents(host) == whole
    with world.on_gpu("f16", state=state) as feed:
        assert first + contents(feed) == whole


def test_every_part_reaches_torch_numpy_and_copies_alike(world: World) -> None:
    more = {"data.with_audio": True, "data.reference": "speaker", "data.segment_frames": 8}
    with world.on_gpu("f16", **more) as feed, world.cached("f16", **more) as host:
        for batch, twin in zip(feed, host, strict=True):
            assert batch.device == "cuda:0"
            assert batch.mel.__dlpack_device__() == (2, 0)
            assert list(batch) == list(twin)
            parts, own, pinned = batch.to_torch(*batch), batch.copy(), batch.pin()
            for name, tensor in tensors_of(batch):
                same = array_digest(twin[name].numpy())
                is_begin = name in ("frame_begins", "token_begins")
                assert tensor.device == ("cpu" if is_begin else "cuda:0"), name
                assert parts[name].device == GPU
                assert digest_of(parts[name]) == same, name
                assert array_digest(tensor.numpy()) == same, name
                assert digest_of(from_dlpack(own[name])) == same, name
                assert digest_of(from_dlpack(pinned[name])) == same, name
                assert own[name].device == tensor.device
                assert pinned[name].is_pinned


def test_to_host_memory_by_dlpack_only_with_a_copy(world: World) -> None:
    with world.on_gpu("f16") as feed:
        batch = next(iter(feed))
        own = from_dlpack(batch.mel.__dlpack__(dl_device=(1, 0)))
        assert digest_of(own) == array_digest(batch.mel.numpy())
        with pytest.raises(BufferError):
            batch.mel.__dlpack__(dl_device=(1, 0), copy=False)
        with pytest.raises(BufferError):
            batch.mel.__dlpack__(dl_device=(2, 7))
        for stream in (0, 2):
            with pytest.raises(ValueError, match="stream"):
                batch.mel.__dlpack__(stream=stream)
        assert from_dlpack(batch.mel).data_ptr() == batch.mel.__cuda_array_interface__["data"][0]


def test_all_held_is_refused_with_names_and_stays_valid(world: World) -> None:
    held = []
    with world.on_gpu("f16", **{"data.stall_limit": 1.0}) as feed:
        with pytest.raises(stoker.UsageError) as refused:
            for batch in feed:
                held.append(batch)
        assert refused.value.code == "E-PIPE-LEASES"
        assert "device_feed_test.py:" in refused.value.found
        taken = contents_of(held)
    assert contents_of(held) == taken  # the feed is closed


def contents_of(batches: list[stoker.Batch]) -> list[str]:
    return [digest_of(from_dlpack(batch.mel)) for batch in batches]


def test_the_loop_of_torch_is_timed(world: World, capsys: pytest.CaptureFixture[str]) -> None:
    num_batches, num_frames = 0, 0
    with world.on_gpu("f16", batch_size=16, **{"gpu.buffer_size": 50}) as feed:
        begin = time.perf_counter()
        while time.perf_counter() - begin < 2:
            for batch in feed:
                mel = from_dlpack(batch.mel)
                num_batches += 1
                num_frames += mel.shape[0] * mel.shape[1]
        torch.cuda.synchronize()
        seconds = time.perf_counter() - begin
    with capsys.disabled():
        print(f"\ntorch loop: {num_batches / seconds:,.0f} batches/s, {num_frames / seconds / 1e6:.2f} M frames/s")
    assert num_batches > 100
