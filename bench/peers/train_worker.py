"""One process of the training race: makes the model and its batches, compiles, says that it is ready, waits for a word
on stdin and then measures. So all compile side by side, and each has the card to itself while it is measured."""

from __future__ import annotations

import argparse
import gc
import itertools
import json
import statistics
import sys
import time
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from bench.peers import train_model
from bench.peers.train_batches import SHAPES, Batch, BatchSize, make_batches, step_flops
from bench.peers.train_model import Tts

Json = dict[str, Any]
NUM_BATCHES = 4
PEAK_SIZE = 8192
LEARNING_RATE, CLIP_NORM, EMA_DECAY = 1e-4, 1.0, 0.999


def say(word: str, values: Json) -> None:
    print(word, json.dumps(values), flush=True)


def gradients_of(tensors: list[Tensor]) -> list[Tensor]:
    return [tensor.grad for tensor in tensors if tensor.grad is not None]


class Trainer:
    """A whole training step, as the trainer's own: losses, gradients, clipping, AdamW, average of the weights."""

    def __init__(self, asked: argparse.Namespace) -> None:
        torch.manual_seed(1)
        self.device = torch.device(asked.device)
        self.is_bf16 = asked.weights == "bf16"
        self.model = Tts(SHAPES[asked.size], asked.attention).to(self.device).train()
        full = [p.detach().clone() for p in self.model.parameters()]
        if self.is_bf16:
            self.model.to_bf16()
        self.parameters = list(self.model.parameters())
        # What the optimiser changes: the parameters, or float32 masters of those that are bf16.
        self.short: list[Tensor] = [p for p in self.parameters if p.dtype != torch.float32]
        self.masters = [f for p, f in zip(self.parameters, full, strict=True) if p.dtype != torch.float32]
        for master in self.masters:
            master.grad = torch.zeros_like(master)
        self.changed = self.masters + [p for p in self.parameters if p.dtype == torch.float32]
        self.average = [p.detach().clone() for p in self.changed]
        self.optimiser = torch.optim.AdamW(
            self.changed, lr=LEARNING_RATE, weight_decay=1e-6, fused=True, capturable=self.device.type == "cuda"
        )
        self.losses_of: Callable[..., train_model.Losses] = self.model
        if asked.compiled:
            self.losses_of = torch.compile(self.model, dynamic=False, fullgraph=True)
        self.figures = torch.zeros(4, device=self.device)

    def step(self, batch: Batch) -> None:
        draws = train_model.draw(batch.mel)
        with torch.autocast(self.device.type, torch.bfloat16, enabled=not self.is_bf16, cache_enabled=False):
            losses = self.losses_of(batch, draws)
        four = torch.stack([losses.duration, losses.prior, losses.flow, losses.alignment])
        torch.autograd.backward(four.sum())
        self.update()
        self.figures.copy_(four.detach())

    @torch.no_grad()
    def update(self) -> None:
        if self.masters:
            torch._foreach_copy_(gradients_of(self.masters), gradients_of(self.short))
        torch.nn.utils.clip_grad_norm_(self.changed, CLIP_NORM, foreach=True)
        self.optimiser.step()
        torch._foreach_lerp_(self.average, self.changed, 1 - EMA_DECAY)
        if self.masters:
            torch._foreach_copy_(self.short, self.masters)
        for parameter in self.parameters:
            parameter.grad = None


def wait(device: torch.device) -> None:
    if device.type == "cuda":
        torch.cuda.synchronize()


def capture(trainer: Trainer, batches: list[Batch]) -> Callable[[int], None]:
    """The step as one CUDA graph over a static batch, and a call that fills and replays it."""
    static = Batch(*(x.clone() for x in batches[0]))
    side = torch.cuda.Stream()  # type: ignore[no-untyped-call]
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        for _ in range(3):
            trainer.step(static)
    torch.cuda.current_stream().wait_stream(side)
    torch.cuda.synchronize()
    gc.collect()
    torch.cuda.empty_cache()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph, stream=side):
        trainer.step(static)

    def replay(number: int) -> None:
        for mine, given in zip(static, batches[number % len(batches)], strict=True):
            mine.copy_(given)
        graph.replay()

    return replay


def new_mark() -> torch.cuda.Event:
    return torch.cuda.Event(enable_timing=True)  # type: ignore[no-untyped-call]


