"""Holds the files of `stoker stream --save` and its report against what the oracle says."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from tests.oracle.digests import Arrays, content_digest, id_bytes
from tests.oracle.expected import Batch, Oracle, Row
from tests.oracle.features import Mel, rounded
from tests.oracle.sound_files import Values
from tests.oracle.xxh3 import xxh3_128

ELEMENT = {"f32": np.float32, "f16": np.float16, "bf16": np.float32}


class Differs(Exception):
    """The stream is not what the documents say."""


def expect(holds: bool, what: str) -> None:
    if not holds:
        raise Differs(what)


def expect_equal(found: Values, wanted: Values, what: str) -> None:
    expect(found.shape == wanted.shape, f"{what}: shape {wanted.shape} expected, found {found.shape}")
    expect(found.dtype == wanted.dtype, f"{what}: {wanted.dtype} expected, found {found.dtype}")
    if found.tobytes() == wanted.tobytes():
        return
    at = np.argwhere(~((found == wanted) | (found != found) & (wanted != wanted)))
    place = tuple(int(i) for i in at[0]) if len(at) else ()
    raise Differs(f"{what} at {place}: {wanted[place]!r} expected, found {found[place]!r} ({len(at)} values differ)")


@dataclass
class Comparison:
    """One stream of a case. `seen` keeps the mel of each utterance, so that it never comes with other bytes."""

    oracle: Oracle
    seen: dict[tuple[int, int], bytes] = field(default_factory=dict)
    near: float = 0.0  # what samples may differ by: 0, or a resampler's rounding

    @property
    def cache_dtype(self) -> str:
        return self.oracle.case["cache_dtype"]

    @property
    def dtype(self) -> str:
        asked = self.oracle.case["batch_dtype"]
        return self.cache_dtype if asked == "auto" else asked

    def check_batch(self, wanted: Batch, found: Arrays) -> None:
        name = f"epoch {wanted.epoch} batch {wanted.index}"
        known = self.known_names()
        expect(set(found) == known, f"{name}: arrays {sorted(known)} expected, found {sorted(found)}")
        ids = [str(each) for each in found["ids"]]
        expect(ids == [row.id for row in wanted.rows], f"{name}: ids {[r.id for r in wanted.rows]}, found {ids}")
        expect(int(found["epoch"][0]) == wanted.epoch and int(found["index"][0]) == wanted.index, f"{name}: place")
        self.check_rows(wanted, found, name)
        self.check_tokens(wanted, found, name)
        self.check_mel(wanted, found, name)
        self.check_audio(wanted, found, name)
        self.check_reference(wanted, found, name)
        self.check_segments(wanted, found, name)
        self.check_arrays(wanted, found, name)

    def known_names(self) -> set[str]:
        case = self.oracle.case
        names = {"epoch", "index", "ids", "mel", "tokens", "text_len", "mel_len", "speaker", "language"}
        names |= {"frame_begins", "token_begins"} if case["layout"] == "packed" else set()
        names |= {"audio", "audio_len"} if case["audio"] == "on" else set()
        names |= {"reference_mel", "reference_len"} if case["reference"] != "none" else set()
        names |= {"wav_segment", "mel_segment"} if case["segments"] != "none" else set()
        arrays = {"none": (), "one": ("f0",), "two": ("f0", "codes")}[case["arrays"]]
        return names | {f"{kind}.{each}" for each in arrays for kind in ("array", "array_len")}

    def check_rows(self, wanted: Batch, found: Arrays, name: str) -> None:
        def column(values: list[int]) -> Values:
            return np.array(values, dtype=np.int32)

        expect_equal(found["mel_len"], column([row.num_frames for row in wanted.rows]), f"{name}: mel_len")
        expect_equal(found["text_len"], column([len(row.tokens) for row in wanted.rows]), f"{name}: text_len")
        expect_equal(found["speaker"], column([row.speaker for row in wanted.rows]), f"{name}: speaker")
        expect_equal(found["language"], column([row.language for row in wanted.rows]), f"{name}: language")
        if self.oracle.order.packed:
            begins = np.array([row.frame_begin for row in wanted.rows], dtype=np.uint32)
            expect_equal(found["frame_begins"], begins, f"{name}: frame_begins")
            begins = np.array([row.token_begin for row in wanted.rows], dtype=np.uint32)
            expect_equal(found["token_begins"], begins, f"{name}: token_begins")

    def check_tokens(self, wanted: Batch, found: Arrays, name: str) -> None:
        tokens = np.zeros((wanted.shape[0], wanted.shape[2]), dtype=np.int32)
        for row in wanted.rows:
            tokens.reshape(-1)[row.token_begin : row.token_begin + len(row.tokens)] = row.tokens
        expect_equal(found["tokens"], tokens, f"{name}: tokens")

    def check_within(self, found: Values, wanted: Mel, what: str) -> None:
        """Rounding keeps order, so the ends of the interval may be rounded as the value was."""
        low = rounded(rounded(wanted.low, self.cache_dtype), self.dtype)
        high = rounded(rounded(wanted.high, self.cache_dtype), self.dtype)
        value = found.astype(np.float32)
        expect(value.shape == low.shape, f"{what}: shape {low.shape} expected, found {value.shape}")
        bad = np.argwhere(~((value >= low) & (value <= high)))
        if len(bad) > 0:
            at = tuple(int(i) for i in bad[0])
            raise Differs(
                f"{what} at frame {at[0]}, band {at[1]}: {low[at]} to {high[at]} expected, found {value[at]} "
                f"({len(bad)} of {value.size} values outside)"
            )

    def padding(self) -> Values:
        return rounded(np.array([self.oracle.padding]), self.dtype).astype(ELEMENT[self.dtype])

    def check_mel(self, wanted: Batch, found: Arrays, name: str) -> None:
        mels = self.oracle.recipe.mels
        mel = found["mel"]
        expect(mel.shape == (*wanted.shape[:2], mels), f"{name}: mel of {mel.shape}, {wanted.shape} expected")
        expect(mel.dtype == ELEMENT[self.dtype], f"{name}: mel of {mel.dtype}, {self.dtype} expected")
        flat = mel.reshape(-1, mels)
        is_padding = np.ones(len(flat), dtype=bool)
        for row in wanted.rows:
            if row.mel is None:
                continue
            part = flat[row.frame_begin : row.frame_begin + row.num_frames]
            self.check_within(part, row.mel, f"{name}: mel of {row.id}")
            self.check_same(row, wanted.epoch, part, name)
            is_padding[row.frame_begin : row.frame_begin + row.num_frames] = False
        rest = flat[is_padding]
        expect_equal(rest, np.broadcast_to(self.padding(), rest.shape), f"{name}: padding of mel")

    def check_same(self, row: Row, epoch: int, part: Values, name: str) -> None:
        key = (row.index, epoch if self.oracle.augment is not None else 0)
        content = part.tobytes()
        expect(self.seen.setdefault(key, content) == content, f"{name}: {row.id} came with other bytes than before")

    def wave(self, row: Row, count: int) -> Values:
        out = np.zeros(count, dtype=np.float32)
        if row.pcm is not None:
            out[: min(count, len(row.pcm))] = row.pcm[:count].astype(np.float32) / np.float32(32768.0)
        return out

    def expect_wave(self, found: Values, wanted: Values, what: str) -> None:
        if self.near == 0.0:
            return expect_equal(found, wanted, what)
        expect(found.shape == wanted.shape, f"{what}: shape {wanted.shape} expected, found {found.shape}")
        furthest = float(np.abs(found - wanted).max(initial=0.0))
        return expect(furthest <= self.near, f"{what}: {furthest} away from the ideal resampler, {self.near} allowed")

    def check_audio(self, wanted: Batch, found: Arrays, name: str) -> None:
        if self.oracle.case["audio"] != "on":
            return
        hop = self.oracle.recipe.hop
        room = wanted.shape[1] * hop
        audio, lengths = np.zeros((wanted.shape[0], room), dtype=np.float32), []
        for row in wanted.rows:
            # Packed: an utterance's samples begin where its frames do, and end where they end.
            count = room if not self.oracle.order.packed else row.num_frames * hop
            count = min(count, 0 if row.pcm is None else len(row.pcm))
            audio.reshape(-1)[row.frame_begin * hop : row.frame_begin * hop + count] = self.wave(row, count)
            lengths.append(count)
        expect_equal(found["audio_len"], np.array(lengths, dtype=np.int32), f"{name}: audio_len")
        self.expect_wave(found["audio"], audio, f"{name}: audio")

    def check_reference(self, wanted: Batch, found: Arrays, name: str) -> None:
        if self.oracle.case["reference"] == "none":
            return
        frames = self.oracle.reference_frames
        lengths = [0 if row.reference is None else row.reference.num_frames for row in wanted.rows]
        expect_equal(found["reference_len"], np.array(lengths, dtype=np.int32), f"{name}: reference_len")
        mel = found["reference_mel"]
        expect(mel.shape == (len(wanted.rows), frames, self.oracle.recipe.mels), f"{name}: reference of {mel.shape}")
        for at, row in enumerate(wanted.rows):
            if row.reference is not None:
                self.check_within(mel[at, : lengths[at]], row.reference, f"{name}: reference of {row.id}")
            rest = mel[at, lengths[at] :]
            expect_equal(rest, np.broadcast_to(self.padding(), rest.shape), f"{name}: padding of reference {at}")

    def check_segments(self, wanted: Batch, found: Arrays, name: str) -> None:
        frames, hop, mels = self.oracle.segment_frames, self.oracle.recipe.hop, self.oracle.recipe.mels
        if frames == 0:
            return
        flat = found["mel"].reshape(-1, mels)
        mel = np.broadcast_to(self.padding(), (len(wanted.rows), frames, mels)).astype(flat.dtype)
        wave = np.zeros((len(wanted.rows), frames * hop), dtype=np.float32)
        for at, row in enumerate(wanted.rows):
            count = min(frames, row.num_frames)
            begin = row.frame_begin + row.segment_begin
            mel[at, :count] = flat[begin : begin + count]
            samples = self.wave(row, (row.segment_begin + count) * hop)[row.segment_begin * hop :]
            wave[at, : len(samples)] = samples
        expect_equal(found["mel_segment"], mel, f"{name}: mel_segment")
        self.expect_wave(found["wav_segment"], wave, f"{name}: wav_segment")

    def check_arrays(self, wanted: Batch, found: Arrays, name: str) -> None:
        for each in sorted(key[6:] for key in self.known_names() if key.startswith("array.")):
            values = [row.arrays[each] for row in self.oracle.data.rows]
            longest, step = max(len(value) for value in values), values[0][0].size
            array = np.zeros((len(wanted.rows), longest, step), dtype=values[0].dtype)
            lengths = np.zeros(len(wanted.rows), dtype=np.int32)
            for at, row in enumerate(wanted.rows):
                if row.index >= 0:
                    lengths[at] = len(row.arrays[each])
                    array[at, : lengths[at]] = row.arrays[each].reshape(-1, step)
            expect_equal(found[f"array_len.{each}"], lengths, f"{name}: array_len.{each}")
            expect_equal(found[f"array.{each}"], array, f"{name}: array.{each}")


def check_report(comparison: Comparison, wanted: list[Batch], found: list[Arrays], report: dict[str, Any]) -> None:
    lines = report["batches"]
    version = int(report.get("digest_version", 1))
    expect(len(lines) == len(wanted), f"{len(wanted)} lines expected, found {len(lines)}")
    for line, batch, arrays in zip(lines, wanted, found, strict=True):
        name = f"line of epoch {batch.epoch} batch {batch.index}"
        expect([line["epoch"], line["index"]] == [batch.epoch, batch.index], f"{name}: place")
        expect(tuple(line["shape"]) == batch.shape, f"{name}: shape {batch.shape} expected, found {line['shape']}")
        expect(line["rows"] == [row.id for row in batch.rows], f"{name}: rows")
        ids = xxh3_128(b"".join(id_bytes([row.id for row in batch.rows])))
        expect(line["ids"] == ids, f"{name}: digest of the ids")
        everyone = xxh3_128(b"".join(id_bytes(batch.global_ids)))
        expect(line["global_ids"] == everyone, f"{name}: digest of the ids of all ranks")
        content = content_digest(comparison.oracle, batch, arrays, comparison.dtype, version)
        expect(line["content"] == content, f"{name}: content digest {content} expected, found {line['content']}")
    whole = xxh3_128("".join(line["content"] for line in lines).encode())
    expect(report["stream_digest"] == whole, "stream_digest")
    clips = sum(row.index >= 0 for batch in wanted for row in batch.rows)
    expect(report["clips"] == clips, f"clips: {clips} expected, found {report['clips']}")
    all_frames = sum(batch.shape[0] * batch.shape[1] for batch in wanted)
    share = 1.0 - sum(row.num_frames for batch in wanted for row in batch.rows) / all_frames
    expect(abs(report["padding_share"] - share) < 1e-9, f"padding_share: {share}, found {report['padding_share']}")
    expect(report["rejected"] == 0 and report["bad_rows"] == 0, "rows were rejected")


def load_batches(folder: Path, wanted: list[Batch]) -> list[Arrays]:
    names = [f"epoch-{batch.epoch:05}-batch-{batch.index:06}.npz" for batch in wanted]
    present = sorted(path.name for path in folder.iterdir())
    expect(present == sorted(names), f"files {sorted(names)} expected, found {present}")
    loaded: list[Arrays] = []
    for name in names:
        with np.load(folder / name) as file:
            loaded.append(dict(file))
    return loaded
