#!/usr/bin/env python3
"""Does a trained model speak with a voice that it hears for the first time, from three seconds of it?

    python3 -m bench.train.clone --stoker build/stoker --out FOLDER [--seconds 480] [--keep-json F]

Trains on 32 speakers of the built-in voice. The statistic that tells voices apart (bench/train/voice_print.py) is
fitted on recordings of those 32. Twenty-four other speakers are drawn with another seed, and their recordings alone
decide which eight are judged: those farthest apart. Each lends ten recordings as references, and a sentence of another
recording is spoken with each: 80 trials. A trial is right when its clip is nearer to the centre of its own speaker's
recordings (twenty others than the references) than to those of the seven others. The same statistic must tell
recordings of the eight apart nearly always, or the trials say nothing. Besides, work for a second of sound is measured
for one sentence and for sixteen at once.
"""

from __future__ import annotations

import argparse
import itertools
import shlex
import statistics
import sys
from pathlib import Path

import numpy as np
import numpy.typing as npt

from bench.program import ended, run_stoker
from bench.record import Bars, Json, finish
from bench.train.voice_print import PITCH, NoSpeech, VoicePrint, left_out_accuracy, read_wav, statistic

TRAINED_SPEAKERS, CLIPS_A_SPEAKER, FITTED_CLIPS = 32, 150, 16
DRAWN_SPEAKERS, JUDGED_SPEAKERS, RECORDINGS, LENT, SENTENCES = 24, 8, 20, 24, 10
LEAST_REFERENCE_S = 2.0
UNSEEN_SEED, TRAINED_SEED = 9001, 42
BATCHED = 16
RTF_RUNS = 5
LEAST_RECORDED, LEAST_CLONED, MOST_RTF, MOST_BATCHED_RTF = 0.98, 0.90, 0.05, 0.02
LEARNING = (
    "--vocabulary phonemes --lr 4e-4 --warmup-steps 500 --save-step 1000000 --val-step 1000000 "
    "--reference-mel speaker --voice-warp 0.1"
)

Array = npt.NDArray[np.float64]
Clip = tuple[str, str]  # id and text


def make_data(asked: argparse.Namespace, name: str, speakers: int, clips: int, seed: int) -> dict[str, list[Clip]]:
    """Clips of each speaker; the folder is made when it is not there."""
    folder = asked.out / name
    if not (folder / "metadata.csv").exists():
        words = ["--out", str(folder), "--clips", str(clips * speakers), "--speakers", str(speakers)]
        run_stoker(asked.stoker, "data", "make", *words, "--seed", str(seed))
    found: dict[str, list[Clip]] = {}
    for line in (folder / "metadata.csv").read_text(encoding="utf-8").splitlines():
        row = line.split("|")
        found.setdefault(row[0].split("_")[0], []).append((row[0], row[-1]))
    return found


def mels_of(asked: argparse.Namespace, name: str, wavs: list[Path]) -> list[Path]:
    """Makes them anew."""
    folder = asked.out / f"{name}-mels"
    folder.mkdir(parents=True, exist_ok=True)
    mels = [folder / f"{wav.stem}.npy" for wav in wavs]
    target = folder if len(wavs) > 1 else mels[0]
    run_stoker(asked.stoker, "features", *map(str, wavs), "--out", str(target))
    return mels


def recordings(asked: argparse.Namespace, name: str, data: dict[str, list[Clip]], count: int) -> Array:
    """[speakers, count, values]"""
    wavs = [asked.out / name / "wavs" / f"{clip}.wav" for clips in data.values() for clip, _ in clips[:count]]
    mels = mels_of(asked, name, wavs)
    values = [statistic(np.load(mel), wav) for mel, wav in zip(mels, wavs, strict=True)]
    return np.stack(values).reshape(len(data), count, -1)


def fit(values: Array) -> tuple[VoicePrint, float]:
    """The statistic, and how well it tells the speakers apart that it was fitted on, eight at a time."""
    speakers, count, width = values.shape
    print_of = VoicePrint(values.reshape(-1, width), np.repeat(np.arange(speakers), count))
    places = print_of.place(values.reshape(-1, width)).reshape(speakers, count, -1)
    groups = [places[first : first + JUDGED_SPEAKERS] for first in range(0, speakers, JUDGED_SPEAKERS)]
    return print_of, float(np.mean([separation(group) for group in groups]))


