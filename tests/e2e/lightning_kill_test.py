"""Training with Lightning that is killed at random steps sees the batches of one that was not, and ends the same.

    lightning_kill_test.py [--kills 6] [--seed N]

Runs in an environment with Lightning (make examples). Each life continues from the last checkpoint with another number
of workers; every step of every life, those that a kill undid included, must have the epoch, batch and content of the
same step of the uninterrupted run, and the weights at the end are the same bytes.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

EXAMPLES = Path(__file__).resolve().parents[2] / "examples" / "python"
NUM_EPOCHS = 4
LIFE_LIMIT_S = 120
MOST_LIVES = 40
STEP_S = 0.01


def step_of(checkpoint: Path) -> int:
    return int(checkpoint.stem.split("=")[1])


def checkpoints(folder: Path) -> list[Path]:
    return sorted(folder.glob("step=*.ckpt"), key=step_of)


def fit(data: str, num_workers: int, log: Path, checkpoint: Path | None, **limits: Any) -> Any:
    """Trains from a checkpoint and writes a line for each step; returns the model."""
    import lightning as L
    from lightning_datamodule import SpeechData
    from lightning_train import NextFrame

    with open(log, "a", buffering=1, encoding="utf-8") as lines:

        class Logged(NextFrame):
            def training_step(self, batch: Any, batch_index: int) -> Any:
                lines.write(f"{self.global_step} {batch.epoch} {batch.index} {batch.content_digest()}\n")
                time.sleep(STEP_S)
                return super().training_step(batch, batch_index)

        L.seed_everything(3)
        trainer = L.Trainer(max_epochs=NUM_EPOCHS, logger=False, enable_progress_bar=False, **limits)
        model, batches = Logged(), SpeechData(data, batch_frames=2000, num_workers=num_workers)
        trainer.fit(model, batches, ckpt_path=checkpoint)
        return model


def live(data: str, folder: Path, num_workers: int) -> None:
    """Trains on from the last checkpoint, if there is one, to the end."""
    from lightning.pytorch.callbacks import ModelCheckpoint

    saver = ModelCheckpoint(folder, filename="{step}", every_n_train_steps=2, save_top_k=-1)
    last = next(reversed(checkpoints(folder)), None)
    model = fit(data, num_workers, folder / "steps.txt", last, callbacks=[saver])
    digest = hashlib.sha256(model.layer.weight.detach().numpy().tobytes()).hexdigest()
    (folder / "weights.txt").write_text(digest, encoding="utf-8")


def continue_from_each(data: str, folder: Path, num_workers: int) -> None:
    """Three steps from every checkpoint of a finished run, also those at the end of an epoch."""
    for checkpoint in checkpoints(folder)[:-1]:
        limits = {"max_steps": step_of(checkpoint) + 3, "enable_checkpointing": False}
        fit(data, num_workers, folder / "each.txt", checkpoint, **limits)


def steps_of(folder: Path, name: str = "steps.txt") -> list[str]:
    """Whole lines of the log."""
    path = folder / name
    text = path.read_text(encoding="utf-8") if path.exists() else ""
    return text[: text.rfind("\n") + 1].splitlines()


def start(what: str, data: str, folder: Path, num_workers: int) -> subprocess.Popen[str]:
    command = [sys.executable, __file__, f"--{what}", data, str(folder), str(num_workers)]
    environment = dict(os.environ, PYTHONPATH=f"{EXAMPLES}:{os.environ.get('PYTHONPATH', '')}")
    return subprocess.Popen(command, env=environment, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True)


def live_until(data: str, folder: Path, num_workers: int, num_steps: int | None) -> bool:
    """One life, killed after so many steps of its own; whether it was."""
    begin, before = time.monotonic(), len(steps_of(folder))
    life = start("live", data, folder, num_workers)
    while num_steps is not None and life.poll() is None and time.monotonic() - begin < LIFE_LIMIT_S:
        if len(steps_of(folder)) - before >= num_steps:
            life.send_signal(signal.SIGKILL)
            break
        time.sleep(0.002)
    _, said = life.communicate(timeout=LIFE_LIMIT_S)
    assert life.returncode in (0, -signal.SIGKILL), f"exit code {life.returncode}\n{said[-4000:]}"
    return life.returncode != 0


def check(lines: list[str], wanted: dict[str, str]) -> None:
    for line in lines:
        step, found = line.split(" ", 1)
        assert found == wanted[step], f"step {step}: expected {wanted[step]}, found {found}"


def check_each_checkpoint(data: str, whole: Path, wanted: dict[str, str]) -> int:
    """How many checkpoints of the uninterrupted run were continued from, with as many workers as it did not have."""
    child = start("each", data, whole, 1)
    _, said = child.communicate(timeout=LIFE_LIMIT_S)
    assert child.returncode == 0, said[-4000:]
    lines, count = steps_of(whole, "each.txt"), len(checkpoints(whole)) - 1
    check(lines, wanted)
    firsts = [str(step_of(checkpoint)) for checkpoint in checkpoints(whole)[:-1]]
    assert set(firsts) <= {line.split()[0] for line in lines}, "a checkpoint was not continued from"
    return count


def check_kills(data: str, killed: Path, wanted: dict[str, str], num_kills: int, chance: random.Random) -> str:
    """Kills so many lives and lets the next one end; says what happened."""
    done, workers = 0, [2]
    while done < num_kills:
        workers.append(chance.choice([n for n in range(5) if n != workers[-1]]))
        most = max(2, len(wanted) // (num_kills + 1))
        done += live_until(data, killed, workers[-1], chance.randint(1, most))
        assert not (killed / "weights.txt").exists(), f"all steps were done after {done} kills"
        assert len(workers) < MOST_LIVES
    assert not live_until(data, killed, 3, None)
    lines = steps_of(killed)
    check(lines, wanted)
    assert {line.split()[0] for line in lines} == set(wanted), "steps are missing"
    return f"{done} kills, {len(lines) - len(wanted)} of {len(wanted)} steps done again, workers {workers[1:]}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in ("live", "each"):
        parser.add_argument(f"--{name}", nargs=3, metavar=("DATA", "FOLDER", "WORKERS"), help=argparse.SUPPRESS)
    parser.add_argument("--kills", type=int, default=6)
    parser.add_argument("--seed", type=int, default=random.randrange(1 << 30))
    options = parser.parse_args()
    for asked, act in ((options.live, live), (options.each, continue_from_each)):
        if asked:
            return act(asked[0], Path(asked[1]), int(asked[2]))
    print(f"seed {options.seed}")
    with tempfile.TemporaryDirectory() as scratch:
        data, whole, killed = f"{scratch}/voice", Path(scratch, "whole"), Path(scratch, "killed")
        make = ["stoker", "data", "make", "--out", data, "--clips", "60", "--speakers", "2"]
        subprocess.run(make, check=True, capture_output=True)
        for folder in (whole, killed):
            folder.mkdir()
        assert not live_until(data, whole, 2, None)
        wanted = dict(line.split(" ", 1) for line in steps_of(whole))
        assert len(wanted) == len(steps_of(whole)) >= 2 * NUM_EPOCHS, steps_of(whole)
        num_continued = check_each_checkpoint(data, whole, wanted)
        said = check_kills(data, killed, wanted, options.kills, random.Random(options.seed))
        assert (killed / "weights.txt").read_text() == (whole / "weights.txt").read_text(), "the weights differ"
    print(f"lightning_kill: {said}; continued from each of {num_continued} checkpoints")


if __name__ == "__main__":
    main()
