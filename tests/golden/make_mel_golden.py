#!/usr/bin/env python3
"""Writes the golden files of the mel tests: one short sound, and what other programs make of it.

    python3 -m venv venv && venv/bin/pip install numpy librosa kaldi-native-fbank torch==2.13.0
    venv/bin/python tests/golden/make_mel_golden.py

data/mel_versions.txt names the versions that made the files now checked in. float64_*.npy come from reference_mel.py
(NumPy alone), the others from the library in their name: librosa.feature.melspectrogram; torch.stft in float64 with
librosa's filters; kaldi-native-fbank with dither 0. Whisper's 3000 frames are cut to the first 60.
"""

from pathlib import Path

import kaldi_native_fbank as knf
import librosa
import numpy as np
import torch
from numpy.typing import NDArray
from reference_mel import PRESETS, Array, log_mel

DATA = Path(__file__).resolve().parent / "data"
KEPT_FRAMES = 60


def sound() -> NDArray[np.int16]:
    """A gliding buzz with two resonances, a hiss and a pause: 6000 samples."""
    t = np.arange(6000) / 22050.0
    phase = 2.0 * np.pi * np.cumsum(118.0 + 22.0 * np.sin(9.0 * t)) / 22050.0
    voice = sum(np.sin(h * phase) * (np.exp(-(((h * 120.0 - 600.0) / 400.0) ** 2)) + 0.3 / h) for h in range(1, 60))
    hiss = np.random.default_rng(7).standard_normal(len(t)) * np.where(t > 0.18, 0.05, 0.002)
    x = 0.12 * voice * np.clip(np.sin(18.0 * t), 0.0, None) + hiss
    return np.asarray(np.clip(np.round(x * 32768.0), -32768, 32767), dtype=np.int16)


def by_librosa(preset: str, x: Array) -> Array:
    recipe = PRESETS[preset]
    mel = librosa.feature.melspectrogram(
        y=x,
        sr=recipe.rate,
        n_fft=recipe.n_fft,
        hop_length=recipe.hop,
        power=float(recipe.power),
        n_mels=recipe.mels,
        fmax=recipe.fmax,
    ).T
    return np.asarray(np.log(np.maximum(mel, recipe.floor)) if recipe.log else mel, dtype=np.float64)


def by_torch(preset: str, x: Array) -> Array:
    recipe = PRESETS[preset]
    signal = torch.from_numpy(x)
    if recipe.fit:
        signal = torch.nn.functional.pad(signal, (0, recipe.fit - len(signal)))
    if recipe.framing == "same":
        pad = (recipe.n_fft - recipe.hop) // 2
        signal = torch.nn.functional.pad(signal[None], (pad, pad), mode="reflect")[0]
    window = torch.hann_window(recipe.win, dtype=torch.float64)
    spectrum = torch.stft(
        signal,
        recipe.n_fft,
        recipe.hop,
        recipe.win,
        window,
        center=recipe.framing == "center",
        pad_mode="reflect",
        return_complex=True,
    )
    power = spectrum.real**2 + spectrum.imag**2 + recipe.epsilon
    values = power.sqrt() if recipe.power == 1 else power
    bank = librosa.filters.mel(
        sr=recipe.rate,
        n_fft=recipe.n_fft,
        n_mels=recipe.mels,
        fmin=recipe.fmin,
        fmax=recipe.fmax,
        htk=recipe.htk,
        norm="slaney" if recipe.norm else None,
    )
    mel = (torch.from_numpy(bank.astype(np.float64)) @ values).T
    if recipe.drop_last:
        mel = mel[: -recipe.drop_last]
    if recipe.finish == "whisper":
        log = mel.clamp(min=1e-10).log10()
        return np.asarray(((torch.maximum(log, log.max() - 8.0) + 4.0) / 4.0).numpy())
    return np.asarray((mel.clamp(min=recipe.floor).log() if recipe.log else mel).numpy())


def by_kaldi(x: Array) -> Array:
    options = knf.FbankOptions()
    options.frame_opts.dither = 0.0
    options.frame_opts.samp_freq = 16000.0
    options.mel_opts.num_bins = 80
    options.mel_opts.low_freq = 20.0
    options.mel_opts.high_freq = 7600.0
    fbank = knf.OnlineFbank(options)
    fbank.accept_waveform(16000, x.astype(np.float32).tolist())
    fbank.input_finished()
    return np.stack([fbank.get_frame(i) for i in range(fbank.num_frames_ready)]).astype(np.float64)


def save(name: str, values: Array) -> None:
    np.save(DATA / f"{name}.npy", np.ascontiguousarray(values[:KEPT_FRAMES], dtype=np.float32))


def main() -> None:
    DATA.mkdir(exist_ok=True)
    samples = sound()
    np.save(DATA / "sound.npy", samples)
    x = samples / 32768.0
    for preset in PRESETS:
        save(f"float64_{preset}", log_mel(preset, x))
    for preset in ("librosa", "myxtts"):
        save(f"librosa_{preset}", by_librosa(preset, x))
    for preset in ("hifigan", "tacotron2", "torchaudio", "whisper", "xtts", "vocos24"):
        save(f"torch_{preset}", by_torch(preset, x))
    save("kaldi_kaldi", by_kaldi(x))
    versions = (("numpy", np), ("librosa", librosa), ("torch", torch), ("kaldi-native-fbank", knf))
    lines = [f"{name} {module.__version__}\n" for name, module in versions]
    (DATA / "mel_versions.txt").write_text("".join(lines), encoding="utf-8")


if __name__ == "__main__":
    main()
