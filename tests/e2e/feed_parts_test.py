"""What a content digest covers, recomputed with NumPy; and rows counted alike by every command."""

from __future__ import annotations

import shutil
import struct
import sys
import wave
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).parent))
sys.path.insert(1, str(Path(__file__).parents[2]))
from feed_run import Stoker, expect, stoker_of_command_line

from tests.oracle.xxh3 import xxh3_128

HOP = 256
SPEAKERS = ["--set", "data.enable_multispeaker=true", "--set", r"data.speaker_id_pattern=^(spk\d+)_"]
ARRAYS = {"f0": np.float32, "marks": np.int16}


def make_arrays(stoker: Stoker) -> list[str]:
    """Two arrays for most rows; returns the options that name them."""
    ids = [line.split("|")[0] for line in (stoker.data / "metadata.csv").read_text().splitlines()]
    for name, kind in ARRAYS.items():
        (stoker.folder / name).mkdir()
        for number, row in enumerate(ids):
            if number % 5 == 4:
                continue
            values = (np.arange(3 * (number + 1)) % 100 + number).reshape(-1, 3).astype(kind)
            np.save(stoker.folder / name / f"{row}.npy", values)
    folders = ",".join(f"{name}: {stoker.folder / name}" for name in ARRAYS)
    return ["--set", f"cache.arrays={{{folders}}}", "--set", f"data.arrays=[{','.join(ARRAYS)}]"]


def speakers(stoker: Stoker) -> dict[str, int]:
    """Numbered as they come first in the metadata; the part of the id before "_" names them."""
    numbers: dict[str, int] = {}
    for line in (stoker.data / "metadata.csv").read_text().splitlines():
        numbers.setdefault(line.split("_")[0], len(numbers))
    return numbers


def samples_of(stoker: Stoker, row: str) -> np.ndarray[Any, np.dtype[np.float32]]:
    with wave.open(str(stoker.data / "wavs" / f"{row}.wav")) as sound:
        pcm = np.frombuffer(sound.readframes(sound.getnframes()), dtype="<i2")
    return pcm.astype(np.float32) / np.float32(32768)


def row_bytes(stoker: Stoker, exported: Path, row: str, room_samples: int | None) -> bytes:
    """One row as docs/format/order.md lays it out; no room: that of its frames."""
    name = row.encode()
    head = struct.pack("<Q", len(name)) + name
    if not row:
        return head + struct.pack("<iiii", 0, 0, 0, 0) + struct.pack("<i", 0) * (1 + len(ARRAYS))
    tokens = np.load(exported / "tokens" / f"{row}.npy")
    mel = np.load(exported / "mel" / f"{row}.npy")
    parts = [head, struct.pack("<ii", len(tokens), len(mel)), tokens.tobytes(), mel.tobytes()]
    parts.append(struct.pack("<ii", speakers(stoker)[row.split("_")[0]], 0))
    samples = samples_of(stoker, row)[: len(mel) * HOP if room_samples is None else room_samples]
    parts.append(struct.pack("<i", len(samples)) + samples.tobytes())
    for array in ARRAYS:
        path = stoker.folder / array / f"{row}.npy"
        values = np.load(path) if path.exists() else np.zeros((0, 3))
        parts.append(struct.pack("<i", len(values)) + values.tobytes())
    return b"".join(parts)


def check_digests(stoker: Stoker) -> None:
    options = make_arrays(stoker)
    cache = stoker.folder / "cache"
    stoker.json("precompute", "--data", str(stoker.data), "--cache", str(cache), *options)
    exported = stoker.folder / "exported"
    stoker.json("cache", "export", "--data", str(stoker.data), "--cache", str(cache), "--out", str(exported))
    layouts = [["--batch-size", "4"], ["--batch-layout", "packed", "--batch-frames", "1200"]]
    routes = [["--preprocessing-mode", "runtime"], ["--preprocessing-mode", "precompute", "--cache", str(cache)]]
    checked = 0
    for layout in layouts:
        for route in routes:
            report = stoker.stream(*layout, *route, *options, *SPEAKERS, "--set", "data.with_audio=true", "--list-ids")
            expect(report["digest_version"] == 2, "another version of the content digest")
            for line in report["batches"]:
                room = None if "packed" in layout else line["shape"][1] * HOP
                whole = b"".join(row_bytes(stoker, exported, row, room) for row in line["rows"])
                expect(xxh3_128(whole) == line["content"], f"{layout}, {route}: batch {line['index']} differs")
                checked += 1
    print(f"{checked} content digests recomputed with samples and arrays")


def put_float_wav(path: Path, samples: np.ndarray[Any, np.dtype[np.float32]]) -> None:
    data = samples.astype("<f4").tobytes()
    head = b"WAVEfmt " + struct.pack("<IHHIIHH", 16, 3, 1, 22050, 22050 * 4, 4, 32)
    path.write_bytes(b"RIFF" + struct.pack("<I", 36 + len(data)) + head + b"data" + struct.pack("<I", len(data)) + data)


def check_counts(stoker: Stoker) -> None:
    """One file is empty, one holds NaN: the first is seen in the header, the second only inside."""
    wavs = sorted((stoker.data / "wavs").iterdir())
    wavs[3].write_bytes(b"")
    noise = np.full(22050, 0.1, dtype=np.float32)
    noise[500] = np.nan
    put_float_wav(wavs[5], noise)
    data = ["--data", str(stoker.data)]

    def stream(*more: str) -> dict[str, Any]:
        report: dict[str, Any] = stoker.stream("--batch-size", "4", *more)
        return report

    found = {
        "data check": stoker.json("data", "check", str(stoker.data)),
        "stream without a cache": stream("--preprocessing-mode", "runtime"),
        "precompute": stoker.json("precompute", *data),
        "precompute again": stoker.json("precompute", *data),
        "stream": stream(),
        "stream of one batch": stream("--batches", "1"),
    }
    for name, report in found.items():
        counts = (report["accepted"], report["rejected"])
        expect(counts == (10, 2), f"{name}: {counts}")
    expect(found["precompute"]["built"] == 10, f"{found['precompute']['built']} built")
    expect(found["precompute again"]["reused"] == 10, f"{found['precompute again']['reused']} reused")
    print(f"{len(found)} commands count 10 accepted, 2 rejected")


def main() -> int:
    with stoker_of_command_line(__doc__, num_clips=12) as stoker:
        check_digests(stoker)
        shutil.rmtree(stoker.data / ".stoker", ignore_errors=True)
        check_counts(stoker)
    return 0


if __name__ == "__main__":
    sys.exit(main())