def time_steps(step: Callable[[int], object], device: torch.device, seconds: float) -> list[float]:
    """Milliseconds of each step in the window, by the card's clock where there is a card."""
    for number in range(5):
        step(number)
    wait(device)
    if device.type != "cuda":
        found: list[float] = []
        while sum(found) < 1e3 * seconds or len(found) < 2:
            began = time.perf_counter()
            step(len(found))
            found.append(1e3 * (time.perf_counter() - began))
        return found
    marks = [new_mark()]
    marks[0].record()
    began = time.perf_counter()
    while time.perf_counter() - began < seconds or len(marks) < 11:
        step(len(marks))
        marks.append(new_mark())
        marks[-1].record()
        if len(marks) > 20:
            marks[-20].synchronize()  # at most so many steps ahead of the card, so that the window ends in time
    torch.cuda.synchronize()
    return [a.elapsed_time(b) for a, b in itertools.pairwise(marks)]


def peak_flops(device: torch.device) -> float | None:
    """Of a large bf16 product on this card, operations a second."""
    if device.type != "cuda":
        return None
    a, b = (torch.randn(PEAK_SIZE, PEAK_SIZE, device=device, dtype=torch.bfloat16) for _ in range(2))
    times = time_steps(lambda _: torch.mm(a, b), device, 0.3)
    return 2 * PEAK_SIZE**3 / (statistics.median(times) / 1e3)


def measure(trainer: Trainer, batches: list[Batch], is_graph: bool, seconds: float) -> Json:
    began = time.perf_counter()
    step = capture(trainer, batches) if is_graph else lambda number: trainer.step(batches[number % len(batches)])
    captured_s = time.perf_counter() - began
    times = time_steps(step, trainer.device, seconds)
    losses = trainer.figures.tolist()
    if not all(abs(loss) < 1e6 for loss in losses):
        raise RuntimeError(f"losses are not finite after {len(times)} steps: {losses}")
    step_s = statistics.mean(times) / 1e3
    true_frames = statistics.mean(float(batch.mel_len.sum()) for batch in batches)
    padded_frames = batches[0].mel.shape[0] * batches[0].mel.shape[1]
    return {
        "ms": step_s * 1e3,
        "ms_median": statistics.median(times),
        "steps": len(times),
        "padded_frames_per_s": padded_frames / step_s,
        "true_frames_per_s": true_frames / step_s,
        "flops_per_s": step_flops(trainer.model.shape, batches[0]) / step_s,
        "capture_s": captured_s if is_graph else None,
        "memory_gib": torch.cuda.max_memory_allocated() / 2**30 if trainer.device.type == "cuda" else None,
        "last_losses": losses,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--device", required=True)
    parser.add_argument("--size", choices=SHAPES, required=True)
    parser.add_argument("--attention", required=True)
    parser.add_argument("--weights", choices=("fp32", "bf16"), required=True)
    parser.add_argument("--compiled", action="store_true")
    parser.add_argument("--stages", required=True, help="plain, graph or both, with a comma between")
    parser.add_argument("--frames", type=int, default=0)
    parser.add_argument("--rows", type=int, default=0)
    parser.add_argument("--seconds", type=float, required=True)
    asked = parser.parse_args()
    torch.set_float32_matmul_precision("high")
    trainer = Trainer(asked)
    made = make_batches(SHAPES[asked.size], BatchSize(asked.frames, asked.rows), NUM_BATCHES)
    batches = [Batch(*(x.to(trainer.device) for x in batch)) for batch in made]
    began = time.perf_counter()
    torch.manual_seed(5)
    trainer.step(batches[0])
    wait(trainer.device)
    ready = {
        "first_step_s": time.perf_counter() - began,
        "first_losses": trainer.figures.tolist(),
        "parameters": sum(p.numel() for p in trainer.parameters),
        "rows": batches[0].mel.shape[0],
        "padded_length": batches[0].mel.shape[1],
        "padding": 1 - float(sum(b.mel_len.sum() for b in batches)) / sum(b.mel[..., 0].numel() for b in batches),
    }
    if trainer.device.type == "cuda":
        torch.cuda.empty_cache()  # others compile meanwhile
    say("READY", ready)
    if sys.stdin.readline().strip() != "measure":
        return
    say("PEAK", {"flops_per_s": peak_flops(trainer.device)})
    for stage in asked.stages.split(","):
        say("RESULT", {"stage": stage, **measure(trainer, batches, stage == "graph", asked.seconds)})


if __name__ == "__main__":
    main()
