"""Causes the errors of training and speaking as users do, and reads the help of each."""

from __future__ import annotations

import json
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
    silent = put(folder / "silent.wav", wav(num_bytes=88200).replace(b"\1", b"\0"))
    put(folder / "blank.txt", "\n")
    return [
        Case(say("nowhere", "a"), "E-IO-MISSING", "check the path"),
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
    """Checkpoints that are cut, of another version or of another shape."""
    folders = {name: stoker.folder / name for name in ("cut", "newer")}
    for folder in folders.values():
        shutil.copytree(newest_checkpoint(stoker.folder / "run"), folder / "step-00000002")
    weights = folders["cut"] / "step-00000002" / "ema.safetensors"
    weights.write_bytes(weights.read_bytes()[:-8])
    state = folders["newer"] / "step-00000002" / "state.json"
    content = json.loads(state.read_text())
    content["version"] = 99
    state.write_text(json.dumps(content))
    return [
        Case(say("cut/step-00000002", "a"), "E-CHECKPOINT-BAD", "use an older checkpoint"),
        Case(say("newer/step-00000002", "a"), "E-CHECKPOINT-VERSION", "use the version that wrote it"),
    ]


def training_cases(stoker: Stoker) -> list[Case]:
    words = ["train", "--data", str(stoker.data), *QUICK, "--steps", "4"]
    base = " ".join(words)
    return [
        Case("train", "E-DATA-SOURCE", "--data FOLDER"),
        Case("train --data nowhere", "E-IO-MISSING", "check the path"),
        Case(f"{base} --checkpoint-dir run", "E-TRAIN-RUN", "--resume"),
        Case(f"{base} --checkpoint-dir run --resume --lr 0.5", "E-TRAIN-CHANGED", "--allow-changed-data"),
        Case(f"{base} --checkpoint-dir run --resume --seed 9", "E-TRAIN-CHANGED", "--allow-changed-data"),
        Case(f"{base} --checkpoint-dir a --model-size huge", "E-CONFIG-VALUE", "stoker config reference"),
        Case(f"{base} --checkpoint-dir b --device cuda:77 --strict", "E-CUDA", "help"),
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
