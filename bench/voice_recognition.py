#!/usr/bin/env python3
"""Is the built-in voice speech? A recogniser that never heard it must name what was said.

    pip install pocketsphinx soundfile soxr numpy
    stoker data make --out D --clips 400 --speakers 4
    bench/voice_recognition.py D [--sentences 20] [--rounds 2] [--least 0.95]

For each speaker of D, a grammar of exactly `--sentences` of its sentences is built and each is
decoded; another draw of sentences is another round. Prints one JSON object; exit 1 when a speaker
stays below `--least`. Chance is 1 / sentences.
"""

from __future__ import annotations

import argparse
import json
import pathlib
import random
import re
import sys
from typing import Any

import numpy as np
import numpy.typing as npt
import soundfile
import soxr
from pocketsphinx import Decoder

RATE_HZ = 16_000
EDGE_S = 0.5
PEAK = 0.5
ROOM_NOISE = 5e-4
FEWEST_WORDS, MOST_WORDS = 4, 12

Clip = tuple[str, tuple[str, ...]]


def words_of(text: str) -> tuple[str, ...]:
    return tuple(re.sub(r"[^a-z' ]", " ", text.lower()).split())


def new_decoder() -> Any:
    return Decoder(
        samprate=RATE_HZ,
        loglevel="FATAL",
        lm=None,
        beam=1e-200,
        wbeam=1e-180,
        pbeam=1e-200,
        cmn="batch",
        bestpath=False,
    )


def clips_by_speaker(folder: pathlib.Path) -> dict[str, list[Clip]]:
    speakers: dict[str, list[Clip]] = {}
    for line in (folder / "metadata.csv").read_text(encoding="utf-8").splitlines():
        name, *texts = line.split("|")
        speakers.setdefault(name.split("_")[0], []).append((name, words_of(texts[-1])))
    return speakers


def choose(clips: list[Clip], decoder: Any, count: int, seed: int) -> list[Clip]:
    """`count` different sentences of a length and vocabulary the recogniser can judge."""
    shuffled = clips[:]
    random.Random(seed).shuffle(shuffled)
    chosen: dict[tuple[str, ...], str] = {}
    for name, words in shuffled:
        fits = FEWEST_WORDS <= len(words) <= MOST_WORDS
        if fits and words not in chosen and all(decoder.lookup_word(word) for word in words):
            chosen[words] = name
        if len(chosen) == count:
            break
    return [(name, words) for words, name in chosen.items()]


def load(path: pathlib.Path) -> bytes:
    sound, rate_hz = soundfile.read(path, dtype="float32")
    sound = soxr.resample(sound, rate_hz, RATE_HZ)
    edge = np.zeros(int(EDGE_S * RATE_HZ), np.float32)
    whole: npt.NDArray[np.float32] = np.concatenate([edge, sound, edge])
    room = np.random.default_rng(0).standard_normal(len(whole)).astype(np.float32) * ROOM_NOISE
    whole = whole / max(float(np.abs(whole).max()), 1e-6) * PEAK + room
    return (np.clip(whole, -1, 1) * 32767).astype(np.int16).tobytes()


def decode(decoder: Any, sound: bytes) -> tuple[str, ...]:
    decoder.start_utt()
    decoder.process_raw(sound, no_search=False, full_utt=True)
    decoder.end_utt()
    heard = decoder.hyp()
    return tuple(heard.hypstr.split()) if heard else ()


def score(folder: pathlib.Path, clips: list[Clip], count: int, seed: int) -> tuple[int, int]:
    """(named right, tried)"""
    decoder = new_decoder()
    chosen = choose(clips, decoder, count, seed)
    sentences = " | ".join(" ".join(words) for _, words in chosen)
    decoder.add_jsgf_string("closed", f"#JSGF V1.0; grammar g; public <s> = {sentences};")
    decoder.activate_search("closed")
    right = sum(decode(decoder, load(folder / "wavs" / f"{name}.wav")) == words for name, words in chosen)
    return right, len(chosen)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--sentences", type=int, default=20)
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("--least", type=float, default=0.95)
    arguments = parser.parse_args()
    rows: dict[str, dict[str, float]] = {}
    for speaker, clips in sorted(clips_by_speaker(arguments.folder).items()):
        scores = [score(arguments.folder, clips, arguments.sentences, seed) for seed in range(1, arguments.rounds + 1)]
        right, tried = (sum(column) for column in zip(*scores, strict=True))
        rows[speaker] = {"tried": tried, "right": right, "share": round(right / max(1, tried), 4)}
    ok = all(row["share"] >= arguments.least and row["tried"] > 0 for row in rows.values())
    print(json.dumps({"ok": ok, "sentences": arguments.sentences, "speakers": rows}))
    return 0 if ok else 1


if __name__ == "__main__":
    sys.exit(main())