def separation(places: Array) -> float:
    speakers, count, width = places.shape
    return left_out_accuracy(places.reshape(-1, width), np.repeat(np.arange(speakers), count))


def farthest_apart(centres: Array) -> list[int]:
    """Speakers chosen one after the other, each the farthest from all that are chosen; begins with the widest pair."""
    distance = np.sqrt(((centres[:, None] - centres[None]) ** 2).sum(2))
    chosen = list(max(itertools.combinations(range(len(centres)), 2), key=lambda pair: distance[pair]))
    while len(chosen) < JUDGED_SPEAKERS:
        chosen.append(int(distance[chosen].min(0).argmax()))
    return sorted(chosen)


def speak(asked: argparse.Namespace, run: Path, texts: list[str], references: list[Path], name: str) -> Json:
    """With one reference for all texts, or one for each."""
    folder = asked.out / "spoken"
    folder.mkdir(parents=True, exist_ok=True)
    said = [word for text in texts for word in ("--text", text)]
    said += [word for reference in references for word in ("--reference", str(reference))]
    words = ["--checkpoint", str(run), "--out", str(folder / f"{name}.wav"), *said]
    return run_stoker(asked.stoker, "synthesize", *words, "--device", asked.device)


def long_enough(wavs: list[Path]) -> list[Path]:
    """The first that have enough speech for a reference."""
    found = []
    for wav in wavs:
        samples, rate_hz = read_wav(wav)
        if len(samples) >= LEAST_REFERENCE_S * rate_hz:
            found.append(wav)
    if len(found) < SENTENCES:
        raise RuntimeError(f"expected {SENTENCES} recordings of at least {LEAST_REFERENCE_S} s, found {len(found)}")
    return found[:SENTENCES]


def clone(asked: argparse.Namespace, run: Path, judged: list[list[Clip]], centres: Array, place: VoicePrint) -> Json:
    """Trials of all speakers: the nearest speaker of what was spoken. Clips without speech are wrong."""
    table = np.zeros((len(judged), len(judged)), dtype=int)
    rtfs, pitches_hz, nearer = [], [], []
    for number, clips in enumerate(judged):
        references = long_enough([asked.out / "unseen" / "wavs" / f"{clip}.wav" for clip, _ in clips[RECORDINGS:]])
        own = {path.stem: text for path in references for clip, text in clips if clip == path.stem}
        texts = [own[path.stem] for path in references[1:] + references[:1]]  # of another recording than the reference
        report = speak(asked, run, texts, references, f"speaker{number}")
        rtfs.append(report["rtf"])
        values = statistics_of(asked, [Path(file) for file in report["files"]])
        distances = np.sqrt(((place.place(values)[:, None] - centres) ** 2).sum(2))
        table[number] = np.bincount(distances.argmin(1), minlength=len(judged))
        others = np.delete(distances, number, 1).min(1)
        nearer.append([round(float(each), 3) for each in sorted(distances[:, number] / others)])
        heard = statistics_of(asked, references)
        pitches_hz.append([round(float(np.exp(np.median(each[:, PITCH]))), 1) for each in (heard, values)])
        print(f"speaker {number}: {table[number].tolist()}, pitch {pitches_hz[-1]} Hz, {nearer[-1]}", file=sys.stderr)
    return {
        "trials": SENTENCES * len(judged),
        "right": int(np.trace(table)),
        "nearest": table.tolist(),
        "own_distance_of_next": nearer,  # below 1: right
        "pitch_hz_heard_and_spoken": pitches_hz,
        "rtfs": rtfs,
    }


