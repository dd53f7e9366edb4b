"""Small data sets of known content in every layout that docs/format/metadata.md describes."""

from __future__ import annotations

import json
import random
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from tests.oracle.factors import Case
from tests.oracle.sound_files import Floats, Sound, Values, store, write_sound
from tests.oracle.tokens import ENGLISH_CASES, PLAIN_WORDS

SPEAKERS = ("p225", "spk2", "7")
PHONES = ("AA", "B", "K", "OW", "S", "T", "ZH")
SEGMENTS_A_FILE = 3


@dataclass
class Utterance:
    id: str
    text: str
    words: str  # the text as it is read, or the phones
    speaker: str
    language: str
    source: int
    sound: Sound
    file: str = ""  # relative to its source's folder
    offset_s: float | None = None
    duration_s: float | None = None
    arrays: dict[str, Values] = field(default_factory=dict)


def make_wave(draw: np.random.Generator, seconds: float, rate_hz: int) -> Floats:
    """Bursts of tones over noise, silent at both ends; band-limited, so that any resampler keeps it."""
    count = int(seconds * rate_hz)
    time = np.arange(count) / rate_hz
    wave = 0.05 * draw.standard_normal(count)
    for _ in range(4):
        wave += draw.uniform(0.02, 0.12) * np.sin(2 * np.pi * draw.uniform(80, 3500) * time + draw.uniform(0, 6))
    spectrum = np.fft.rfft(wave)
    spectrum[int(len(spectrum) * 6000.0 / (rate_hz / 2)) :] *= 0.02 if rate_hz <= 24000 else 0.0
    # Slow edges: a step would be heard up to the highest band, where resamplers differ.
    edge, ramp = count // 6, rate_hz // 50
    level = np.clip((np.minimum(np.arange(count), np.arange(count)[::-1]) - edge) / ramp, 0.0, 1.0)
    envelope = 1e-4 + (0.5 - 0.5 * np.cos(np.pi * level))
    return np.asarray(np.clip(np.fft.irfft(spectrum, count) * envelope, -0.99, 0.99))


def file_rate(case: Case, rate_hz: int) -> int:
    return 48000 if case["sound"] == "other_rate" else rate_hz


