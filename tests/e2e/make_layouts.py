"""Writes the same few recordings as data sets of every layout people publish, with the oddities such folders have.

python3 tests/e2e/make_layouts.py FOLDER
"""

from __future__ import annotations

import argparse
import csv
import json
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
from tests.oracle.sound_files import store, write_sound

BYTE_ORDER_MARK = "\ufeff"
NUM_CLIPS = 12
TEXTS = [
    'He said "no, never" to all of them.',
    "Please call Stella, and ask her twice.",
    "The quick brown fox jumps over the dog.",
    'An open " quote does no harm here.',
]


@dataclass
class Clip:
    """One recording: its number, its text and who speaks it."""

    number: int

    @property
    def text(self) -> str:
        return TEXTS[self.number % len(TEXTS)]

    @property
    def speaker(self) -> str:
        return f"p{225 + self.number % 3}"

    def write(self, path: Path, form: str = "wav16", rate_hz: int = 22050) -> None:
        """About a second of two tones; every utterance has its own."""
        time_s = np.arange(int(rate_hz * (1.0 + 0.1 * self.number))) / rate_hz
        pitch_hz = 110.0 + 11.0 * self.number
        wave = 0.3 * np.sin(2 * np.pi * pitch_hz * time_s) + 0.1 * np.sin(2 * np.pi * 7.0 * pitch_hz * time_s)
        write_sound(path, form, store(form, wave, rate_hz))


CLIPS = [Clip(number) for number in range(NUM_CLIPS)]


def write_text(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text.encode())