def statistics_of(asked: argparse.Namespace, wavs: list[Path]) -> Array:
    """Of each sound that has speech; one without is a wrong trial, which no column counts."""
    values = []
    for mel, wav in zip(mels_of(asked, "spoken", wavs), wavs, strict=True):
        try:
            values.append(statistic(np.load(mel), wav))
        except NoSpeech as error:
            print(error, file=sys.stderr)
    if not values:
        raise RuntimeError(f"expected speech, found none in {len(wavs)} clips of {wavs[0].parent}")
    return np.stack(values)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--stoker", type=Path, default=Path("build/stoker"))
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--run", type=Path, help="a trained run: trains nothing")
    parser.add_argument("--seconds", type=float, default=480.0)
    parser.add_argument("--model-size", default="normal")
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--learning", default=LEARNING, help="settings of `stoker train`, as one string (%(default)s)")
    parser.add_argument("--only-statistic", action="store_true", help="ends before training")
    parser.add_argument("--keep-json", type=Path)
    asked = parser.parse_args()
    asked.out.mkdir(parents=True, exist_ok=True)
    bars = Bars()
    trained = make_data(asked, "trained", TRAINED_SPEAKERS, CLIPS_A_SPEAKER, TRAINED_SEED)
    unseen = make_data(asked, "unseen", DRAWN_SPEAKERS, RECORDINGS + LENT, UNSEEN_SEED)
    voice_print, own_share = fit(recordings(asked, "trained", trained, FITTED_CLIPS))
    drawn = recordings(asked, "unseen", unseen, RECORDINGS)
    places = voice_print.place(drawn.reshape(-1, drawn.shape[2])).reshape(len(unseen), RECORDINGS, -1)
    chosen = farthest_apart(places.mean(1))
    judged = [list(unseen.values())[index] for index in chosen]
    figures: Json = {"separated_trained": own_share, "num_axes": voice_print.num_axes}
    figures["separated_all_drawn"] = separation(places)
    figures["separated_judged"] = separation(places[chosen])
    figures["judged"] = [list(unseen)[index] for index in chosen]
    bars.at_least("recordings of the unseen speakers told apart", figures["separated_judged"], LEAST_RECORDED)
    print(figures, file=sys.stderr)
    if asked.only_statistic:
        return 0 if bars.ok() else 1
    run = asked.run or asked.out / "run"
    if asked.run is None:
        words = ["--data", str(asked.out / "trained"), "--checkpoint-dir", str(run), "--model-size", asked.model_size]
        words += ["--device", asked.device, "--seconds", str(asked.seconds), *shlex.split(asked.learning)]
        report = run_stoker(asked.stoker, "train", *words, limit_s=asked.seconds + 300)
        kept = ("steps", "seconds", "frames_per_s", "flow_first", "flow_last", "parameters", "alignment")
        figures["training"] = {key: report.get(key) for key in kept} | {"learning": asked.learning}
    figures["cloned"] = clone(asked, run, judged, places[chosen].mean(1), voice_print)
    measure_rtf(asked, run, judged, figures)
    bars.at_least(
        "clones nearest to their own speaker", figures["cloned"]["right"] / figures["cloned"]["trials"], LEAST_CLONED
    )
    bars.at_most("work for a second of sound, one sentence", figures["rtf_single"], MOST_RTF)
    bars.at_most("work for a second of sound, sixteen at once", figures["rtf_batched"], MOST_BATCHED_RTF)
    return finish("train-clone", figures, bars, asked.keep_json)


def measure_rtf(asked: argparse.Namespace, run: Path, judged: list[list[Clip]], figures: Json) -> None:
    """In processes of their own, after the card's first use, which is told apart; the middle one of a few, as each
    is a fraction of a second."""
    texts = [text for _, text in judged[0][:BATCHED]]
    reference = asked.out / "unseen" / "wavs" / f"{judged[0][0][0]}.wav"
    for name, said in (("single", [max(texts, key=len)]), ("batched", texts)):
        runs = [speak(asked, run, said, [reference], name) for _ in range(RTF_RUNS)]
        figures[f"rtf_{name}_runs"] = [each["rtf"] for each in runs]
        figures[f"rtf_{name}"] = statistics.median(figures[f"rtf_{name}_runs"])
        figures["first_use_s"] = runs[0]["first_use_s"]


if __name__ == "__main__":
    sys.exit(ended(main))
