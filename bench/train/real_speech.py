#!/usr/bin/env python3
"""Does the trainer learn real speech from two dozen clips, so that a recogniser understands it?

    python3 -m bench.train.real_speech make --data CLIPS --out OUT [--seconds 270] [--transcripts FILE]
    python3 -m bench.train.real_speech judge --data CLIPS --out OUT --recogniser "python3 recognise.py" [--keep-json F]

`make` trains from nothing on a folder of recordings in LJSpeech layout and speaks their sentences, and sentences of
the transcripts that it never heard; it wants a GPU. `judge` may run elsewhere: it gives four folders to the
recogniser, which is called as COMMAND FOLDER --sentences N --max-words W and prints {"sentences": …, "right": …}:
the real clips, the clips through the vocoder alone (the bound of what can be reached), the sentences spoken, and the
unheard ones, which have no bar. OUT holds recordings and what was made from them: keep it out of the repository.
"""

from __future__ import annotations

import argparse
import json
import random
import re
import shlex
import shutil
import sys
import tarfile
from pathlib import Path

from bench.program import RunFailed, completed, ended, last_words, run_stoker
from bench.record import Bars, Json, finish

LEAST_RECOGNISED = 0.9
UNHEARD, FEWEST_WORDS, MOST_WORDS = 40, 5, 14  # more than are judged: the recogniser leaves out words it does not know
JUDGED = {"heard": 24, "unheard": 20}
# Two dozen clips are learned by heart: no dropout, a batch of about half of them, and a step size several times as
# large as for a data set. Noam's course lets it fall with the root of the steps, whenever the time ends.
LEARNING = (
    "--dropout-rate 0 --lr 6e-4 --warmup-steps 400 --scheduler noam --batch-frames 8000 --ema-decay 0.999 "
    "--epochs 1000000 --train-split 1 --val-split 0 --save-step 1000000 --val-step 1000000"
)

Sentence = tuple[str, str]  # id and text


def sentences_of(metadata: Path) -> list[Sentence]:
    rows = [line.split("|") for line in metadata.read_text(encoding="utf-8").splitlines() if line]
    return [(row[0], row[-1]) for row in rows]


def unheard(transcripts: Path, heard: list[Sentence]) -> list[Sentence]:
    """Sentences of the file, drawn by a fixed seed, that no clip says; without digits, which are read in many ways."""
    known = {text for _, text in heard}
    names = {name for name, _ in heard}
    found = [
        (name, text)
        for name, text in sentences_of(transcripts)
        if name not in names and text not in known and FEWEST_WORDS <= len(text.split()) <= MOST_WORDS
    ]
    plain = [row for row in found if re.fullmatch(r"[A-Za-z ,.'\-]+", row[1])]
    return random.Random(1).sample(plain, UNHEARD)


def train(asked: argparse.Namespace, run: Path) -> Json:
    words = ["--data", str(asked.data), "--checkpoint-dir", str(run), "--model-size", asked.model_size]
    words += ["--device", asked.device, "--seconds", str(asked.seconds), *shlex.split(asked.learning)]
    return run_stoker(asked.stoker, "train", *words, limit_s=asked.seconds + 300)


def speak(asked: argparse.Namespace, run: Path, name: str, sentences: list[Sentence]) -> Json:
    """Speaks all at once, and packs them with their texts into one archive in LJSpeech layout."""
    folder = asked.out / name
    shutil.rmtree(folder, ignore_errors=True)
    (folder / "wavs").mkdir(parents=True)
    texts = folder / "texts.txt"
    texts.write_text("\n".join(text for _, text in sentences) + "\n", encoding="utf-8")
    words = ["--checkpoint", str(run), "--texts", str(texts), "--out", str(folder / "o.wav"), "--steps", "32"]
    report = run_stoker(asked.stoker, "synthesize", *words, "--device", asked.device)
    for (clip, _), file in zip(sentences, report["files"], strict=True):
        Path(file).rename(folder / "wavs" / f"{clip}.wav")
    rows = [f"{clip}|{text}|{text}" for clip, text in sentences]
    (folder / "metadata.csv").write_text("\n".join(rows) + "\n", encoding="utf-8")
    with tarfile.open(asked.out / f"{name}.tar.gz", "w:gz") as archive:
        archive.add(folder, arcname=name)
    return {"sentences": len(sentences), "audio_s": report["audio_s"], "rtf": report["rtf"]}


