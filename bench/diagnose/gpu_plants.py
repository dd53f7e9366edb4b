"""The causes that need a GPU: what is planted there, and a feed into its memory that is healthy."""

from __future__ import annotations

from typing import Any

from bench.diagnose.plants import Draw, Plant
from bench.diagnose.scene import Trial

Json = dict[str, Any]


def on_gpu(draw: Draw, device: Json, **values: object) -> Trial:
    """A feed into GPU memory, and a consumer of kernels that it satisfies."""
    values = {"device": "cuda", "data__batch_frames": 40_000} | values
    settings = draw.settings("long", **values)
    step_s = 1 / (draw.used * draw.scene.supply(settings).batches_per_s)
    return draw.trial(settings, step_s, device=device)


def pageable_copies(draw: Draw) -> Trial:
    """The demand is what pinned copies meet."""
    draw.scene.precompute("long")
    values = {"data__preprocessing_mode": "precompute", "gpu__copy_from_cache": "false", "data__batch_dtype": "f32"}
    trial = on_gpu(draw, {}, **values)
    trial.plan["settings"].append("gpu.pin_memory=false")
    return trial


def demand_beyond_bus(draw: Draw) -> Trial:
    """Batches of f32 at a demand beyond the bus, with and without somebody else on it."""
    draw.scene.precompute("long")
    values = {"data__preprocessing_mode": "precompute", "data__batch_dtype": "f32"}
    draw.used = 1 / draw.met
    return on_gpu(draw, {"num_on_bus": draw.rng.choice([0, 1, 2])}, **values)


def mel_contention(draw: Draw) -> Trial:
    """Samples come from a cache, so that the GPU is what bounds the supply; such mels are computed in f64 there."""
    hop = draw.rng.choice([64, 96, 128])
    cache = draw.scene.folder / f"samples-{hop}"
    values = {"features__preset": "myxtts_tf", "features__hop_length": hop, "cache__content": "pcm"}
    values |= {"cache__dir": cache, "data__preprocessing_mode": "precompute", "gpu__mel_place": "gpu"}
    draw.scene.precompute_samples("long", cache, hop)
    return on_gpu(draw, {}, **values)


def sync_on_gpu(draw: Draw) -> Trial:
    trial = on_gpu(draw, {})
    trial.plan["device"]["pause_ms"] = trial.plan["step_ms"] * draw.lost / (1 - draw.lost)
    return trial


def tiny_kernels(draw: Draw) -> Trial:
    return on_gpu(draw, {"num_tiny": draw.rng.randrange(2000, 8000)})


def throttled_on_gpu(draw: Draw) -> Trial:
    trial = on_gpu(draw, {})
    trial.plan["machine"] = {"gpu_clock_share": draw.rng.uniform(0.3, 0.75)}
    return trial


GPU_PLANTS: tuple[Plant, ...] = (
    Plant("pageable copies", ("pageable_copies",), "feed", "outside", pageable_copies),
    Plant("a demand beyond the bus", ("narrow_bus",), "feed", "outside", demand_beyond_bus),
    Plant("mels beside the model", ("mel_contention",), "feed", "outside", mel_contention),
    Plant("a sync in every step on the GPU", ("host_sync",), "consumer", "seam", sync_on_gpu),
    Plant("thousands of tiny kernels", ("small_kernels",), "consumer", "seam", tiny_kernels),
    Plant("a throttled card that works", ("throttling",), "feed", "seam", throttled_on_gpu),
)


def healthy_on_gpu(draw: Draw) -> Trial:
    """Mels from the cache or from the cores, and a step of products that they are in time for."""
    mode = draw.rng.choice(["runtime", "precompute"])
    if mode == "precompute":
        draw.scene.precompute("long")
    draw.used *= draw.rng.uniform(0.4, 1)
    values = {"data__preprocessing_mode": mode, "gpu__mel_place": "cpu"}
    return on_gpu(draw, {}, **values)
