#!/usr/bin/env python3
"""Log-mel on one GPU, two programs in one run: stoker, and torchaudio with a CUDA graph at its best batch.

    python3 bench/peers/gpu_mel.py [--stoker build/stoker] [--out bench/results/gpu-mel]

Needs torch with CUDA; torchaudio where it is installed, else the same steps (torch.stft, a product with the filters,
a logarithm). The peer gets int16 on the device, as stoker does, in padded batches: once with utterances of equal length
(6.5 s), once with LJSpeech-like lengths (1.1 to 10.1 s) padded to the longest of the pool. Its output is compared with
its own f64 steps before it is timed. Writes FILE.json and FILE.md.
"""

import argparse
import json
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import torch

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
from bench.peers.hifigan_mel import (
    BANDS,
    EDGE_SAMPLES,
    EPSILON,
    FFT_SAMPLES,
    FLOOR,
    HIGH_HZ,
    HOP_SAMPLES,
    RATE_HZ,
    slaney_bank,
)
from bench.program import ended, run_stoker

POOL = 2048
BATCHES = (16, 64, 256, 512, 1024, 2048)
REPETITIONS = 15
MEAN_S = 6.5

Step = Callable[[torch.Tensor], torch.Tensor]


def lengths(equal: bool) -> list[int]:
    """Samples of each utterance; the ragged ones are those of stoker's own pool."""
    if equal:
        return [int(MEAN_S * RATE_HZ)] * POOL
    state, drawn = 77, []
    for _ in range(POOL):
        state = (state * 6364136223846793005 + 1442695040888963407) % 2**64
        u = (state >> 11) / 2**53
        drawn.append(int((1.1 + 9.0 * (0.6 * u**0.5 + 0.4 * u)) * RATE_HZ))
    return drawn


def make_pool(samples: list[int]) -> torch.Tensor:
    """[utterances, longest] int16 on the GPU, noise where there is sound and zeros after it."""
    generator = torch.Generator(device="cuda").manual_seed(1)
    pool = torch.zeros((len(samples), max(samples)), dtype=torch.int16, device="cuda")
    for row, count in enumerate(samples):
        pool[row, :count] = torch.randint(-9000, 9000, (count,), generator=generator, device="cuda", dtype=torch.int16)
    return pool


def torchaudio_step() -> tuple[str, Step]:
    """What its users write: MelSpectrogram with HiFi-GAN's numbers, then the logarithm."""
    import torchaudio

    mel = torchaudio.transforms.MelSpectrogram(
        sample_rate=RATE_HZ,
        n_fft=FFT_SAMPLES,
        hop_length=HOP_SAMPLES,
        f_max=HIGH_HZ,
        n_mels=BANDS,
        power=1.0,
        center=False,
        norm="slaney",
        mel_scale="slaney",
    ).cuda()

    def step(pcm: torch.Tensor) -> torch.Tensor:
        wave = torch.nn.functional.pad(pcm.float() / 32768.0, (EDGE_SAMPLES, EDGE_SAMPLES), mode="reflect")
        return torch.log(torch.clamp(mel(wave), min=FLOOR)).transpose(1, 2).contiguous()

    return f"torchaudio {torchaudio.__version__}", step


def torch_step(dtype: torch.dtype = torch.float32) -> tuple[str, Step]:
    bank = torch.from_numpy(slaney_bank()).to("cuda", dtype)
    window = torch.hann_window(FFT_SAMPLES, device="cuda", dtype=dtype)

    def step(pcm: torch.Tensor) -> torch.Tensor:
        wave = torch.nn.functional.pad(pcm.to(dtype) / 32768.0, (EDGE_SAMPLES, EDGE_SAMPLES), mode="reflect")
        z = torch.stft(wave, FFT_SAMPLES, HOP_SAMPLES, window=window, center=False, return_complex=True)
        magnitude = torch.sqrt(z.real**2 + z.imag**2 + EPSILON)
        return torch.log(torch.clamp(magnitude.transpose(1, 2) @ bank, min=FLOOR))

    return f"torch.stft, torch {torch.__version__}", step


def peer_step() -> tuple[str, Step]:
    try:
        return torchaudio_step()
    except (ImportError, OSError):
        return torch_step()


