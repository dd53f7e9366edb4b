"""Causes the errors of training and speaking as users do, and reads the help of each."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
from error_help_test import Case, Help, put, wav
from feed_run import Stoker, stoker_of_command_line
from train_run import QUICK, has_trainer, newest_checkpoint, trained


def say(checkpoint: str, *more: str) -> str:
    return " ".join(["synthesize", "--checkpoint", checkpoint, "--out", "x.wav", "--text", *more])


def speech_cases(folder: Path) -> list[Case]:
    short = put(folder / "short.wav", wav(num_bytes=8820))
    silent = put(folder / "silent.wav", wav(num_bytes=88200)[:44] + bytes(88200))
    return [
        Case(say("nowhere", "a"), "E-CHECKPOINT-MISSING", "step-NNNNNNNN"),
        Case(say(str(folder), "a"), "E-CHECKPOINT-MISSING", "step-NNNNNNNN"),
        Case(say("run", "漢字"), "E-SPEAK-TEXT", "stoker text"),
        Case(say("run", "a", "--reference", str(short)), "E-SPEAK-REFERENCE", "about three seconds"),
        Case(say("run", "a", "--reference", str(silent)), "E-SPEAK-REFERENCE", "about three seconds"),
        Case(say("run", "a", "--reference", "nowhere.wav"), "E-IO-MISSING", "check the path"),
        Case(say("run", "a", "--vocabulary", "phonemes"), "E-SPEAK-VOCABULARY", "leave out --vocabulary"),
        Case(say("run", "a", "--language", "fa"), "E-SPEAK-VOCABULARY", "leave out --vocabulary"),
        Case(say("run", "a", "--device", "gpu"), "E-CONFIG-VALUE", "stoker config reference"),
    ]


def checkpoint_cases(stoker: Stoker) -> list[Case]:
    """A checkpoint of which the end of a file is lost."""
    folder = stoker.folder / "cut" / "step-00000002"
    shutil.copytree(newest_checkpoint(stoker.folder / "run"), folder)
    weights = folder / "ema.safetensors"
    weights.write_bytes(weights.read_bytes()[:-8])
    return [Case(say(str(folder), "a"), "E-CHECKPOINT-BAD", "use an older checkpoint")]


def training_cases(stoker: Stoker) -> list[Case]:
    words = ["train", "--data", str(stoker.data), *QUICK, "--steps", "4"]
    base = " ".join(words)
    return [
        Case("train --checkpoint-dir c", "E-DATA-SOURCE", "--data FOLDER"),
        Case("train --checkpoint-dir c --data nowhere", "E-IO-MISSING", "check the path"),
        Case(f"{base} --checkpoint-dir run", "E-TRAIN-RUN", "--resume"),
        Case(f"{base} --checkpoint-dir run --resume --lr 0.5", "E-TRAIN-CHANGED", "--allow-changed-data"),
        Case(f"{base} --checkpoint-dir run --resume --seed 9", "E-TRAIN-CHANGED", "--allow-changed-data"),
        Case(f"{base} --checkpoint-dir a --set training.model_size=huge", "E-CONFIG-VALUE", "stoker config reference"),
    ]


def main() -> None:
    with stoker_of_command_line(__doc__, num_clips=16) as stoker:
        if not has_trainer(stoker):
            print("skipped: this build has no libtorch")
            return
        trained(stoker, "run", "--steps", "2")
        helps = Help(stoker)
        for case in speech_cases(stoker.folder / "files") + checkpoint_cases(stoker) + training_cases(stoker):
            helps.check(case)


if __name__ == "__main__":
    main()
