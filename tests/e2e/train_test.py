"""Training and speaking from the command line: round trip, resume, JSON, files, and what Ctrl-C says."""

from __future__ import annotations

import fcntl
import os
import pty
import re
import signal
import struct
import subprocess
import sys
import termios
import wave
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
from feed_run import Stoker, expect, stoker_of_command_line
from terminal_lines_test import read_terminal
from train_run import QUICK, TIME_LIMIT_S, differing_files, has_trainer, newest_checkpoint, run, train, trained

KEYS = [
    "steps",
    "loss_first",
    "loss_last",
    "clips_per_s",
    "frames_per_s",
    "stall_share",
    "data_ms",
    "compute_ms",
    "fallbacks",
    "parameters",
    "checkpoint",
]


def round_trip(stoker: Stoker) -> None:
    report = trained(stoker, "run", "--steps", "4", "--save-step", "2", "--vocabulary", "phonemes")
    missing = [key for key in KEYS if key not in report]
    expect(not missing, f"the report lacks {missing}")
    expect(report["ok"] and report["command"] == "train" and report["steps"] == 4, f"{report}")
    expect(report["parameters"] > 1_000_000, f"{report['parameters']} parameters")
    folder = newest_checkpoint(stoker.folder / "run")
    names = {path.name for path in folder.iterdir()}
    expected = {"model.safetensors", "ema.safetensors", "optimizer.safetensors", "state.json"}
    expect(folder.name == "step-00000004" and names == expected, f"{folder.name}: {names}")
    speaks(stoker)


def speaks(stoker: Stoker) -> None:
    wav = next((stoker.data / "wavs").glob("*.wav"))
    words = ["synthesize", "--checkpoint", "run", "--text", "The dog runs home.", "--text", "Hello.", "--steps", "4"]
    files = ["--out", "o.wav", "--save-mel", "o.npy", "--picture", "o.png", "--reference", str(wav)]
    ended = run(stoker, *words, *files, "--json")
    expect(ended.code == 0, f"synthesize: exit {ended.code}\n{ended.err}")
    expect(ended.report["audio_s"] > 0 and ended.report["rtf"] > 0, f"{ended.report}")
    expect(len(ended.report["files"]) == 6, f"{ended.report['files']}")
    for number, magic in ((1, b"\x89PNG"), (2, b"\x89PNG")):
        picture = (stoker.folder / f"o-{number}.png").read_bytes()
        expect(picture.startswith(magic), f"o-{number}.png is no picture")
        with wave.open(str(stoker.folder / f"o-{number}.wav")) as sound:
            expect(sound.getframerate() == 22050 and sound.getnframes() > 0, f"o-{number}.wav")
    again = run(stoker, *words, "--out", "p.wav", "--reference", str(wav))
    same = (stoker.folder / "o-1.wav").read_bytes() == (stoker.folder / "p-1.wav").read_bytes()
    expect(again.code == 0 and same, "the same seed speaks differently")
    fast = run(stoker, *words, "--out", "f.wav", "--speed", "2", "--reference", str(wav), "--json").report
    expect(fast["audio_s"] < 0.8 * ended.report["audio_s"], f"{fast['audio_s']} s at twice the speed")
    expect(min(fast["rtf"], ended.report["rtf"]) < 1, f"slower than speech: {fast['rtf']}, {ended.report['rtf']}")


def resumes(stoker: Stoker) -> None:
    """Four steps in one go and in two give the same weights, whatever the workers."""
    options = ("--vocabulary", "phonemes", "--save-step", "2")
    trained(stoker, "halves", "--steps", "2", *options)
    refused = train(stoker, "halves", "--steps", "4", *options)
    expect(refused.code == 2 and "error[E-TRAIN-RUN]" in refused.err, f"a run is overwritten: {refused.err}")
    report = trained(stoker, "halves", "--steps", "4", "--resume", *options, "--set", "data.num_workers=2")
    expect(report["steps"] in (2, 4), f"{report['steps']} steps")
    whole, halves = (newest_checkpoint(stoker.folder / name) for name in ("run", "halves"))
    differing = differing_files(whole, halves)
    expect(not differing, f"{differing} differ after a resume")


def stops(stoker: Stoker, num_columns: int) -> None:
    """Ctrl-C at a terminal: the line of the run fits it, and what is said last goes on from a checkpoint."""
    leader, follower = pty.openpty()
    fcntl.ioctl(follower, termios.TIOCSWINSZ, struct.pack("HHHH", 24, num_columns, 0, 0))
    command = [str(stoker.program), "train", "--train-data", str(stoker.data), "--checkpoint-dir", "stopped", *QUICK]
    program = subprocess.Popen(
        [*command, "--save-step", "1"], cwd=stoker.folder, stdout=subprocess.PIPE, stderr=follower, text=True
    )
    os.close(follower)
    folder = stoker.folder / "stopped" / "checkpoints"
    text = read_terminal(leader, lambda seen: "\r\x1b[Kstep " in seen and any(folder.glob("step-*")))
    program.send_signal(signal.SIGINT)
    text += read_terminal(leader, lambda _: False)
    out = program.communicate(timeout=TIME_LIMIT_S)[0]
    os.close(leader)
    expect(program.returncode == 130, f"exit {program.returncode}\n{text}")
    expect("to go on, run the same command with --resume" in text, text)
    expect(out == "", f"a stopped run prints {out!r}")
    lines = [line for line in re.split(r"\r\x1b\[K|\r?\n", text) if line.startswith("step ")]
    expect(bool(lines), f"no line of the run: {text!r}")
    for line in lines:
        expect(len(line) < num_columns and "loss" in line, f"{len(line)} columns of {num_columns}: {line!r}")


def main() -> None:
    with stoker_of_command_line(__doc__, num_clips=24) as stoker:
        if not has_trainer(stoker):
            print("skipped: this build has no libtorch")
            return
        round_trip(stoker)
        resumes(stoker)
        stops(stoker, num_columns=60)


if __name__ == "__main__":
    main()
