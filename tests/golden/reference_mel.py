"""Log-mel in float64, slow and obvious: what the kernels are compared with.

Nothing here is shared with the C++ code: the recipes are stated again, from the projects they come from.
"""

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Recipe:
    rate: int = 22050
    n_fft: int = 1024
    hop: int = 256
    win: int = 1024
    window: str = "hann"
    framing: str = "same"  # same, center, pad_end, snip_edges
    pad: str = "reflect"
    fit: int = 0
    drop_last: int = 0
    kaldi_frames: bool = False  # per frame: mean removed, then pre-emphasis 0.97
    epsilon: float = 0.0
    power: int = 1
    mels: int = 80
    fmin: float = 0.0
    fmax: float = 8000.0
    htk: bool = False
    straight_in_mel: bool = False
    norm: bool = True
    log: str = "ln"
    floor: float = 1e-5
    add_floor: bool = False
    finish: str = ""  # whisper, min_max


TACOTRON2 = Recipe(framing="center")
PRESETS: dict[str, Recipe] = {
    "hifigan": Recipe(epsilon=1e-9),
    "tacotron2": TACOTRON2,
    "myxtts": replace(TACOTRON2, pad="constant", fmax=11025.0),
    "myxtts_tf": Recipe(
        framing="pad_end",
        pad="constant",
        fmax=11025.0,
        htk=True,
        straight_in_mel=True,
        norm=False,
        floor=1e-6,
        add_floor=True,
        finish="min_max",
    ),
    "librosa": Recipe(
        n_fft=2048, hop=512, win=2048, framing="center", pad="constant", power=2, mels=128, fmax=11025.0, log=""
    ),
    "torchaudio": Recipe(
        rate=16000, n_fft=400, hop=200, win=400, framing="center", power=2, mels=128, htk=True, norm=False, log=""
    ),
    "whisper": Recipe(
        rate=16000,
        n_fft=400,
        hop=160,
        win=400,
        framing="center",
        fit=480000,
        drop_last=1,
        power=2,
        log="log10",
        floor=1e-10,
        finish="whisper",
    ),
    "xtts": Recipe(n_fft=2048, framing="center", power=2, htk=True),
    "kaldi": Recipe(
        rate=16000,
        n_fft=512,
        hop=160,
        win=400,
        window="povey",
        framing="snip_edges",
        kaldi_frames=True,
        power=2,
        fmin=20.0,
        fmax=7600.0,
        htk=True,
        straight_in_mel=True,
        norm=False,
        floor=1.1920928955078125e-07,
    ),
    "vocos24": Recipe(rate=24000, framing="center", mels=100, fmax=12000.0, htk=True, norm=False, floor=1e-7),
}


def to_mel(recipe: Recipe, hz: Array) -> Array:
    if recipe.htk:
        return np.asarray(1127.0 * np.log1p(hz / 700.0))
    above = 15.0 + 27.0 * np.log(np.maximum(hz, 1000.0) / 1000.0) / np.log(6.4)
    return np.where(hz < 1000.0, 3.0 * hz / 200.0, above)


def to_hz(recipe: Recipe, mel: Array) -> Array:
    if recipe.htk:
        return np.asarray(700.0 * np.expm1(mel / 1127.0))
    return np.where(mel < 15.0, 200.0 * mel / 3.0, 1000.0 * np.exp((mel - 15.0) * np.log(6.4) / 27.0))


