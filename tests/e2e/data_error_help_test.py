"""Causes errors of rows, sound files, caches and feeds as users do, and reads what is printed and listed for each."""

from __future__ import annotations

import json
import os
import resource
import shutil
import struct
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
sys.path.insert(0, str(Path(__file__).parents[2]))
from error_help_test import TIME_LIMIT_S, Case, Help, put, wav
from feed_run import Stoker, expect, stoker_of_command_line

from tests.oracle.sound_files import crc, flac_crc16

NOBODY = 65534
RATE_HZ = 22050


@dataclass
class Shown:
    """A command line that goes on, the code that it counts or warns of, and words of the line that does so."""

    command: str
    code: str
    words: str


def flac(*, channels: int = 1, md5: bytes = bytes(16), num_samples: int = 4096) -> bytes:
    """One verbatim frame of silence."""
    head = bytes([0xFF, 0xF8, 0x70, (channels - 1) << 4 | 8, 0]) + struct.pack(">H", num_samples - 1)
    head += bytes([crc(head, 8, 0x07)])
    frame = head + (b"\x02" + bytes(2 * num_samples)) * channels
    packed = RATE_HZ << 44 | (channels - 1) << 41 | 15 << 36 | num_samples
    info = struct.pack(">HH", num_samples, num_samples) + bytes(6) + packed.to_bytes(8, "big") + md5
    return b"fLaC\x80" + len(info).to_bytes(3, "big") + info + frame + struct.pack(">H", flac_crc16(frame))


def mp3_frame(second_byte: int) -> bytes:
    """417 bytes at 128 kbit/s and 44,100 Hz, of the layer that the second byte names."""
    return bytes([0xFF, second_byte, 0x90, 0xC0]) + bytes(413)


def sound_cases(folder: Path) -> list[Case]:
    layer_3, layer_2 = mp3_frame(0xFB), mp3_frame(0xFD)
    page = b"OggS\0\2" + bytes(16) + b"\1\2\3\4" + b"\1\x1e" + bytes(30)
    md5 = put(folder / "md5.flac", flac(md5=b"\1" * 16))
    ogg = put(folder / "page.ogg", page)
    sync = put(folder / "sync.mp3", layer_3 * 4 + b"no frame" * 60 + layer_3)
    kind = put(folder / "kind.mp3", b"ID3\4" + bytes(6) + layer_2 * 20)
    return [
        Case(f"features {md5}", "E-FLAC-MD5", "copy the file again"),
        Case(f"features {ogg}", "E-OGG-PAGE", "copy the file again"),
        Case(f"features {sync}", "E-MP3-SYNC", "copy the file again"),
        Case(f"features {kind}", "E-MP3-KIND", "convert the file to FLAC or WAV"),
    ]


def feed_cases(data: Path, folder: Path) -> list[Case]:
    feed = f"stream --data {data} --device cpu --batches 1"
    recipe = put(folder / "recipe.yaml", "features:\n  mel:\n    powr: 2\n")
    (folder / "old" / "processed" / "tokens_custom_noph_blank_en").mkdir(parents=True)
    (folder / "old" / "tokens_custom_noph_blank_en").mkdir()
    (folder / "nothing").mkdir()
    large = "--set data.buffer_memory=1MiB --set data.batch_frames=100000 --set features.n_mels=256"
    return [
        Case(f"{feed} --set data.max_speakers=1", "E-DATA-SPEAKERS", "raise data.max_speakers"),
        Case(f"{feed} --set data.world_size=2 --set data.batch_multiple=3", "E-FEED-RANKS", "RANK and WORLD_SIZE"),
        Case(f"{feed} {large}", "E-FEED-MEMORY", "raise data.buffer_memory, or lower data.batch_frames"),
        Case("bench mel --preset hifigam", "E-MEL-PRESET", "did you mean hifigan?"),
        Case("bench mel --preset other", "E-MEL-PRESET", "docs/guide/which-mel.md"),
        Case(f"config check {recipe}", "E-MEL-VALUE", "did you mean power?"),
        Case(f"{feed} --mel power=3", "E-MEL-VALUE", "docs/guide/which-mel.md"),
        Case(f"cache import {folder}/old --cache {folder}/new", "E-IMPORT-TWICE", "stoker cache import FOLDER"),
        Case(f"cache import {folder}/nothing --cache {folder}/new", "E-IMPORT-EMPTY", "tokens_*, mels_* or .npy"),
    ]


def row_cases(data: Path, folder: Path) -> list[Case]:
    """Data sets of which no row is left: the help names the setting that left them out."""
    check = f"data check {data} --set"
    put(folder / "stereo" / "metadata.csv", "a|Some words.\n")
    put(folder / "stereo" / "wavs" / "a.flac", flac(channels=2))
    mono = f"data check {folder}/stereo --set data.allow_mix=false"
    return [
        Case(f"{check} data.split=eval", "E-DATA-NOROWS", "--set data.split=all"),
        Case(f"{check} data.min_text_length=1000", "E-DATA-NOROWS", "data.min_text_length or data.max_text_length"),
        Case(f"{check} data.min_audio_length=100", "E-DATA-NOROWS", "data.min_audio_length or data.max_audio_length"),
        Case(f"{check} data.max_mel_frames=2", "E-DATA-NOROWS", "raise data.max_mel_frames"),
        Case(mono, "E-DATA-NOROWS", "--set data.allow_mix=true"),
    ]


