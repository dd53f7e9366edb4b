"""The commands of a case: the caches it starts from and the streams that are compared."""

from __future__ import annotations

import json
import os
import random
import struct
import subprocess
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from tests.oracle.buckets import OrderSettings
from tests.oracle.data_set import DataSet, Utterance, make_wave
from tests.oracle.expected import (
    GAIN_DB,
    LEVELS,
    NOISE_PROBABILITY,
    REFERENCE_S,
    SNR_DB,
    TRIM_TOP_DB,
    WORLDS,
)
from tests.oracle.factors import GPU_FACTORS, Case
from tests.oracle.sound_files import Pcm, Sound, write_wav

TIMEOUT_S = 120


@dataclass
class Run:
    code: int
    report: dict[str, Any]
    errors: str
    command: list[str]


@dataclass
class Program:
    path: Path
    device: str
    folder: Path
    commands: list[str] = field(default_factory=list)

    def run(self, arguments: list[str], level: str = "") -> Run:
        environment = dict(os.environ)
        if level:
            environment["STOKER_SIMD"] = level
        command = [str(self.path), *arguments, "--json"]
        self.commands.append(("STOKER_SIMD=" + level + " " if level else "") + " ".join(command))
        try:
            done = subprocess.run(
                command, capture_output=True, text=True, timeout=TIMEOUT_S, check=False, env=environment
            )
        except subprocess.TimeoutExpired:
            return Run(-1, {}, f"no end within {TIMEOUT_S} s", command)
        report = json.loads(done.stdout) if done.stdout.startswith("{") and done.returncode == 0 else {}
        return Run(done.returncode, report, done.stderr, command)


def set_value(key: str, value: object) -> list[str]:
    return ["--set", f"{key}={value}"]


def data_arguments(case: Case, data: DataSet) -> list[str]:
    if case["sources"] == "weighted":
        parts = [f"{{data: {data.path(i)}, weight: {data.weights[i]}}}" for i in range(len(data.names))]
        arguments = set_value("data.sources", f"[{', '.join(parts)}]")
    else:
        arguments = ["--data", str(data.path(0))]
    if case["data"] == "table":
        columns = "{id: key, audio: path, text: sentence, speaker: client_id, language: locale}"
        arguments += set_value("data.columns", columns)
    return arguments


def feature_arguments(case: Case) -> list[str]:
    arguments = ["--preset", case["preset"], *set_value("cache.dtype", case["cache_dtype"])]
    if case["prepare"] == "trim":
        arguments += set_value("features.trim_silence", "true") + set_value("features.trim_top_db", TRIM_TOP_DB)
    elif case["prepare"] != "as_is":
        key = {"rms": "target_rms_db", "peak": "target_peak", "lufs": "target_loudness_lufs"}[case["prepare"]]
        arguments += set_value("features.loudness", case["prepare"])
        arguments += set_value(f"features.{key}", LEVELS[case["prepare"]])
    arguments += ["--vocabulary", case["vocabulary"]]
    return arguments + set_value("text.add_blank", "true" if case["blank"] == "on" else "false")


def row_arguments(case: Case) -> list[str]:
    arguments: list[str] = []
    if case["speakers"] in ("off", "on"):
        arguments += set_value("data.enable_multispeaker", "true" if case["speakers"] == "on" else "false")
    if case["speakers"] == "pattern":
        arguments += set_value("data.speaker_id_pattern", "([0-9])$")
    return arguments


def cache_arguments(case: Case, folder: Path) -> list[str]:
    arguments = ["--cache", str(folder / "cache"), *set_value("cache.content", case["content"])]
    if case["arrays"] != "none":
        names = ["f0", "codes"] if case["arrays"] == "two" else ["f0"]
        pairs = ", ".join(f"{name}: {folder / 'arrays' / name}" for name in names)
        arguments += set_value("cache.arrays", f"{{{pairs}}}")
    return arguments


def batch_arguments(case: Case, order: OrderSettings) -> list[str]:
    multiple, world, rank = WORLDS[case["world"]]
    arguments = ["--batch-size", str(order.batch_size)] if order.batch_size else []
    if not order.batch_size:
        arguments += ["--batch-frames", str(order.batch_frames)]
    arguments += ["--batch-layout", case["layout"], "--max-shapes", str(max(order.max_shapes, 3))]
    arguments += ["--batch-multiple", str(multiple), "--world-size", str(world), "--rank", str(rank)]
    arguments += ["--enable-static-shapes"] if case["shapes"] == "static" else []
    arguments += ["--no-shuffle"] if case["order"] == "file" else []
    arguments += ["--drop-last"] if case["drop_last"] == "on" else []
    arguments += ["--seed", case["seed"], *set_value("data.batch_dtype", case["batch_dtype"])]
    arguments += set_value("data.with_audio", "true") if case["audio"] == "on" else []
    arguments += set_value("data.segment_frames", case["segments"]) if case["segments"] != "none" else []
    if case["reference"] != "none":
        arguments += set_value("data.reference", case["reference"])
        arguments += set_value("data.reference_audio_length", REFERENCE_S)
    if case["arrays"] != "none":
        arguments += set_value("data.arrays", "[f0, codes]" if case["arrays"] == "two" else "[f0]")
    return arguments


