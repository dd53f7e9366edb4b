"""Every cause that is planted, with the names that a right diagnosis gives it first.

A plant draws a healthy feed and a consumer that it would satisfy, then spoils one thing by a drawn amount: the feed
brings `met` of the demand, or the consumer loses `lost` of its time by itself.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from bench.diagnose import outside
from bench.diagnose.scene import Scene, Supply, Trial, draw_batch

Json = dict[str, Any]
Planting = Callable[["Draw"], Trial]


class Draw:
    """One trial's random choices, and the healthy feed that they begin with."""

    def __init__(self, scene: Scene, rng: random.Random, budget_s: float) -> None:
        self.scene, self.rng, self.budget_s = scene, rng, budget_s
        self.batch = draw_batch(rng)
        self.used = rng.uniform(0.45, 0.7)  # of what the healthy feed could bring
        self.met = rng.uniform(0.4, 0.75)  # of the demand, once it is spoilt
        self.lost = rng.uniform(0.12, 0.45)  # of its time, by a spoilt consumer

    @property
    def num_cores(self) -> int:
        return self.scene.num_cores

    def settings(self, name: str, **values: object) -> list[str]:
        return self.scene.settings(name, **(self.batch | values))

    def supply(self, name: str, **values: object) -> Supply:
        return self.scene.supply(self.settings(name, **values))

    def trial(self, settings: list[str], step_s: float, **plan: object) -> Trial:
        return Trial({"settings": settings, "budget_s": self.budget_s, "step_ms": 1e3 * step_s, **plan})

    def healthy_step(self, name: str, **values: object) -> float:
        return 1 / (self.used * self.supply(name, **values).batches_per_s)

    def extra_clip_ms(self, name: str, step_s: float, num_parallel: float) -> float:
        """What each utterance must cost more, so that the demand is met as drawn, with so many at once."""
        supply = self.supply(name)
        healthy_s = self.num_cores / supply.batches_per_s
        extra_s = num_parallel * step_s / self.met - healthy_s
        return 1e3 * max(0.0, extra_s) / supply.clips_per_batch


def storage_latency(draw: Draw) -> Trial:
    step_s = draw.healthy_step("plain")
    extra_ms = draw.extra_clip_ms("plain", step_s, draw.num_cores)
    at_open = draw.rng.random()
    storage = {"open_ms": at_open * extra_ms, "read_ms": (1 - at_open) * extra_ms / 2}
    return draw.trial(draw.settings("plain"), step_s, storage=storage)


def storage_rate(draw: Draw) -> Trial:
    step_s = draw.healthy_step("long")
    bytes_per_s = draw.supply("long").bytes_per_batch * draw.met / step_s
    return draw.trial(draw.settings("long"), step_s, storage={"mb_per_s": bytes_per_s / 1e6})


def cold_files(draw: Draw) -> Trial:
    step_s = draw.healthy_step("long")
    trial = draw.trial(draw.settings("long"), step_s)
    trial.cold_files = draw.scene.sounds("long")
    return trial


def network_storage(draw: Draw) -> Trial:
    trial = storage_latency(draw)
    trial.plan["machine"] = {"storage_kind": "network"}
    return trial


def tiny_files(draw: Draw) -> Trial:
    step_s = draw.healthy_step("tiny")
    extra_ms = draw.extra_clip_ms("tiny", step_s, draw.num_cores)
    return draw.trial(draw.settings("tiny"), step_s, storage={"open_ms": extra_ms})


def slow_file(draw: Draw) -> Trial:
    step_s = draw.healthy_step("plain")
    supply = draw.supply("plain")
    epoch_s = len(draw.scene.sounds("plain")) / supply.clips_per_batch * step_s
    buffered_s = float(draw.batch["data__prefetch_buffer_size"]) * step_s
    slow_ms = 1e3 * (buffered_s + draw.lost * epoch_s / (1 - draw.lost))
    file = draw.rng.choice(draw.scene.sounds("plain")).name
    return draw.trial(draw.settings("plain"), step_s, storage={"only": file, "open_ms": slow_ms})