def check(step: Step, pool: torch.Tensor) -> float:
    """The largest difference from f64 where the mel is loud; raises when it is not the same feature."""
    short = pool[:4, : 40 * HOP_SAMPLES]
    exact = torch_step(torch.float64)[1](short)
    off = (step(short).double() - exact).abs()[exact > np.log(1e-3)].max().item()
    if not off < 5e-3:
        raise SystemExit(f"the peer's log-mel is off by {off}")
    return float(off)


def clips_per_s(step: Step, pool: torch.Tensor, batch: int) -> float:
    """Median over replays of a graph that runs the whole pool, batch after batch."""
    parts = [pool[first : first + batch] for first in range(0, pool.shape[0], batch)]
    for _ in range(2):
        step(parts[0])
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        outputs = None
        for part in parts:
            outputs = step(part)
    times = []
    for _ in range(REPETITIONS + 1):
        begin_s = time.perf_counter()
        graph.replay()
        torch.cuda.synchronize()
        times.append(time.perf_counter() - begin_s)
    del outputs
    return float(pool.shape[0] / np.median(times[1:]))


def run_peer(equal: bool) -> dict[str, Any]:
    name, step = peer_step()
    pool = make_pool(lengths(equal))
    off = check(step, pool)
    speeds = {}
    for batch in BATCHES:
        try:
            speeds[batch] = clips_per_s(step, pool, batch)
        except torch.cuda.OutOfMemoryError:
            break
        finally:
            torch.cuda.empty_cache()
    best = max(speeds, key=lambda batch: speeds[batch])
    return {
        "program": name,
        "lengths": "equal" if equal else "ragged, padded",
        "max_difference_loud": off,
        "clips_per_s": {str(batch): speed for batch, speed in speeds.items()},
        "best_batch": best,
        "best_clips_per_s": speeds[best],
    }


def table(results: dict[str, Any]) -> str:
    lines = [
        f"Log-mel (hifigan) on one {results['gpu']}: clips per second, utterances of {results['mean_s']:.2f} s.",
        "",
        "| program | lengths | best batch | clips/s | stoker is faster by |",
        "|---|---|---|---|---|",
        f"| stoker, {results['stoker_kernel']} kernel | ragged | {results['stoker_batch']} "
        f"| {results['stoker_clips_per_s']:,.0f} | |",
    ]
    for peer in results["peers"]:
        lines.append(
            f"| {peer['program']} | {peer['lengths']} | {peer['best_batch']} | {peer['best_clips_per_s']:,.0f} "
            f"| {peer['stoker_times']:.1f}x |"
        )
    return "\n".join(lines) + "\n"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--stoker", default="build/stoker")
    parser.add_argument("--variant", default="auto", help="stoker's kernel")
    parser.add_argument("--out", type=Path, default=Path("bench/results/gpu-mel"))
    options = parser.parse_args()
    if not torch.cuda.is_available():
        print("no GPU that torch can use", file=sys.stderr)
        return 6
    asks = ["bench", "mel", "--device", "cuda", "--variant", options.variant]
    stoker = run_stoker(options.stoker, *asks, tells=False)
    row = stoker["rows"][0]
    best = max(row["batches"], key=lambda entry: float(entry["clips_per_s"]))
    peers = [run_peer(equal) for equal in (True, False)]
    # Equal lengths of 6.5 s: stoker's speed on the ragged pool, in frames, is the same work.
    for peer in peers:
        scale = stoker["mean_s"] / MEAN_S if peer["lengths"] == "equal" else 1.0
        peer["stoker_times"] = best["clips_per_s"] * scale / peer["best_clips_per_s"]
    results = {
        "gpu": stoker["gpu"],
        "mean_s": stoker["mean_s"],
        "stoker_kernel": row["variant"],
        "stoker_batch": best["batch"],
        "stoker_clips_per_s": best["clips_per_s"],
        "peers": peers,
        "stoker": stoker,
    }
    options.out.with_suffix(".json").write_text(json.dumps(results, indent=1) + "\n", encoding="utf-8")
    options.out.with_suffix(".md").write_text(table(results), encoding="utf-8")
    print(table(results))
    return 0


if __name__ == "__main__":
    sys.exit(ended(main))