def augment_arguments(case: Case, folder: Path) -> list[str]:
    if case["augment"] == "none":
        return []
    if case["augment"] == "gain":
        return set_value("augment.gain_range", f"[{GAIN_DB[0]}, {GAIN_DB[1]}]")
    arguments = set_value("augment.enable_noise_mixing", "true")
    arguments += set_value("augment.noise_mixing_probability", NOISE_PROBABILITY)
    arguments += set_value("augment.noise_mixing_snr_range", f"[{SNR_DB[0]}, {SNR_DB[1]}]")
    if case["augment"] == "noise_folder":
        arguments += set_value("augment.noise_dir", folder / "noises")
    return arguments


def loading_arguments(case: Case) -> list[str]:
    arguments = ["--num-workers", case["workers"], "--prefetch-buffer-size", case["prefetch"]]
    arguments += ["--preprocessing-mode", case["mode"], "--cache-tier", case["tier"]]
    arguments += set_value("cache.enable_memory_mapping", "true" if case["reading"] == "map" else "false")
    arguments += ["--disable-native-loading"] if case["loader"] == "naive" else []
    return arguments + (["--disable-cpu-gpu-overlap"] if case["loader"] == "no_overlap" else [])


def device_arguments(program: Program, number: int) -> list[str]:
    arguments = ["--device", program.device]
    if program.device == "cpu":
        return arguments
    draw = random.Random(f"gpu {number}")
    level = {factor: draw.choice(levels) for factor, levels in GPU_FACTORS.items()}
    arguments += ["--mel-place", level["mel_place"], "--buffer-size", level["gpu_buffer"]]
    arguments += set_value("gpu.copy_from_cache", level["copy_from_cache"])
    arguments += set_value("gpu.pin_memory", level["pin_memory"])
    arguments += set_value("cache.tier", "gpu") if level["gpu_tier"] == "gpu" else []
    mode = {
        "two_devices": ["--data-gpu", "0", "--model-gpu", "0"],
        "no_prefetch": ["--disable-gpu-prefetch"],
        "host": ["--no-prefetch-to-gpu"],
    }
    return arguments + mode.get(level["gpu_mode"], [])


def write_noises(folder: Path, rate_hz: int) -> tuple[Pcm, ...]:
    """Two short recordings, taken in the order of their names."""
    draw = np.random.default_rng(5)
    noises = []
    for name in ("a", "b"):
        wave = np.round(make_wave(draw, 0.4, rate_hz) * 32767).astype(np.int64)
        (folder / "noises").mkdir(exist_ok=True)
        write_wav(folder / "noises" / f"{name}.wav", Sound(wave[:, None], 16, rate_hz))
        noises.append(wave.astype(np.int16))
    return tuple(noises)


def damage_cache(cache: Path) -> None:
    """One bit in the payload of every third record (docs/format/cache.md)."""
    for shard in sorted(cache.glob("*.stk")):
        content = bytearray(shard.read_bytes())
        places = [at for at in range(64, len(content) - 128, 64) if content[at : at + 4] == b"STKR"]
        for at in places[::3]:
            payload_bytes = struct.unpack_from("<Q", content, at + 16)[0]
            content[at + 128 + payload_bytes // 2] ^= 0x10
        shard.write_bytes(content)


def prepare_cache(case: Case, data: DataSet, program: Program) -> Run | None:
    """Leaves data and cache as the case wants them; returns a run that failed."""
    arguments = ["precompute", *data_arguments(case, data), *feature_arguments(case), *row_arguments(case)]
    arguments += [*cache_arguments(case, program.folder), "--device", "cpu", "--num-workers", "2"]
    state = case["cache"]
    data.write_sounds()
    rows: list[Utterance] = data.rows[::2] if state.startswith("half") else data.rows
    data.write_rows(rows)
    if state == "none":
        return None
    done = program.run(arguments, "scalar" if state.endswith("other_level") else "")
    if done.code != 0:
        return done
    if state == "stale":
        data.change_some()
        data.write_sounds()
    data.write_rows(data.rows)
    if state == "damaged":
        damage_cache(program.folder / "cache")
    return None


def stream_arguments(case: Case, data: DataSet, order: OrderSettings, program: Program, number: int) -> list[str]:
    return [
        "stream",
        *data_arguments(case, data),
        *feature_arguments(case),
        *row_arguments(case),
        *cache_arguments(case, program.folder),
        *batch_arguments(case, order),
        *augment_arguments(case, program.folder),
        *loading_arguments(case),
        *device_arguments(program, number),
        "--list-ids",
    ]


def refusal(case: Case) -> str:
    """The code that the feed must refuse the case with; empty when it must run."""
    if case["mode"] != "precompute":
        return ""
    if case["cache"] in ("none", "half", "half_other_level", "stale"):
        return "E-FEED-NOTCACHED"
    return "E-FEED-NOTCACHED" if case["augment"] != "none" and case["content"] == "mel" else ""