def make(asked: argparse.Namespace) -> int:
    asked.out.mkdir(parents=True, exist_ok=True)
    run = asked.run or asked.out / "run"
    heard = sentences_of(asked.data / "metadata.csv")
    trained = train(asked, run)
    kept = ("steps", "seconds", "frames_per_s", "flow_first", "flow_last", "prior_last", "duration_last", "parameters")
    figures: Json = {"training": {key: trained.get(key) for key in kept}, "model_size": asked.model_size}
    figures["learning"] = asked.learning
    figures["clips"] = len(heard)
    figures["spoken"] = {"heard": speak(asked, run, "heard", heard)}
    if asked.transcripts:
        figures["spoken"]["unheard"] = speak(asked, run, "unheard", unheard(asked.transcripts, heard))
    (asked.out / "make.json").write_text(json.dumps(figures, indent=1) + "\n", encoding="utf-8")
    print(json.dumps(figures, indent=1))
    return 0


def recognised(command: str, folder: Path, count: int) -> Json:
    words = [*shlex.split(command), str(folder), "--sentences", str(count), "--max-words", "40"]
    done = completed(words)
    if done.returncode != 0:
        raise RunFailed(f"{shlex.join(words)} ended with {done.returncode}: {last_words(done.stderr)}")
    found: Json = json.loads(done.stdout)
    return {"sentences": found["sentences"], "right": found["right"], "share": found["right"] / found["sentences"]}


def through_vocoder(asked: argparse.Namespace) -> Path:
    folder: Path = asked.out / "round-trip"
    shutil.rmtree(folder, ignore_errors=True)
    done = completed([asked.round_trip, asked.data / "wavs", folder / "wavs"])
    if done.returncode != 0:
        raise RunFailed(f"{asked.round_trip} ended with {done.returncode}: {last_words(done.stderr)}")
    shutil.copy(asked.data / "metadata.csv", folder)
    return folder


def judge(asked: argparse.Namespace) -> int:
    scores: Json = {
        "real": recognised(asked.recogniser, asked.data, JUDGED["heard"]),
        "round_trip": recognised(asked.recogniser, through_vocoder(asked), JUDGED["heard"]),
    }
    for name, count in JUDGED.items():
        archive = asked.out / f"{name}.tar.gz"
        if archive.exists():
            with tarfile.open(archive) as packed:
                packed.extractall(asked.out, filter="data")
            scores[name] = recognised(asked.recogniser, asked.out / name, count)
        print(f"{name}: {scores.get(name, 'not made')}", file=sys.stderr)
    bars = Bars()
    bars.at_least(
        "sentences of the clips that are recognised", scores.get("heard", {}).get("share", 0), LEAST_RECOGNISED
    )
    made = asked.out / "make.json"
    figures = json.loads(made.read_text(encoding="utf-8")) if made.exists() else {}
    return finish("train-real-speech", {**figures, "recognised": scores}, bars, asked.keep_json)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("half", choices=("make", "judge"))
    parser.add_argument("--data", type=Path, required=True, help="folder with metadata.csv and wavs")
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--stoker", type=Path, default=Path("build/stoker"))
    parser.add_argument(
        "--run", type=Path, help="folder of the run, OUT/run by default; one that is there is gone on with"
    )
    parser.add_argument("--transcripts", type=Path, help="id|text lines; without it no unheard sentences")
    parser.add_argument("--model-size", default="normal")
    parser.add_argument("--seconds", type=float, default=270.0)
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--recogniser", default="python3 recognise.py")
    parser.add_argument("--round-trip", type=Path, default=Path("build/bench/audio/bench_round_trip"))
    parser.add_argument("--keep-json", type=Path)
    parser.add_argument("--learning", default=LEARNING, help="settings of `stoker train`, as one string (%(default)s)")
    asked = parser.parse_args()
    return make(asked) if asked.half == "make" else judge(asked)


if __name__ == "__main__":
    sys.exit(ended(main))
