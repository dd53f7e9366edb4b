"""features(): arrays give what files with the same samples give, for any length, rate and recipe."""

from __future__ import annotations

import struct
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from command import PROGRAM, run_json
from hypothesis import given, settings
from hypothesis import strategies as st

import stoker


def write_wav(path: Path, samples: np.ndarray[Any, Any], rate_hz: int) -> Path:
    """A WAV file of one channel: PCM16 or float, as the samples are."""
    kind = 3 if samples.dtype == np.float32 else 1
    width = samples.itemsize
    body = samples.tobytes()
    head = struct.pack("<HHIIHH", kind, 1, rate_hz, rate_hz * width, width, 8 * width)
    chunks = b"fmt " + struct.pack("<I", len(head)) + head + b"data" + struct.pack("<I", len(body)) + body
    path.write_bytes(b"RIFF" + struct.pack("<I", 4 + len(chunks)) + b"WAVE" + chunks)
    return path


def sound(num_samples: int, seed: int, is_float: bool) -> np.ndarray[Any, Any]:
    """A tone in noise; float goes beyond full scale here and there."""
    draw = np.random.default_rng(seed)
    wave = 0.5 * np.sin(np.arange(num_samples) * draw.uniform(0.01, 0.5)) + draw.normal(0, 0.3, num_samples)
    samples: np.ndarray[Any, Any] = wave.astype(np.float32)
    return samples if is_float else np.clip(samples * 32768, -32768, 32767).astype(np.int16)


@settings(max_examples=60, deadline=None)
@given(
    num_samples=st.integers(2_000, 40_000),
    rate_hz=st.sampled_from([8_000, 11_025, 16_000, 22_050, 24_000, 44_100, 48_000]),
    preset=st.sampled_from([None, "xtts", "hifigan"]),
    is_float=st.booleans(),
    trims=st.booleans(),
    loudness=st.sampled_from(["none", "lufs", "rms", "peak"]),
    seed=st.integers(0, 99),
)
def test_array_gives_what_its_file_gives(
    tmp_path_factory: pytest.TempPathFactory,
    num_samples: int,
    rate_hz: int,
    preset: str | None,
    is_float: bool,
    trims: bool,
    loudness: str,
    seed: int,
) -> None:
    samples = sound(num_samples, seed, is_float)
    path = write_wav(tmp_path_factory.mktemp("wav") / "a.wav", samples, rate_hz)
    recipe: dict[str, Any] = {"preset": preset, "trim_silence": trims, "loudness": loudness}
    of_array = stoker.features(samples, sample_rate=rate_hz, **recipe)
    of_file = stoker.features(path, **recipe)
    assert of_array.dtype == np.float32 and of_array.ndim == 2
    np.testing.assert_array_equal(of_array, of_file)


def test_equals_the_command(tmp_path: Path) -> None:
    paths = [write_wav(tmp_path / f"{i}.wav", sound(9_000 + i, i, i == 1), 16_000) for i in range(3)]
    run_json("features", *map(str, paths), "--preset", "hifigan", "--out", str(tmp_path / "out"))
    frames = stoker.features(paths, preset="hifigan")
    assert len(frames) == 3
    for path, each in zip(paths, frames, strict=True):
        np.testing.assert_array_equal(each, np.load(tmp_path / "out" / f"{path.stem}.npy"))
    assert Path(PROGRAM).exists()


def test_strided_array_is_read_in_its_order() -> None:
    samples = sound(20_000, 3, True)
    np.testing.assert_array_equal(stoker.features(samples[::2]), stoker.features(samples[::2].copy()))


def test_without_a_rate_the_recipe_s_is_meant() -> None:
    samples = sound(20_000, 4, False)
    recipe: dict[str, Any] = {"preset": "hifigan", "features.sample_rate": 22_050}
    np.testing.assert_array_equal(
        stoker.features(samples, **recipe), stoker.features(samples, sample_rate=22_050, **recipe)
    )


@pytest.mark.parametrize(
    "samples",
    [np.zeros((2, 4_000), np.float32), np.zeros(4_000, np.float64), np.zeros(4_000, np.int32), np.float32(1.0)],
    ids=["two channels", "float64", "int32", "one number"],
)
def test_other_arrays_are_refused(samples: Any) -> None:
    with pytest.raises(ValueError, match="one channel of float32 or int16 samples, found"):
        stoker.features(np.asarray(samples))


def test_failures_have_their_codes(tmp_path: Path) -> None:
    bad = sound(8_000, 5, True)
    bad[77] = np.nan
    for rate_hz in (22_050, 16_000):
        with pytest.raises(stoker.DataError, match="sample 77") as caught:
            stoker.features(bad, sample_rate=rate_hz)
        assert caught.value.code == "E-WAV-NONFINITE"
    with pytest.raises(stoker.DataError) as short:
        stoker.features(np.zeros(3, np.int16))
    assert short.value.code == "E-SOUND-SHORT"
    with pytest.raises(stoker.DataError) as rate:
        stoker.features(np.zeros(9_000, np.int16), sample_rate=999)
    assert rate.value.code == "E-WAV-RATE"
    with pytest.raises(stoker.StorageError) as missing:
        stoker.features(tmp_path / "none.wav")
    assert missing.value.path.endswith("none.wav")
    with pytest.raises(ValueError, match="sample_rate only with an array"):
        stoker.features(tmp_path / "none.wav", sample_rate=22_050)
    with pytest.raises(stoker.ConfigError, match="preset"):
        stoker.features(np.zeros(9_000, np.int16), preset="hifigone")
