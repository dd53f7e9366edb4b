"""The peers of mel.py in one process: checks each against float64, then times whichever it is asked for.

Reads lines "name seconds", answers each with one line of JSON. The first line it writes says what the checks found.
"""

import json
import os
import sys
import time
from collections.abc import Callable
from importlib.metadata import version

os.environ.update(OMP_NUM_THREADS="1", MKL_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1", NUMBA_NUM_THREADS="1")

import kaldi_native_fbank as knf
import librosa
import numpy as np
import torch
from numpy.typing import NDArray

from bench.peers import hifigan_mel
from bench.peers.torch_mel import TorchaudioMel, TorchMel

Array = NDArray[np.float64]
CLIP_SAMPLES = 144953
PACKAGES = ("torch", "kaldi-native-fbank", "librosa", "numpy")
# How far from float64 a sound f32 program may be, in units of the logarithm; torchaudio and librosa add no 1e-9 under
# the root.
LIMITS = {"torchaudio": 5e-2, "torch.stft": 5e-3, "librosa": 5e-2, "kaldi-native-fbank": 5e-3}


def clip() -> NDArray[np.float32]:
    t = np.arange(CLIP_SAMPLES) / 22050.0
    phase = 2.0 * np.pi * np.cumsum(115.0 + 25.0 * np.sin(2.3 * t)) / 22050.0
    buzz = 0.16 * np.sin(phase) / (1.05 - np.cos(phase)) * np.clip(np.sin(9.4 * t), 0.0, None)
    hiss = 0.004 * np.random.default_rng(1).uniform(-1.0, 1.0, CLIP_SAMPLES)
    return np.asarray(np.round(np.clip(buzz + hiss, -1.0, 1.0) * 32767.0) / 32768.0, dtype=np.float32)


def frames_of(samples: Array) -> Array:
    return np.lib.stride_tricks.sliding_window_view(samples, 1024)[::256]


def hifigan_f64(samples: Array) -> Array:
    frames = frames_of(np.pad(samples, hifigan_mel.EDGE_SAMPLES, mode="reflect"))
    window = 0.5 - 0.5 * np.cos(2.0 * np.pi * np.arange(1024) / 1024)
    power = np.abs(np.fft.rfft(frames * window)) ** 2 + hifigan_mel.EPSILON
    mel = np.sqrt(power) @ hifigan_mel.slaney_bank().astype(np.float64)
    return np.asarray(np.log(np.maximum(mel, hifigan_mel.FLOOR)))


def kaldi_f64(samples: Array) -> Array:
    frames = frames_of(np.pad(samples, hifigan_mel.EDGE_SAMPLES, mode="symmetric"))
    frames = frames - frames.mean(axis=1, keepdims=True)
    frames = frames - 0.97 * np.concatenate([frames[:, :1], frames[:, :-1]], axis=1)
    window = (0.5 - 0.5 * np.cos(2.0 * np.pi * np.arange(1024) / 1023)) ** 0.85
    power = np.abs(np.fft.rfft(frames * window)) ** 2
    ends = 1127.0 * np.log1p(np.array([20.0, 8000.0]) / 700.0)
    edges = np.linspace(ends[0], ends[1], hifigan_mel.BANDS + 2)
    bins = 1127.0 * np.log1p(np.arange(513) * 22050.0 / 1024.0 / 700.0)
    low, top, high = edges[:-2, None], edges[1:-1, None], edges[2:, None]
    bank = np.maximum(0.0, np.minimum((bins - low) / (top - low), (high - bins) / (high - top)))
    return np.asarray(np.log(np.maximum(power @ bank.T, 1.1920929e-7)))


def kaldi_mel(samples: list[float]) -> NDArray[np.float32]:
    options = knf.FbankOptions()
    options.frame_opts.dither = 0.0
    options.frame_opts.samp_freq = 22050.0
    options.frame_opts.frame_length_ms = 1024.2 / 22.05
    options.frame_opts.frame_shift_ms = 256.2 / 22.05
    options.frame_opts.snip_edges = False
    options.mel_opts.num_bins = hifigan_mel.BANDS
    options.mel_opts.high_freq = hifigan_mel.HIGH_HZ
    fbank = knf.OnlineFbank(options)
    fbank.accept_waveform(22050, samples)
    fbank.input_finished()
    return np.stack([fbank.get_frame(i) for i in range(fbank.num_frames_ready)])


def librosa_mel(samples: NDArray[np.float32]) -> NDArray[np.float32]:
    padded = np.pad(samples, hifigan_mel.EDGE_SAMPLES, mode="reflect")
    mel = librosa.feature.melspectrogram(
        y=padded, sr=22050, n_fft=1024, hop_length=256, center=False, power=1.0, n_mels=80, fmax=8000.0
    )
    return np.asarray(np.log(np.maximum(mel, np.float32(hifigan_mel.FLOOR)))).T


def make_work() -> dict[str, tuple[Callable[[], object], Array]]:
    """Each peer with what it ought to give."""
    samples = clip()
    exact = samples.astype(np.float64)
    signal, listed = torch.from_numpy(samples), samples.tolist()
    torchaudio_mel, torch_mel = TorchaudioMel(), TorchMel()
    return {
        "torchaudio": (lambda: torchaudio_mel(signal), hifigan_f64(exact)),
        "torch.stft": (lambda: torch_mel(signal), hifigan_f64(exact)),
        "librosa": (lambda: librosa_mel(samples), hifigan_f64(exact)),
        "kaldi-native-fbank": (lambda: kaldi_mel(listed), kaldi_f64(exact)),
    }


def difference(got: Array, exact: Array) -> float:
    return float(np.abs(got - exact).max()) if got.shape == exact.shape else float("inf")


def clips_per_cpu_s(work: Callable[[], object], seconds: float) -> float:
    """Waiting for a core that others hold is not counted."""
    begin, cpu_begin, count = time.perf_counter(), time.thread_time(), 0
    while time.perf_counter() - begin < seconds or count < 3:
        work()
        count += 1
    return count / (time.thread_time() - cpu_begin)


def main() -> int:
    torch.set_num_threads(1)
    peers = make_work()
    found = {name: difference(np.asarray(work(), dtype=np.float64), exact) for name, (work, exact) in peers.items()}
    wrong = [name for name, off in found.items() if off > LIMITS[name]]
    versions = {name: version(name) for name in PACKAGES}
    print(json.dumps({"versions": versions, "max_difference": found, "wrong": wrong}), flush=True)
    for line in sys.stdin:
        name, seconds = line.split()
        print(json.dumps(clips_per_cpu_s(peers[name][0], float(seconds))), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