def giant_file(draw: Draw) -> Trial:
    batch = {"data__batch_frames": 8000, "data__prefetch_buffer_size": draw.rng.choice([2, 3])}
    step_s = draw.healthy_step("plain", **batch)
    return draw.trial(draw.settings("giant", **batch), step_s)


def decode(draw: Draw) -> Trial:
    return draw.trial(draw.settings("flac"), draw.healthy_step("few"))


def resample(draw: Draw) -> Trial:
    return draw.trial(draw.settings("high"), draw.healthy_step("few"))


def mel(draw: Draw) -> Trial:
    return draw.trial(draw.settings("long"), draw.met / draw.supply("long").batches_per_s)


def slow_stage(draw: Draw, stage: str) -> Trial:
    step_s = draw.healthy_step("plain")
    cpu_ms = draw.extra_clip_ms("plain", step_s, draw.num_cores)
    return draw.trial(draw.settings("plain"), step_s, stage={"stage": stage, "cpu_ms": cpu_ms})


def serial_stage(draw: Draw) -> Trial:
    """The reading of all workers is one at a time: of many cores one is used."""
    if draw.num_cores < 2:
        raise outside.CannotPlantError("one core is all there is")
    step_s = 1 / (draw.rng.uniform(0.75, 0.9) * draw.supply("plain").batches_per_s)
    stage = {"stage": draw.rng.choice(["decode", "resample", "mel"]), "is_serial": 1}
    return draw.trial(draw.settings("plain"), step_s, stage=stage)


def padding(draw: Draw) -> Trial:
    settings = draw.settings("uneven", data__static_shapes="true", data__batch_layout="padded")
    step_s = 1 / (draw.used * draw.scene.supply(settings).batches_per_s)
    return draw.trial(settings, step_s)


def few_workers(draw: Draw) -> Trial:
    if draw.num_cores < 2:
        raise outside.CannotPlantError("one core is all there is")
    step_s = 1 / (draw.rng.uniform(0.75, 0.9) * draw.supply("plain").batches_per_s)
    return draw.trial(draw.settings("plain", data__num_workers=1), step_s)


def many_workers(draw: Draw) -> Trial:
    """Workers beyond the cores cost this engine nothing by themselves: 32 on one core bring what one brings. So the
    core is as right a name as the workers."""
    cores = draw.rng.sample(outside.allowed_cores(), 1)
    alone = draw.scene.supply(draw.settings("plain", data__num_workers=1), cores)
    settings = draw.settings("plain", data__num_workers=draw.rng.choice([6, 8, 12, 16]))
    trial = draw.trial(settings, 1 / (draw.rng.uniform(1.15, 1.6) * alone.batches_per_s))
    trial.cores = cores
    return trial


def cpu_quota(draw: Draw) -> Trial:
    step_s = draw.healthy_step("plain")
    trial = draw.trial(draw.settings("plain"), step_s)
    trial.quota_cores = draw.num_cores * draw.used * draw.met
    return trial


def busy_neighbour(draw: Draw) -> Trial:
    step_s = 1 / (draw.rng.uniform(0.75, 0.9) * draw.supply("plain").batches_per_s)
    trial = draw.trial(draw.settings("plain"), step_s)
    trial.num_neighbours = draw.num_cores * draw.rng.choice([1, 2])
    return trial


def memory_pressure(draw: Draw) -> Trial:
    trial = storage_latency(draw)
    pages_per_s = draw.rng.uniform(500, 20_000)
    trial.plan["machine"] = {"swap_in_pages_per_s": pages_per_s, "memory_pressure": draw.rng.uniform(0.1, 0.6)}
    return trial


def small_buffer(draw: Draw) -> Trial:
    """Now and then a read takes so long that a buffer of one cannot bridge it, while the mean is well met."""
    step_s = draw.healthy_step("plain")
    waited_steps = draw.rng.uniform(3, 6)
    spare = draw.num_cores * (1 - draw.used)  # steps of a worker, for each batch
    chance = 0.5 * spare / waited_steps / draw.supply("plain").clips_per_batch
    stage = {"stage": "fetch", "wait_ms": 1e3 * step_s * waited_steps, "chance": chance}
    return draw.trial(draw.settings("plain", data__prefetch_buffer_size=1), step_s, stage=stage)