def triangles(recipe: Recipe) -> tuple[Array, Array]:
    """[mels, n_fft/2+1] and the factor of each band."""
    ends = to_mel(recipe, np.array([recipe.fmin, recipe.fmax]))
    edges_mel = np.linspace(ends[0], ends[1], recipe.mels + 2)
    edges_hz = to_hz(recipe, edges_mel)
    bins_hz = np.arange(recipe.n_fft // 2 + 1) * recipe.rate / recipe.n_fft
    edges, bins = (edges_mel, to_mel(recipe, bins_hz)) if recipe.straight_in_mel else (edges_hz, bins_hz)
    low, top, high = edges[:-2, None], edges[1:-1, None], edges[2:, None]
    triangle = np.maximum(0.0, np.minimum((bins - low) / (top - low), (high - bins) / (high - top)))
    norm = 2.0 / (edges_hz[2:] - edges_hz[:-2])[:, None] if recipe.norm else np.ones((recipe.mels, 1))
    return triangle, norm


def filterbank(recipe: Recipe) -> Array:
    """[mels, n_fft/2+1], rounded to float32 where librosa rounds."""
    triangle, norm = triangles(recipe)
    return np.asarray((triangle.astype(np.float32) * norm).astype(np.float32), dtype=np.float64)


def window_values(recipe: Recipe) -> Array:
    n = np.arange(recipe.win)
    if recipe.window == "povey":
        return np.asarray((0.5 - 0.5 * np.cos(2.0 * np.pi * n / (recipe.win - 1))) ** 0.85)
    return np.asarray(0.5 - 0.5 * np.cos(2.0 * np.pi * n / recipe.win))


def frames_of(recipe: Recipe, samples: Array) -> Array:
    """[frames, win]: what the window is laid over."""
    x = samples
    if recipe.fit:
        x = np.pad(x[: recipe.fit], (0, max(0, recipe.fit - len(x))))
    inset = (recipe.n_fft - recipe.win) // 2
    if recipe.framing in ("same", "center"):
        pad = (recipe.n_fft - recipe.hop) // 2 if recipe.framing == "same" else recipe.n_fft // 2
        x = np.pad(x, pad, mode="reflect" if recipe.pad == "reflect" else "constant")
        count = (len(x) - recipe.n_fft) // recipe.hop + 1
        starts = np.arange(count) * recipe.hop + inset
    elif recipe.framing == "pad_end":
        count = -(-len(x) // recipe.hop)
        x = np.pad(x, (0, recipe.win))
        starts = np.arange(count) * recipe.hop
    else:
        count = 1 + (len(x) - recipe.win) // recipe.hop if len(x) >= recipe.win else 0
        starts = np.arange(count) * recipe.hop
    kept = starts[: count - recipe.drop_last]
    return np.asarray(x[kept[:, None] + np.arange(recipe.win)])


def spectrum_values(recipe: Recipe, samples: Array) -> Array:
    """[frames, n_fft/2+1]: magnitude or power."""
    frames = frames_of(recipe, samples)
    if recipe.kaldi_frames:
        frames = frames - frames.mean(axis=1, keepdims=True)
        before = np.concatenate([frames[:, :1], frames[:, :-1]], axis=1)
        frames = frames - 0.97 * before
    spectrum = np.fft.rfft(frames * window_values(recipe), recipe.n_fft)
    power = spectrum.real**2 + spectrum.imag**2 + recipe.epsilon
    values = np.sqrt(power) if recipe.power == 1 else power
    return np.asarray(values)


def linear_mel(recipe: Recipe, samples: Array) -> Array:
    """Mel values before floor and logarithm."""
    return np.asarray(spectrum_values(recipe, samples) @ filterbank(recipe).T)


def compress(recipe: Recipe, mel: Array) -> Array:
    if not recipe.log:
        return mel
    kept = mel + recipe.floor if recipe.add_floor else np.maximum(mel, recipe.floor)
    out: Array = np.log(kept) if recipe.log == "ln" else np.log10(kept)
    if recipe.finish == "whisper":
        out = (np.maximum(out, out.max() - 8.0) + 4.0) / 4.0
    elif recipe.finish == "min_max":
        out = (out - out.min()) / max(out.max() - out.min(), 1e-6)
    return out


def log_mel(preset: str, samples: Array) -> Array:
    """[frames, mels] of samples in -1..1."""
    recipe = PRESETS[preset]
    return compress(recipe, linear_mel(recipe, samples))