class DataSet:
    """Rows in index order, and the folder that holds them."""

    def __init__(self, case: Case, folder: Path, rate_hz: int, number: int) -> None:
        self.case, self.folder, self.rate_hz = case, folder, file_rate(case, rate_hz)
        self.draw = random.Random(number)
        self.noise = np.random.default_rng(number)
        self.rows: list[Utterance] = []
        for source in range(2 if case["sources"] == "weighted" else 1):
            self.rows += self.make_source(source)

    @property
    def names(self) -> list[str]:
        return ["A", "B"] if self.case["sources"] == "weighted" else ["A"]

    @property
    def weights(self) -> list[float]:
        return [2.0, 0.5] if self.case["sources"] == "weighted" else [1.0]

    @property
    def order_sources(self) -> list[int]:
        """To the order each metadata file is a source, with the weight of its data set."""
        if self.case["data"] != "train_eval":
            return [row.source for row in self.rows]
        counts = [sum(row.source == source for row in self.rows) for source in range(len(self.names))]
        halves = [[0] * ((count + 1) // 2) + [1] * (count // 2) for count in counts]
        return [2 * source + half for source, each in enumerate(halves) for half in each]

    @property
    def order_weights(self) -> list[float]:
        files = 2 if self.case["data"] == "train_eval" else 1
        return [weight for weight in self.weights for _ in range(files)]

    def path(self, source: int) -> Path:
        """What a user would give as the data set."""
        folder = self.folder / self.names[source]
        kind = self.case["data"]
        if kind.startswith("jsonl"):
            return folder / "train.jsonl"
        return folder / "train.tsv" if kind == "table" else folder

    def num_rows(self) -> int:
        few = self.case["preset"] == "whisper" or self.case["prepare"] == "lufs"
        count = self.draw.randint(6, 7) if few else self.draw.randint(6, 18)
        return max(4, count // len(self.names)) if self.case["sources"] == "weighted" else count

    def make_source(self, source: int) -> list[Utterance]:
        return [self.make_row(source, i) for i in range(self.num_rows())]

    def make_row(self, source: int, i: int) -> Utterance:
        few = self.case["preset"] == "whisper" or self.case["prepare"] == "lufs"
        seconds = self.draw.uniform(0.3, 0.8 if few else 2.0)
        speaker = self.draw.choice(SPEAKERS)
        name = f"{speaker}_{i:03}" if self.case["data"] != "nested" else f"part{i % 2}/{speaker}_{i:03}"
        text, words = self.make_text(i)
        wave = make_wave(self.noise, seconds, self.rate_hz)
        language = self.language_of(source, i)
        row = Utterance(name, text, words, speaker, language, source, store(self.case["sound"], wave, self.rate_hz))
        if self.case["arrays"] != "none":
            row.arrays = self.make_arrays()
        return row

    def language_of(self, source: int, i: int) -> str:
        """Of the row itself, or, where its layout names none, of the record that the first source has."""
        named = self.case["languages"] == "two" and i % 3 == 1
        recorded = self.case["languages"] == "recorded" and source == 0 and self.case["data"] != "table"
        return "de" if named or recorded else "en"

    def make_text(self, i: int) -> tuple[str, str]:
        plain = " ".join(self.draw.choices(PLAIN_WORDS, k=self.draw.randint(2, 9)))
        if self.case["vocabulary"] == "phonemes":
            return plain, " ".join(self.draw.choices(PHONES, k=self.draw.randint(3, 20)))
        can_be_read = self.case["vocabulary"] in ("characters", "bytes") and self.case["languages"] == "one"
        return ENGLISH_CASES[i % len(ENGLISH_CASES)] if can_be_read and i % 3 == 2 else (plain, plain)

    def make_arrays(self) -> dict[str, Values]:
        steps = self.draw.randint(1, 12)
        arrays = {"f0": self.noise.standard_normal(steps).astype(np.float32)}
        if self.case["arrays"] == "two":
            arrays["codes"] = self.noise.integers(-9, 9, (self.draw.randint(1, 9), 3)).astype(np.int16)
        return arrays

    def index_id(self, row: Utterance) -> str:
        return f"{self.names[row.source]}/{row.id}" if len(self.names) > 1 else row.id

    def change_some(self) -> None:
        """Other sound for every third row, another text for every fourth: a cache of them is stale.

        Segments are moved within their files instead, which stay as they are.
        """
        for i, row in enumerate(self.rows):
            if i % 3 == 0 and row.offset_s is not None:
                row.offset_s = round(row.offset_s + 0.04, 3)
                step = self.rate_hz // 25
                tail = np.zeros_like(row.sound.stored[:step])
                row.sound = Sound(np.concatenate([row.sound.stored[step:], tail]), row.sound.bits, self.rate_hz)
            elif i % 3 == 0:
                row.sound = Sound(row.sound.stored[::-1].copy(), row.sound.bits, row.sound.rate_hz)
            if i % 4 == 1 and self.case["vocabulary"] != "phonemes":
                row.text = row.words = "yesterday " + row.words if row.text == row.words else "a quiet river"

    def write_sounds(self) -> None:
        suffix = "flac" if self.case["sound"] == "flac" else "wav"
        if self.case["data"].endswith("segments"):
            if self.rows[0].file == "":
                self.write_segmented(suffix)
            return
        for row in self.rows:
            row.file = f"wavs/{row.id}.{suffix}"
            write_sound(self.folder / self.names[row.source] / row.file, self.case["sound"], row.sound)

    def write_rows(self, rows: list[Utterance]) -> None:
        """Metadata of these rows alone."""
        for source, name in enumerate(self.names):
            self.write_metadata(self.folder / name, [row for row in rows if row.source == source])
        self.write_sidecars(rows)

    def write_segmented(self, suffix: str) -> None:
        for source, name in enumerate(self.names):
            own = [row for row in self.rows if row.source == source]
            for first in range(0, len(own), SEGMENTS_A_FILE):
                file = f"wavs/long{first:03}.{suffix}"
                self.write_long_file(own[first : first + SEGMENTS_A_FILE], self.folder / name, file)

    def write_long_file(self, rows: list[Utterance], folder: Path, file: str) -> None:
        """Half a second of silence before each; times are multiples of 20 ms, whole samples at every rate used."""
        parts: list[Values] = []
        at = 0
        step = self.rate_hz // 50
        for row in rows:
            row.file = file
            steps = len(row.sound.stored) // step
            row.sound = row.sound.cut(0, steps * step)
            gap = np.zeros((25 * step, row.sound.stored.shape[1]), dtype=row.sound.stored.dtype)
            row.offset_s, row.duration_s = round((at + 25) / 50, 2), round(steps / 50, 2)
            parts += [gap, row.sound.stored]
            at += 25 + steps
        parts.append(np.zeros((self.rate_hz, parts[0].shape[1]), dtype=parts[0].dtype))
        write_sound(folder / file, self.case["sound"], Sound(np.concatenate(parts), rows[0].sound.bits, self.rate_hz))

    def write_metadata(self, folder: Path, rows: list[Utterance]) -> None:
        kind = self.case["data"]
        if self.case["languages"] == "recorded" and folder.name == self.names[0]:
            (folder / "stoker.json").write_text('{"language": "de"}', encoding="utf-8")
        if kind.startswith("jsonl"):
            lines = [json.dumps(self.json_row(row)) for row in rows]
            (folder / "train.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")
        elif kind.startswith("kaldi"):
            self.write_kaldi(folder, rows)
        elif kind == "table":
            lines = [f"{r.id}\t{r.file}\t{r.text}\t{r.speaker}\t{r.language}" for r in rows]
            head = "key\tpath\tsentence\tclient_id\tlocale"
            (folder / "train.tsv").write_text("\n".join([head, *lines]) + "\n", encoding="utf-8")
        elif kind == "train_eval":
            train = [row for i, row in enumerate(rows) if i < (len(rows) + 1) // 2]
            for name, part in (("train", train), ("eval", rows[len(train) :])):
                (folder / f"metadata_{name}.csv").write_text(pipe_rows(part), encoding="utf-8")
        else:
            (folder / "metadata.csv").write_text(pipe_rows(rows), encoding="utf-8")

    def json_row(self, row: Utterance) -> dict[str, object]:
        out: dict[str, object] = {"audio_filepath": row.file, "text": row.text, "speaker": row.speaker, "id": row.id}
        if self.case["languages"] == "two":
            out["lang"] = row.language
        if row.offset_s is not None:
            out |= {"offset": row.offset_s, "duration": row.duration_s}
        return out

    def write_kaldi(self, folder: Path, rows: list[Utterance]) -> None:
        def write(name: str, lines: list[str]) -> None:
            (folder / name).write_text("\n".join(lines) + "\n", encoding="utf-8")

        write("text", [f"{row.id} {row.text}" for row in rows])
        write("utt2spk", [f"{row.id} {row.speaker}" for row in rows])
        if rows and rows[0].offset_s is not None:
            ends = [(row, row.offset_s or 0.0, (row.offset_s or 0.0) + (row.duration_s or 0.0)) for row in rows]
            write("segments", [f"{row.id} {Path(row.file).stem} {first:.3f} {end:.3f}" for row, first, end in ends])
            write("wav.scp", sorted({f"{Path(row.file).stem} {row.file}" for row in rows}))
        else:
            write("wav.scp", [f"{row.id} {row.file}" for row in rows])

    def write_sidecars(self, rows: list[Utterance]) -> None:
        if self.case["vocabulary"] == "phonemes":
            lines = [f"{self.index_id(row)}|{row.words}" for row in rows]
            (self.folder / "A" / "phonemes.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
        for row in self.rows:
            for name, values in row.arrays.items():
                path = self.folder / "arrays" / name / f"{self.index_id(row)}.npy"
                path.parent.mkdir(parents=True, exist_ok=True)
                np.save(path, values)


def pipe_rows(rows: list[Utterance]) -> str:
    return "".join(f"{row.id}|{row.text}|{row.text}\n" for row in rows)