def throttling(draw: Draw) -> Trial:
    machine = {"gpu_clock_share": draw.rng.uniform(0.3, 0.75)}
    return draw.trial(draw.settings("plain"), draw.healthy_step("plain"), machine=machine)


def start_up(draw: Draw) -> Trial:
    step_s = draw.healthy_step("plain")
    first_s = draw.budget_s * draw.rng.uniform(0.1, 0.25)
    count = round(float(draw.batch["data__prefetch_buffer_size"]) * draw.supply("plain").clips_per_batch / 2)
    storage = {"only_first": count, "open_ms": 1e3 * first_s * draw.num_cores / count}
    return draw.trial(draw.settings("plain"), step_s, storage=storage)


def consumer(draw: Draw, **plan: object) -> Trial:
    name = draw.rng.choice(["plain", "long", "tiny"])
    return draw.trial(draw.settings(name), draw.healthy_step(name), consumer=plan)


def worker_of(work: str, every: list[int]) -> Planting:
    """A consumer that does this work in every so many steps."""

    def plant(draw: Draw) -> Trial:
        chosen = draw.rng.choice(every)
        trial = consumer(draw, work=work, every=chosen, is_busy=int(draw.rng.random() < 0.5))
        share = draw.lost / (1 - draw.lost)
        trial.plan["consumer"]["work_ms"] = share * chosen * trial.plan["step_ms"]
        return trial

    return plant


def slow_step(draw: Draw) -> Trial:
    return consumer(draw, step_factor=draw.rng.uniform(1.4, 3))


def holds_batches(draw: Draw) -> Trial:
    depth = draw.rng.choice([3, 4, 6])
    step_s = draw.healthy_step("plain")
    settings = draw.settings("plain", data__prefetch_buffer_size=depth)
    return draw.trial(settings, step_s, consumer={"num_held": depth + 1})  # of depth + 2 slots


def uneven_ranks(draw: Draw) -> Trial:
    values = {"data__world_size": 2, "data__rank": draw.rng.randrange(2)}
    step_s = 2 * draw.healthy_step("plain")
    plan = {"work": "sync", "every": 1, "work_ms": 1e3 * step_s * draw.lost / (1 - draw.lost)}
    return draw.trial(draw.settings("plain", **values), step_s, consumer=plan)


def stage_plant(stage: str) -> Planting:
    return lambda draw: slow_stage(draw, stage)


@dataclass(frozen=True)
class Plant:
    """`names`: what a right diagnosis calls it first. `side`: whose time it costs. `where`: a seam of the program,
    or outside of it."""

    name: str
    names: tuple[str, ...]
    side: str
    where: str
    plant: Planting


