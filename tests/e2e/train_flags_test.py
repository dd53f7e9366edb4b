"""Every flag of the training programs of myxtts on `stoker train`: it does what it says, or gives one line."""

from __future__ import annotations

import os
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
from feed_run import Stoker, expect, stoker_of_command_line
from train_run import Ended, has_trainer, run

# What each flag is given; runs are short, so several share one.
USUAL = """--batch-size 4 --epochs 1 --lr 1e-4 --max-mel-frames 400 --max-text-length 200 --num-workers 1
--buffer-size 3 --prefetch-buffer-size 2 --prefetch-to-gpu --preprocessing-mode auto --optimization-level basic
--tensorboard-log-dir tensorboard --enable-evaluation --evaluation-interval 1 --training-samples-dir samples
--training-samples-log-interval 1 --grad-accum 2 --enable-static-shapes --model-start-delay 0.1 --model-size tiny"""
NAIVE = """--batch-size 4 --num-workers 1 --model-size tiny --disable-tf-native-loading --disable-gpu-prefetch
--disable-cpu-gpu-overlap --disable-static-shapes --no-prefetch-to-gpu --learning-rate 1e-4 --language en
--sample-rate 22050 --seed 1 --enable-eager-debug"""
GPUS = """--batch-size 4 --num-workers 1 --model-size tiny --data-gpu 0 --model-gpu 0 --data-gpu-memory 4096
--model-gpu-memory 4096 --pad-to-fixed-length"""
# These have no meaning here; each must be told of once.
NOTICES = """--aggressive-lr --apply-fast-convergence --compression-target=2.0 --contrastive-loss-margin=0.2
--contrastive-loss-temperature=0.1 --create-optimized-model --decoder-strategy=non_autoregressive
--disable-gpu-stabilizer --disable-pretrained-speaker-encoder --download-ljspeech --enable-amp=true
--enable-gpu-stabilizer --enable-gst --enable-memory-isolation --fast-convergence --freeze-speaker-encoder
--gst-num-heads=4 --gst-num-style-tokens=10 --gst-style-embedding-dim=256 --gst-style-loss-weight=1.0
--gst-style-token-dim=256 --lightweight-config=x --max-gpu-memory=8 --multi-gpu --simple-loss
--speaker-encoder-path=x --speaker-encoder-type=ecapa_tdnn --unfreeze-speaker-encoder
--use-pretrained-speaker-encoder --visible-gpus=0 --vocoder-type=hifigan --checkpoint=x --mode=train --output=o.wav
--resume-from=x --text=hello"""
PATHS = """--train-data --val-data --checkpoint-dir --config --data-path --metadata-train-file --metadata-eval-file
--wavs-train-dir --wavs-eval-dir --resume --reset-training"""


def names_in(text: str) -> set[str]:
    return {word.split("=")[0] for word in text.split() if word.startswith("--")}


def table_is_whole() -> None:
    """Where the list of the old programs is at hand, it has no flag that is absent above."""
    data = os.environ.get("STOKER_TEST_DATA")
    if data is None:
        return
    tried = names_in(" ".join([USUAL, NAIVE, GPUS, NOTICES, PATHS]))
    for line in (Path(data) / "legacy-myxtts" / "flags.txt").read_text().splitlines():
        program, flag = line.split()
        expect(program not in ("train_main", "trainTestFile") or flag in tried, f"{flag} of {program} is not tried")


def train(stoker: Stoker, folder: str, *arguments: str) -> Ended:
    ended = run(stoker, "train", "--checkpoint-dir", folder, "--steps", "1", *arguments)
    expect(ended.code == 0, f"train {' '.join(arguments)}: exit {ended.code}\n{ended.err}")
    return ended


def split_files(stoker: Stoker) -> None:
    rows = (stoker.data / "metadata.csv").read_text().splitlines(keepends=True)
    (stoker.folder / "train.csv").write_text("".join(rows[:12]))
    (stoker.folder / "eval.csv").write_text("".join(rows[12:]))
    (stoker.folder / "old.yaml").write_text("data:\n  dataset_path: nowhere\n  batch_size: 4\n")


def usual_flags_have_their_effect(stoker: Stoker) -> None:
    data = str(stoker.data)
    ended = train(stoker, "usual", "--train-data", data, "--val-data", data, "--device", "cpu", *USUAL.split())
    expect("has no effect" not in ended.err, ended.err)
    expect(any((stoker.folder / "tensorboard").glob("events.*")), "--tensorboard-log-dir holds no events")
    expect(any((stoker.folder / "samples").rglob("*.wav")), "--training-samples-dir holds no sound")


def goes_on_and_starts_again(stoker: Stoker) -> None:
    words = ["--train-data", str(stoker.data), "--device", "cpu", *["--batch-size", "4", "--model-size", "tiny"]]
    train(stoker, "again", *words)
    train(stoker, "again", *words, "--resume", "--set", "training.steps=2")
    names = {path.name for path in (stoker.folder / "again" / "checkpoints").glob("step-*")}
    expect("step-00000002" in names, f"--resume saved {names}")
    train(stoker, "again", *words, "--reset-training")


def separate_metadata_is_read(stoker: Stoker) -> None:
    folder = stoker.folder
    paths = ["--data-path", str(stoker.data), "--metadata-train-file", str(folder / "train.csv")]
    paths += ["--metadata-eval-file", str(folder / "eval.csv"), "--config", str(folder / "old.yaml")]
    paths += ["--wavs-train-dir", str(stoker.data / "wavs"), "--wavs-eval-dir", str(stoker.data / "wavs")]
    train(stoker, "naive", *paths, "--device", "cpu", *NAIVE.split())


def notices_are_told_once(stoker: Stoker) -> None:
    words = ["--train-data", str(stoker.data), "--device", "cpu", "--batch-size", "4", "--model-size", "tiny"]
    ended = train(stoker, "notices", *words, *NOTICES.split())
    for flag in sorted(names_in(NOTICES)):
        lines = [line for line in ended.err.splitlines() if line.startswith(f"notice: {flag}: ")]
        expect(len(lines) == 1, f"{flag} is told of {len(lines)} times\n{ended.err}")


def main() -> None:
    table_is_whole()
    with stoker_of_command_line(__doc__, num_clips=16) as stoker:
        if not has_trainer(stoker):
            print("skipped: this build has no libtorch")
            return
        split_files(stoker)
        usual_flags_have_their_effect(stoker)
        goes_on_and_starts_again(stoker)
        separate_metadata_is_read(stoker)
        train(stoker, "gpus", "--train-data", str(stoker.data), *GPUS.split())
        notices_are_told_once(stoker)


if __name__ == "__main__":
    main()
