#!/usr/bin/env python3
"""Log-mel on one core, three programs in turn: stoker, torch.stft (what torchaudio does) and kaldi-native-fbank.

    python3 -m venv venv && venv/bin/pip install numpy kaldi-native-fbank torch==2.13.0
    venv/bin/python bench/peers/mel.py [--stoker build/stoker] [--rounds 5]

Every round runs each program for a short while, so that a busy machine slows all of them alike. Speeds are clips per
second of CPU time of the one thread that works: waiting for a core that others hold is not counted against anyone.
Ratios are of the medians over the rounds; best is given beside. Each peer's output is checked before it is timed.
Writes bench/results/peers-mel.md and .json.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

os.environ.setdefault("OMP_NUM_THREADS", "1")

import kaldi_native_fbank as knf
import numpy as np
import torch
from numpy.typing import NDArray

ROOT = Path(__file__).resolve().parent.parent.parent
RESULTS = ROOT / "bench" / "results"
CLIP_SAMPLES = 144953
BANDS = 80


def clip() -> NDArray[np.float32]:
    t = np.arange(CLIP_SAMPLES) / 22050.0
    phase = 2.0 * np.pi * np.cumsum(115.0 + 25.0 * np.sin(2.3 * t)) / 22050.0
    buzz = 0.16 * np.sin(phase) / (1.05 - np.cos(phase)) * np.clip(np.sin(9.4 * t), 0.0, None)
    hiss = 0.004 * np.random.default_rng(1).uniform(-1.0, 1.0, CLIP_SAMPLES)
    return np.asarray(np.round(np.clip(buzz + hiss, -1.0, 1.0) * 32767.0) / 32768.0, dtype=np.float32)


def slaney_bank() -> NDArray[np.float64]:
    """[80, 513] for 22050 Hz, 0-8000 Hz, area norm."""

    def hz(mel: NDArray[np.float64]) -> NDArray[np.float64]:
        return np.where(mel < 15.0, 200.0 * mel / 3.0, 1000.0 * np.exp((mel - 15.0) * np.log(6.4) / 27.0))

    edges = hz(np.linspace(0.0, 15.0 + 27.0 * np.log(8.0) / np.log(6.4), BANDS + 2))
    bins = np.arange(513) * 22050.0 / 1024.0
    low, top, high = edges[:-2, None], edges[1:-1, None], edges[2:, None]
    triangle = np.maximum(0.0, np.minimum((bins - low) / (top - low), (high - bins) / (high - top)))
    return np.asarray(triangle * 2.0 / (high - low))


class TorchMel:
    """The operations of torchaudio's MelSpectrogram with HiFi-GAN's padding and compression."""

    def __init__(self, dtype: torch.dtype) -> None:
        self.signal = torch.from_numpy(clip()).to(dtype)[None]
        self.window = torch.hann_window(1024, dtype=dtype)
        self.bank = torch.from_numpy(slaney_bank()).to(dtype)

    def __call__(self) -> torch.Tensor:
        padded = torch.nn.functional.pad(self.signal[None], (384, 384), mode="reflect")[0]
        spectrum = torch.stft(padded, 1024, 256, 1024, self.window, center=False, return_complex=True)
        magnitude = torch.sqrt(spectrum.real**2 + spectrum.imag**2 + 1e-9)
        return (self.bank @ magnitude).clamp(min=1e-5).log()


class KaldiMel:
    def __init__(self) -> None:
        self.samples = clip().tolist()
        self.options = knf.FbankOptions()
        self.options.frame_opts.dither = 0.0
        self.options.frame_opts.samp_freq = 22050.0
        self.options.frame_opts.frame_length_ms = 1024000.0 / 22050.0
        self.options.frame_opts.frame_shift_ms = 256000.0 / 22050.0
        self.options.frame_opts.snip_edges = False
        self.options.mel_opts.num_bins = BANDS
        self.options.mel_opts.high_freq = 8000.0

    def __call__(self) -> NDArray[np.float32]:
        fbank = knf.OnlineFbank(self.options)
        fbank.accept_waveform(22050, self.samples)
        fbank.input_finished()
        return np.stack([fbank.get_frame(i) for i in range(fbank.num_frames_ready)])


def check_peers(torch_mel: TorchMel, kaldi_mel: KaldiMel) -> None:
    exact = TorchMel(torch.float64)()
    got = torch_mel()
    if got.shape[-2:] != (BANDS, 566) or float((got - exact).abs().max()) > 5e-3:
        sys.exit("torch.stft: wrong result, nothing is timed")
    frames = kaldi_mel()
    if abs(len(frames) - 566) > 1 or frames.shape[1] != BANDS or not np.isfinite(frames).all():
        sys.exit("kaldi-native-fbank: wrong result, nothing is timed")


def clips_per_s(work: Callable[[], object], seconds: float) -> float:
    work()
    begin, cpu_begin = time.perf_counter(), time.thread_time()
    count = 0
    while time.perf_counter() - begin < seconds:
        work()
        count += 1
    return count / (time.thread_time() - cpu_begin)


def stoker_rows(program: Path, seconds: float) -> dict[str, float]:
    command = [str(program), "bench", "mel", "--json", "--threads", "1", "--seconds", str(seconds)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    rows = json.loads(done.stdout)["rows"]
    return {f"stoker {row['level']}": 1000.0 / float(row["cpu_s_per_1000_clips"]) for row in rows}


def measure(options: argparse.Namespace) -> dict[str, list[float]]:
    torch.set_num_threads(1)
    torch_mel, kaldi_mel = TorchMel(torch.float32), KaldiMel()
    check_peers(torch_mel, kaldi_mel)
    figures: dict[str, list[float]] = {}
    for _ in range(options.rounds):
        for name, value in stoker_rows(options.stoker, options.seconds).items():
            figures.setdefault(name, []).append(value)
        figures.setdefault("torch.stft", []).append(clips_per_s(torch_mel, options.seconds))
        figures.setdefault("kaldi-native-fbank", []).append(clips_per_s(kaldi_mel, options.seconds))
    return figures


def table(figures: dict[str, list[float]]) -> str:
    first = next(iter(figures))
    lines = [
        f"| program (one core, clips of 6.574 s) | median clips/CPU s | best | {first} is faster by |",
        "|---|---|---|---|",
    ]
    for name, values in figures.items():
        ratio = statistics.median(figures[first]) / statistics.median(values)
        lines.append(f"| {name} | {statistics.median(values):,.0f} | {max(values):,.0f} | {ratio:.1f} x |")
    return "\n".join(lines) + "\n"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--stoker", type=Path, default=ROOT / "build" / "stoker")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=1.0, help="of each program in each round")
    options = parser.parse_args()
    figures = measure(options)
    text = table(figures)
    print(text, end="")
    RESULTS.mkdir(parents=True, exist_ok=True)
    versions = {"torch": torch.__version__, "kaldi-native-fbank": knf.__version__}
    report = {"rounds": options.rounds, "seconds": options.seconds, "versions": versions, "clips_per_cpu_s": figures}
    (RESULTS / "peers-mel.json").write_text(json.dumps(report, indent=1) + "\n", encoding="utf-8")
    heading = f"torch {torch.__version__}, kaldi-native-fbank {knf.__version__}, {options.rounds} rounds in turn\n\n"
    (RESULTS / "peers-mel.md").write_text(heading + text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
