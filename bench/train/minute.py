#!/usr/bin/env python3
"""Does the trainer learn to speak in a minute, on this machine's CPU and from nothing?

    bench/train/minute.py --stoker build/stoker --out FOLDER [--seconds 60] [--keep-json F]

Makes one voice, trains on 200 of its utterances with phonemes, and judges three things: how far the flow loss fell
(mean of the first ten steps against that of the last ten), which share of all frames is aligned to the sound that the
synthesiser really made there, and whether ten sentences that were held out are recognised: each, spoken by the
trained model, must be nearer (dynamic time warping over mels, cost per step of the path) to the built-in voice saying
the same sentence than to it saying any of the nine others. The ten are of nearly equal length, so that length alone
tells nothing. Prints one JSON object; exit 1 below the bars.
"""

from __future__ import annotations

import argparse
import datetime
import json
import pathlib
import sys

import numpy as np
import numpy.typing as npt

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2]))
from bench.program import LIMIT_S, ended, run_stoker
from bench.record import Json, processor

Mel = npt.NDArray[np.float32]

TRAINED, CANDIDATES, JUDGED = 200, 300, 10
LENGTH_RANGE = 1.10
BARS = {"flow_ratio": 3.0, "alignment_exact": 0.90, "recognised": 9}


def make_voice(stoker: str, out: pathlib.Path, seed: int) -> tuple[pathlib.Path, list[tuple[str, str]]]:
    """The data set to train on, and (id, text) of what is held out."""
    voice = out / "voice"
    run_stoker(stoker, "data", "make", "--out", str(voice), "--clips", str(TRAINED + CANDIDATES), "--seed", str(seed))
    lines = (voice / "metadata.csv").read_text(encoding="utf-8").splitlines()
    (voice / "metadata.csv").write_text("\n".join(lines[:TRAINED]) + "\n", encoding="utf-8")
    rows = [line.split("|") for line in lines[TRAINED:]]
    return voice, [(row[0], row[-1]) for row in rows]


def mel_of(stoker: str, sound: pathlib.Path) -> Mel:
    target = sound.with_suffix(".npy")
    run_stoker(stoker, "features", str(sound), "--out", str(target))
    return np.asarray(np.load(target), dtype=np.float32)


def of_equal_length(stoker: str, voice: pathlib.Path, held: list[tuple[str, str]]) -> list[tuple[str, str, Mel]]:
    """Ten sentences whose durations differ by at most ten per cent, around the median."""
    mels = [(name, text, mel_of(stoker, voice / "wavs" / f"{name}.wav")) for name, text in held]
    mels.sort(key=lambda row: len(row[2]))
    middle = max(0, len(mels) // 2 - JUDGED // 2)
    for shift in range(len(mels)):
        for first in (middle - shift, middle + shift):
            chosen = mels[first : first + JUDGED] if first >= 0 else []
            if len(chosen) == JUDGED and len(chosen[-1][2]) <= LENGTH_RANGE * len(chosen[0][2]):
                return chosen
    sys.exit("no ten held-out sentences are of nearly equal length")


def warped_distance(a: Mel, b: Mel) -> float:
    """Cost per step of the cheapest path that goes through both from their beginnings to their ends."""
    cost = np.sqrt(np.maximum(0.0, ((a[:, None, :] - b[None, :, :]) ** 2).mean(axis=2)))
    total = np.full((len(a) + 1, len(b) + 1), np.inf)
    steps = np.zeros((len(a) + 1, len(b) + 1))
    total[0, 0] = 0.0
    for diagonal in range(2, len(a) + len(b) + 1):  # cells of one diagonal do not depend on each other
        i = np.arange(max(1, diagonal - len(b)), min(len(a), diagonal - 1) + 1)
        j = diagonal - i
        before = np.stack([total[i - 1, j - 1], total[i - 1, j], total[i, j - 1]])
        counts = np.stack([steps[i - 1, j - 1], steps[i - 1, j], steps[i, j - 1]])
        best = before.argmin(axis=0)
        column = np.arange(len(i))
        total[i, j] = before[best, column] + cost[i - 1, j - 1]
        steps[i, j] = counts[best, column] + 1
    return float(total[-1, -1] / steps[-1, -1])


def recognised(stoker: str, run_folder: pathlib.Path, chosen: list[tuple[str, str, Mel]], out: pathlib.Path) -> int:
    texts = [word for _, text, _ in chosen for word in ("--text", text)]
    spoken = run_stoker(stoker, "synthesize", "--checkpoint", str(run_folder), *texts, "--out", str(out / "spoken.wav"))
    right = 0
    for number, name in enumerate(spoken["files"]):
        mine = mel_of(stoker, pathlib.Path(name))
        distances = [warped_distance(mine, other) for _, _, other in chosen]
        right += int(int(np.argmin(distances)) == number)
        print(f"{chosen[number][0]}: nearest is {chosen[int(np.argmin(distances))][0]}", file=sys.stderr)
    print(f"spoken at {spoken['rtf']:.2f} times real time", file=sys.stderr)
    return right


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--stoker", default="build/stoker")
    parser.add_argument("--out", type=pathlib.Path, required=True)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--seed", type=int, default=42)
    parser.add_argument("--train", nargs="*", default=[], help="further words for `stoker train`")
    parser.add_argument("--keep-json", type=pathlib.Path)
    asked = parser.parse_args()
    voice, held = make_voice(asked.stoker, asked.out, asked.seed)
    folder = asked.out / "run"
    words = ["--data", str(voice), "--checkpoint-dir", str(folder), "--model-size", "tiny", "--device", "cpu"]
    words += ["--vocabulary", "phonemes", "--seconds", str(asked.seconds), "--seed", str(asked.seed), *asked.train]
    trained = run_stoker(asked.stoker, "train", *words, limit_s=asked.seconds + LIMIT_S)
    chosen = of_equal_length(asked.stoker, voice, held)
    figures: Json = {
        "flow_first": trained["flow_first"],
        "flow_last": trained["flow_last"],
        "flow_ratio": trained["flow_first"] / trained["flow_last"],
        "alignment_exact": trained["alignment"]["exact"],
        "alignment_within_one": trained["alignment"]["near"],
        "recognised": recognised(asked.stoker, folder, chosen, asked.out),
        "steps": trained["steps"],
        "frames_per_s": trained["frames_per_s"],
        "parameters": trained["parameters"],
    }
    figures["least"] = BARS
    figures["ok"] = all(figures[name] >= bar for name, bar in BARS.items())
    figures["machine"] = processor()
    figures["date"] = datetime.date.today().isoformat()
    figures["command"] = f"bench/train/minute.py --seconds {asked.seconds:g}"
    print(json.dumps(figures, indent=1))
    if asked.keep_json is not None:
        asked.keep_json.write_text(json.dumps(figures, indent=1) + "\n", encoding="utf-8")
    return 0 if figures["ok"] else 1


if __name__ == "__main__":
    sys.exit(ended(main))
