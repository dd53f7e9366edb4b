"""A training that is killed again and again, and resumed, ends with the bytes of one that ran through.

train_kill_test.py PROGRAM [--device cuda --graphs on --precision bf16] [--steps 8] [--kills 3] [--model-size tiny]

On a GPU runs are deterministic by --deterministic, which the test always asks for.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
from feed_run import Stoker, expect
from train_run import TIME_LIMIT_S, differing_files, has_trainer, newest_checkpoint

SAVE_STEPS = 2
POLL_S = 0.002


def words(stoker: Stoker, asked: argparse.Namespace, run: str) -> list[str]:
    found = [str(stoker.program), "train", "--train-data", str(stoker.data), "--checkpoint-dir", run, "--deterministic"]
    found += ["--device", asked.device, "--graphs", asked.graphs, "--precision", asked.precision]
    found += ["--model-size", asked.model_size, "--batch-size", "4", "--model-start-delay", "0", "--num-workers", "1"]
    return [*found, "--steps", str(asked.steps), "--save-step", str(SAVE_STEPS), "--vocabulary", "phonemes"]


def saved_steps(folder: Path) -> int:
    """Of the newest checkpoint; 0 before the first."""
    names = sorted(path.name for path in (folder / "checkpoints").glob("step-????????"))
    return int(names[-1].removeprefix("step-")) if names else 0


def run_to_end(stoker: Stoker, command: list[str]) -> None:
    done = subprocess.run(command, cwd=stoker.folder, capture_output=True, text=True, timeout=TIME_LIMIT_S, check=False)
    expect(done.returncode == 0, f"{' '.join(command)}: exit {done.returncode}\n{done.stderr}")


def kill_behind(stoker: Stoker, command: list[str], folder: Path, step: int, delay_s: float) -> bool:
    """Starts the run and kills it so long after it saved this step; False when it came to its end before."""
    program = subprocess.Popen(command, cwd=stoker.folder, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    deadline = time.monotonic() + TIME_LIMIT_S
    while saved_steps(folder) < step and program.poll() is None:
        expect(time.monotonic() < deadline, f"no checkpoint of step {step} within {TIME_LIMIT_S} s")
        time.sleep(POLL_S)
    time.sleep(delay_s)
    was_killed = program.poll() is None
    program.kill()
    said = program.communicate()[1]
    expect(was_killed or program.returncode == 0, f"exit {program.returncode} before it was killed\n{said}")
    return was_killed


def kills_and_resumes(stoker: Stoker, asked: argparse.Namespace) -> int:
    """How often the run was killed while it worked."""
    folder = stoker.folder / "killed"
    command = words(stoker, asked, "killed")
    num_killed = 0
    for number in range(asked.kills):
        step = min(SAVE_STEPS * (number + 1), asked.steps - SAVE_STEPS)
        # Behind a checkpoint, and at several moments of the steps that follow.
        was_killed = kill_behind(stoker, command, folder, step, delay_s=0.03 * number)
        num_killed += int(was_killed)
        command = [*words(stoker, asked, "killed"), "--resume"]
    run_to_end(stoker, command)
    return num_killed


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program", type=Path)
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--graphs", default="auto")
    parser.add_argument("--precision", default="auto")
    parser.add_argument("--model-size", default="tiny")
    parser.add_argument("--steps", type=int, default=8)
    parser.add_argument("--kills", type=int, default=2)
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        stoker = Stoker(asked.program.resolve(), Path(folder))
        if not has_trainer(stoker):
            print("skipped: this build has no libtorch")
            return
        stoker.make_data(24)
        run_to_end(stoker, words(stoker, asked, "whole"))
        num_killed = kills_and_resumes(stoker, asked)
        expect(num_killed > 0, "every run came to its end before it was killed: ask for more --steps")
        whole, killed = (newest_checkpoint(stoker.folder / name) for name in ("whole", "killed"))
        expect(whole.name == killed.name, f"{whole.name} and {killed.name}")
        differing = differing_files(whole, killed)
        expect(not differing, f"{differing} differ after {num_killed} kills")
        print(f"equal bytes after {num_killed} kills")


if __name__ == "__main__":
    main()