def shown_rows(data: Path, folder: Path) -> list[Shown]:
    put(folder / "two" / "metadata.csv", "a|Some words.\n")
    put(folder / "two" / "wavs" / "a.flac", flac())
    put(folder / "two" / "wavs" / "a.wav", wav())
    check = f"data check {data} --set"
    return [
        Shown(f"{check} data.split=eval", "E-FILTER-SPLIT", "filtered"),
        Shown(f"{check} data.train_subset_fraction=0.3", "E-FILTER-SUBSET", "filtered"),
        Shown(f"{check} data.min_text_length=1000", "E-FILTER-TEXT", "filtered"),
        Shown(f"{check} data.max_audio_length=0.7", "E-FILTER-DURATION", "filtered"),
        Shown(f"{check} data.max_mel_frames=60", "E-FILTER-FRAMES", "filtered"),
        Shown(f"data check {folder}/two", "E-META-TWOFILES", "a.wav: expected one file for each id"),
        Shown(f"data check {folder}/stereo --set data.allow_mix=false", "E-SOUND-CHANNELS", "one channel, found 2"),
    ]


def check_shown(helps: Help, shown: Shown) -> None:
    run = helps.run(*shown.command.split())
    lines = [line for line in (run.stdout + run.stderr).splitlines() if shown.code in line and shown.words in line]
    expect(len(lines) == 1, f"{shown.command}: no {shown.code} with {shown.words!r} in\n{run.stdout}{run.stderr}")


def check_left_out(helps: Help, folder: Path) -> None:
    """A recording of zeros has no frame after trimming; the next build knows that without reading it."""
    names = [f"a{i}" for i in range(9)]
    put(folder / "metadata.csv", "".join(f"{name}|Some words.\n" for name in [*names, "silent"]))
    for name in names:
        shutil.copy(helps.stoker.data / "wavs" / "spk00_00000.wav", put(folder / "wavs" / f"{name}.wav", ""))
    put(folder / "wavs" / "silent.wav", wav(num_bytes=0, promised=40_000) + bytes(40_000))
    build = ["precompute", "--data", str(folder), "--set", "features.trim_silence=true"]
    for code in ("E-CACHE-NOFRAMES", "E-CACHE-LEFTOUT"):
        report = helps.stoker.json(*build)
        listed = [json.loads(line) for line in Path(report["rejects_file"]).read_text().splitlines()]
        found = [(reject["code"], reject["file"], reject["line"]) for reject in listed]
        expect(found == [(code, "wavs/silent.wav", 10)], f"{code}: {listed}")


def check_cut_shard(helps: Help, folder: Path) -> None:
    shutil.copytree(helps.stoker.data, folder)
    shard = next(folder.glob(".stoker/*/shard-00000.stk"))
    shard.write_bytes(shard.read_bytes()[:100])
    run = helps.run("verify", "--data", str(folder))
    expect(run.returncode != 0 and "error[E-CACHE-SIZE]" in run.stderr, f"a shard of 100 bytes\n{run.stderr}")
    expect(f"{shard.name}: expected a header and a footer, found 100 bytes" in run.stderr, run.stderr)
    expect("help: stoker verify --fix --data FOLDER" in run.stderr, f"no help\n{run.stderr}")
    fixed = helps.run("verify", "--data", str(folder), "--fix")
    expect(fixed.returncode == 0, f"{fixed.stdout}{fixed.stderr}")


def check_locked_memory(helps: Help) -> None:
    """Root may lock any amount, so that the command is run as an ordinary user then."""
    stoker = helps.stoker
    stoker.folder.chmod(0o755)
    command = f"{stoker.program} stream --data {stoker.data} --device cpu --batches 1 --cache-tier ram --strict"
    run = subprocess.run(
        command.split(),
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_MEMLOCK, (0, 0)),
        user=NOBODY if os.geteuid() == 0 else None,
        cwd=stoker.folder,
        capture_output=True,
        text=True,
        timeout=TIME_LIMIT_S,
        check=False,
    )
    expect("error[E-FEED-RAMTIER]: expected " in run.stderr, f"{command}: exit {run.returncode}\n{run.stderr}")
    expect("help: raise the limit of locked memory (ulimit -l)" in run.stderr, run.stderr)


def check_train_library(helps: Help) -> None:
    command = [str(helps.stoker.program), "--version", "--verbose"]
    environment = {**os.environ, "STOKER_TRAIN_LIBRARY": "/nowhere.so"}
    run = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=TIME_LIMIT_S, check=False)
    line = next(line for line in run.stdout.splitlines() if "libtorch" in line)
    for words in ("absent (E-TRAIN-LIB)", "/nowhere.so", "STOKER_TRAIN_LIBRARY"):
        expect(words in line, f"no {words!r} in {line}")


def check_all(stoker: Stoker) -> None:
    helps = Help(stoker)
    files = stoker.folder / "files"
    cases = sound_cases(files) + feed_cases(stoker.data, files) + row_cases(stoker.data, files)
    for case in cases:
        helps.check(case)
    for shown in shown_rows(stoker.data, files):
        check_shown(helps, shown)
    check_left_out(helps, stoker.folder / "silent")
    check_cut_shard(helps, stoker.folder / "cut")
    check_locked_memory(helps)
    check_train_library(helps)


def main() -> None:
    with stoker_of_command_line(__doc__, num_clips=12) as stoker:
        stoker.json("precompute", "--data", str(stoker.data))
        check_all(stoker)


if __name__ == "__main__":
    main()
