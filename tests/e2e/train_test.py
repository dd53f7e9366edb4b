"""Training and speaking from the command line: round trip, resume, JSON, files, and what Ctrl-C says."""

from __future__ import annotations

import signal
import subprocess
import sys
import wave
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
from feed_run import Stoker, expect, stoker_of_command_line
from train_run import QUICK, TIME_LIMIT_S, has_trainer, newest_checkpoint, run, train, trained

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


def resumes(stoker: Stoker) -> None:
    """Four steps in one go and in two give the same weights, whatever the workers."""
    options = ("--vocabulary", "phonemes", "--save-step", "2")
    trained(stoker, "halves", "--steps", "2", *options)
    refused = train(stoker, "halves", "--steps", "4", *options)
    expect(refused.code == 2 and "error[E-TRAIN-RUN]" in refused.err, f"a run is overwritten: {refused.err}")
    report = trained(stoker, "halves", "--steps", "4", "--resume", *options, "--set", "data.num_workers=2")
    expect(report["steps"] in (2, 4), f"{report['steps']} steps")
    for name in ("model.safetensors", "ema.safetensors", "optimizer.safetensors"):
        whole = (newest_checkpoint(stoker.folder / "run") / name).read_bytes()
        halves = (newest_checkpoint(stoker.folder / "halves") / name).read_bytes()
        expect(whole == halves, f"{name} differs after a resume")


def stops(stoker: Stoker) -> None:
    command = [str(stoker.program), "train", "--train-data", str(stoker.data), "--checkpoint-dir", "stopped", *QUICK]
    command += ["--save-step", "1"]
    program = subprocess.Popen(command, cwd=stoker.folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    folder = stoker.folder / "stopped" / "checkpoints"
    try:
        while not list(folder.glob("step-*")):
            expect(program.poll() is None, "training ended by itself")
            try:
                program.wait(0.05)
            except subprocess.TimeoutExpired:
                continue
        program.send_signal(signal.SIGINT)
        out, err = program.communicate(timeout=TIME_LIMIT_S)
    finally:
        program.kill()
    expect(program.returncode == 130, f"exit {program.returncode}\n{err}")
    expect("to go on, run the same command with --resume" in err, err)
    expect(out == "", f"a stopped run prints {out!r}")


def main() -> None:
    with stoker_of_command_line(__doc__, num_clips=24) as stoker:
        if not has_trainer(stoker):
            print("skipped: this build has no libtorch")
            return
        round_trip(stoker)
        resumes(stoker)
        stops(stoker)


if __name__ == "__main__":
    main()