PLANTS: tuple[Plant, ...] = (
    Plant("storage with latency", ("storage_slow",), "feed", "seam", storage_latency),
    Plant("storage with a low rate", ("storage_slow",), "feed", "seam", storage_rate),
    Plant("files that left memory", ("storage_slow",), "feed", "outside", cold_files),
    Plant("network storage", ("remote_storage",), "feed", "seam", network_storage),
    Plant("many tiny files", ("tiny_files",), "feed", "seam", tiny_files),
    Plant("one slow file", ("slow_file",), "feed", "seam", slow_file),
    Plant("one giant file", ("slow_file",), "feed", "outside", giant_file),
    Plant("compressed files", ("decode",), "feed", "outside", decode),
    Plant("files of 48 kHz", ("resample",), "feed", "outside", resample),
    Plant("demand beyond all cores", ("mel",), "feed", "outside", mel),
    Plant("slow decoding", ("decode",), "feed", "seam", stage_plant("decode")),
    Plant("slow text", ("text",), "feed", "seam", stage_plant("text")),
    Plant("slow assembly", ("assembly",), "feed", "seam", stage_plant("assemble")),
    Plant("a lock around a stage", ("serial_stage",), "feed", "seam", serial_stage),
    Plant("one shape for all lengths", ("padding",), "feed", "outside", padding),
    Plant("one worker", ("few_workers",), "feed", "outside", few_workers),
    Plant("workers beyond the cores", ("many_workers", "mel"), "feed", "outside", many_workers),
    Plant("a CPU quota", ("cpu_quota",), "feed", "outside", cpu_quota),
    Plant("busy neighbours", ("busy_neighbour",), "feed", "outside", busy_neighbour),
    Plant("memory pressure", ("memory_pressure",), "feed", "seam", memory_pressure),
    Plant("a buffer of one", ("small_buffer",), "feed", "seam", small_buffer),
    Plant("a throttled card", ("throttling",), "feed", "seam", throttling),
    Plant("a slow start", ("start_up",), "feed", "seam", start_up),
    Plant("a step longer than said", ("slow_step",), "consumer", "seam", slow_step),
    Plant("logging", ("logging",), "consumer", "seam", worker_of("logging", [5, 10, 20])),
    Plant("checkpoints", ("checkpoint",), "consumer", "seam", worker_of("checkpoint", [25, 50])),
    Plant("validation", ("validation",), "consumer", "seam", worker_of("validation", [40, 60])),
    Plant("host work in every step", ("host_work",), "consumer", "seam", worker_of("other", [1])),
    Plant("host work that is not said", ("host_work",), "consumer", "seam", worker_of("unsaid", [5, 8, 10])),
    Plant("a sync in every step", ("host_sync",), "consumer", "seam", worker_of("sync", [1])),
    Plant("batches that are held", ("holds_batches",), "consumer", "seam", holds_batches),
    Plant("ranks that wait for each other", ("uneven_ranks",), "consumer", "seam", uneven_ranks),
)


def healthy(draw: Draw) -> Trial:
    """A feed with room to spare, with or without a cache, and a consumer that logs a little."""
    name = draw.rng.choice(["plain", "long", "few", "tiny"])
    mode = draw.rng.choice(["runtime", "runtime", "precompute"])
    if mode == "precompute":
        draw.scene.precompute(name)
    step_s = draw.healthy_step(name) * draw.rng.uniform(1, 2.5)  # a cache only makes it faster
    trial = draw.trial(draw.settings(name, data__preprocessing_mode=mode), step_s)
    if draw.rng.random() < 0.5:
        every = draw.rng.choice([10, 50])
        work_ms = 0.01 * every * trial.plan["step_ms"]
        trial.plan["consumer"] = {"work": "logging", "every": every, "work_ms": work_ms}
    return trial


def both(first: Plant, second: Plant) -> Planting:
    """Two causes in one run: what the second does to the consumer is put into the first's trial, each by half."""

    def plant(draw: Draw) -> Trial:
        draw.met = draw.rng.uniform(0.6, 0.75)
        trial = first.plant(draw)
        other = second.plant(draw)
        scale = trial.plan["step_ms"] / other.plan["step_ms"]
        work = dict(other.plan["consumer"])
        # The consumer's own loss must not hide the feed's: the step is shortened by as much.
        own = float(work.get("work_ms", 0.0)) * scale / float(work.get("every", 1))
        work["work_ms"] = float(work.get("work_ms", 0.0)) * scale
        trial.plan["consumer"] = work
        trial.plan["step_ms"] = max(0.3 * trial.plan["step_ms"], trial.plan["step_ms"] - own)
        return trial

    return plant


def named(name: str, among: tuple[Plant, ...] = PLANTS) -> Plant:
    return next(plant for plant in among if plant.name == name)


PAIRS: tuple[tuple[Plant, Plant], ...] = tuple(
    (named(first), named(second))
    for first, second in (
        ("storage with latency", "logging"),
        ("storage with a low rate", "checkpoints"),
        ("slow decoding", "validation"),
        ("compressed files", "logging"),
        ("files of 48 kHz", "host work in every step"),
        ("many tiny files", "a sync in every step"),
        ("one worker", "logging"),
        ("a lock around a stage", "checkpoints"),
        ("slow text", "host work that is not said"),
        ("network storage", "validation"),
    )
)
