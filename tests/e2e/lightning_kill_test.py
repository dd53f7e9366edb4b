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


def checkpoints(folder: Path) -> list[Path]:
    return sorted(folder.glob("step=*.ckpt"), key=lambda path: int(path.stem.split("=")[1]))


def live(data: str, folder: Path, num_workers: int) -> None:
    """Trains on from the last checkpoint, if there is one, to the end."""
    import lightning as L
    from lightning.pytorch.callbacks import ModelCheckpoint
    from lightning_datamodule import SpeechData
    from lightning_train import NextFrame

    log = open(folder / "steps.txt", "a", buffering=1, encoding="utf-8")  # noqa: SIM115

    class Logged(NextFrame):
        def training_step(self, batch: Any, batch_index: int) -> Any:
            log.write(f"{self.global_step} {batch.epoch} {batch.index} {batch.content_digest()}\n")
            time.sleep(0.01)
            return super().training_step(batch, batch_index)

    L.seed_everything(3)
    saver = ModelCheckpoint(folder, filename="{step}", every_n_train_steps=2, save_top_k=-1)
    trainer = L.Trainer(max_epochs=NUM_EPOCHS, logger=False, enable_progress_bar=False, callbacks=[saver])
    model, batches = Logged(), SpeechData(data, batch_frames=2000, num_workers=num_workers)
    trainer.fit(model, batches, ckpt_path=next(reversed(checkpoints(folder)), None))
    digest = hashlib.sha256(model.layer.weight.detach().numpy().tobytes()).hexdigest()
    (folder / "weights.txt").write_text(digest, encoding="utf-8")


def steps_of(folder: Path) -> list[str]:
    """Whole lines of the log."""
    path = folder / "steps.txt"
    text = path.read_text(encoding="utf-8") if path.exists() else ""
    return text[: text.rfind("\n") + 1].splitlines()


def start(data: str, folder: Path, num_workers: int) -> subprocess.Popen[str]:
    command = [sys.executable, __file__, "--live", data, str(folder), str(num_workers)]
    environment = dict(os.environ, PYTHONPATH=f"{EXAMPLES}:{os.environ.get('PYTHONPATH', '')}")
    return subprocess.Popen(command, env=environment, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True)


def live_until(data: str, folder: Path, num_workers: int, num_steps: int | None) -> bool:
    """One life, killed after so many steps of its own; whether it was."""
    begin, before = time.monotonic(), len(steps_of(folder))
    life = start(data, folder, num_workers)
    while num_steps is not None and life.poll() is None and time.monotonic() - begin < LIFE_LIMIT_S:
        if len(steps_of(folder)) - before >= num_steps:
            life.send_signal(signal.SIGKILL)
            break
        time.sleep(0.002)
    _, said = life.communicate(timeout=LIFE_LIMIT_S)
    assert life.returncode in (0, -signal.SIGKILL), f"exit code {life.returncode}\n{said[-4000:]}"
    return life.returncode != 0


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--live", nargs=3, metavar=("DATA", "FOLDER", "WORKERS"), help=argparse.SUPPRESS)
    parser.add_argument("--kills", type=int, default=6)
    parser.add_argument("--seed", type=int, default=random.randrange(1 << 30))
    options = parser.parse_args()
    if options.live:
        return live(options.live[0], Path(options.live[1]), int(options.live[2]))
    chance = random.Random(options.seed)
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
        num_kills, workers = 0, [2]
        while num_kills < options.kills:
            workers.append(chance.choice([n for n in range(5) if n != workers[-1]]))
            most = max(2, len(wanted) // (options.kills + 1))
            num_kills += live_until(data, killed, workers[-1], chance.randint(1, most))
            assert not (killed / "weights.txt").exists(), f"all steps were done after {num_kills} kills"
            assert len(workers) < MOST_LIVES
        assert not live_until(data, killed, 3, None)
        seen = [line.split(" ", 1) for line in steps_of(killed)]
        for step, found in seen:
            assert found == wanted[step], f"step {step}: expected {wanted[step]}, found {found}"
        assert {step for step, _ in seen} == set(wanted), "steps are missing"
        assert (killed / "weights.txt").read_text() == (whole / "weights.txt").read_text(), "the weights differ"
    figures = f"{len(wanted)} steps the same, {len(seen) - len(wanted)} of them done twice, workers {workers[1:]}"
    print(f"lightning_kill: {num_kills} kills, {figures}")


if __name__ == "__main__":
    main()