def write_table(path: Path, separator: str, rows: list[list[str]], end: str = "\n") -> None:
    """With CR LF as `end` the table begins with a byte order mark, as spreadsheets write it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", encoding="utf-8" if end == "\n" else "utf-8-sig", newline="") as file:
        if separator == "\t":
            file.writelines("\t".join(row) + end for row in rows)
        else:
            csv.writer(file, delimiter=separator, lineterminator=end).writerows(rows)


def ljspeech(folder: Path) -> None:
    """A byte order mark, CR LF, quotes, and sounds of four kinds under one suffix or another."""
    forms = [("wav16", "wav", 22050), ("flac", "flac", 22050), ("stereo16", "wav", 22050), ("wav24", "wav", 16000)]
    for clip in CLIPS:
        form, suffix, rate_hz = forms[clip.number % len(forms)]
        clip.write(folder / "wavs" / f"LJ001-{clip.number:04}.{suffix}", form, rate_hz)
    rows = "".join(f"LJ001-{clip.number:04}|{clip.text}|{clip.text}\r\n" for clip in CLIPS)
    write_text(folder / "metadata.csv", BYTE_ORDER_MARK + rows)


def ljspeech_with_absolute_paths(folder: Path) -> None:
    for clip in CLIPS:
        clip.write(folder / "wavs" / f"{clip.number:04}.wav")
    rows = [f"{(folder / 'wavs').resolve()}/{clip.number:04}.wav|{clip.text}\n" for clip in CLIPS]
    write_text(folder / "metadata.csv", "".join(rows))


def hugging_face(folder: Path) -> None:
    for clip in CLIPS:
        clip.write(folder / "data" / f"{clip.number:04}.wav")
    rows = [[f"data/{clip.number:04}.wav", clip.text] for clip in CLIPS]
    write_table(folder / "metadata.csv", ",", [["file_name", "transcription"], *rows], end="\r\n")


def hugging_face_parts(folder: Path) -> None:
    for part, clips in {"train": CLIPS[:9], "validation": CLIPS[9:]}.items():
        for clip in clips:
            clip.write(folder / part / f"{clip.number:04}.wav")
        lines = [json.dumps({"file_name": f"{clip.number:04}.wav", "text": clip.text}) + "\n" for clip in clips]
        write_text(folder / part / "metadata.jsonl", "".join(lines))


def common_voice(folder: Path) -> None:
    """Clips that were converted from the MP3 files that the tables still name."""
    header = ["client_id", "path", "sentence", "up_votes", "locale"]
    for clip in CLIPS:
        clip.write(folder / "clips" / f"common_voice_en_{clip.number}.wav", "wav16", 48000)
    rows = [[clip.speaker, f"common_voice_en_{clip.number}.mp3", clip.text, "2", "en"] for clip in CLIPS]
    write_table(folder / "train.tsv", "\t", [header, *rows[:9]])
    write_table(folder / "dev.tsv", "\t", [header, *rows[9:]], end="\r\n")
    write_table(folder / "validated.tsv", "\t", [header, *rows])
    write_table(folder / "invalidated.tsv", "\t", [header])


def libritts(folder: Path) -> None:
    for clip in CLIPS:
        part = "dev-clean" if clip.number >= 9 else "train-clean-100"
        stem = folder / part / f"{84 + clip.number % 3}" / "121" / f"{84 + clip.number % 3}_121_{clip.number:06}"
        clip.write(stem.with_name(stem.name + ".wav"), "wav16", 24000)
        write_text(stem.with_name(stem.name + ".normalized.txt"), BYTE_ORDER_MARK + clip.text + "\r\n")
        write_text(stem.with_name(stem.name + ".original.txt"), clip.text.upper() + "\n")
    write_text(folder / "speakers.tsv", "READER\tGENDER\n84\tF\n")


def vctk(folder: Path) -> None:
    for clip in CLIPS:
        stem = f"{clip.speaker}/{clip.speaker}_{clip.number:03}"
        for microphone in ("mic1", "mic2"):
            clip.write(folder / "wav48_silence_trimmed" / f"{stem}_{microphone}.flac", "flac", 48000)
        write_text(folder / "txt" / f"{stem}.txt", clip.text + "\r\n")
    write_text(folder / "speaker-info.txt", "ID AGE\np225 23\n")


def kaldi_with_absolute_paths(folder: Path) -> None:
    """The sound is somewhere else, so that --audio-root is needed."""
    corpus = folder.with_name(folder.name + "-corpus").resolve()
    files = {f"{clip.speaker}-{clip.number:03}": corpus / clip.speaker / f"{clip.number}.wav" for clip in CLIPS}
    for clip, path in zip(CLIPS, files.values(), strict=True):
        clip.write(path)
    write_text(folder / "wav.scp", "".join(f"{key} {path}\r\n" for key, path in files.items()))
    write_text(folder / "text", "".join(f"{key} {clip.text}\n" for key, clip in zip(files, CLIPS, strict=True)))
    write_text(folder / "utt2spk", "".join(f"{key} {clip.speaker}\n" for key, clip in zip(files, CLIPS, strict=True)))


def table_with_commas(folder: Path) -> None:
    """Under a name that nothing looks for, with the columns of DeepSpeech."""
    for clip in CLIPS:
        clip.write(folder / "sounds" / f"{clip.number:04}.wav", "float32")
    rows = [[f"sounds/{clip.number:04}.wav", "44100", clip.text] for clip in CLIPS]
    write_table(folder / "rows.csv", ",", [["wav_filename", "wav_filesize", "transcript"], *rows])


def nemo(folder: Path) -> None:
    """Manifests of two parts; one has absolute paths, the other relative ones."""
    for clip in CLIPS:
        clip.write(folder / "audio" / f"{clip.number:04}.wav")

    def line(clip: Clip, before: str) -> str:
        entry = {"audio_filepath": f"{before}audio/{clip.number:04}.wav", "text": clip.text}
        return json.dumps({**entry, "duration": round(1.0 + 0.1 * clip.number, 2)}) + "\r\n"

    absolute = f"{folder.resolve()}/"
    write_text(folder / "train_manifest.jsonl", BYTE_ORDER_MARK + "".join(line(clip, absolute) for clip in CLIPS[:9]))
    write_text(folder / "val_manifest.jsonl", "".join(line(clip, "") for clip in CLIPS[9:]))


LAYOUTS: dict[str, Callable[[Path], None]] = {
    layout.__name__: layout
    for layout in (
        ljspeech,
        ljspeech_with_absolute_paths,
        hugging_face,
        hugging_face_parts,
        common_voice,
        libritts,
        vctk,
        kaldi_with_absolute_paths,
        table_with_commas,
        nemo,
    )
}


def make_layouts(folder: Path) -> dict[str, Path]:
    """Each data set in a folder of its own, by the name of its layout."""
    for name, write in LAYOUTS.items():
        write(folder / name)
    return {name: folder / name for name in LAYOUTS}


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    for name, path in make_layouts(parser.parse_args().folder).items():
        print(f"{name:<30} {path}")
