"""Every option that names an output: a file, a link, a pipe, a device, a folder, and "-"."""

from __future__ import annotations

import json
import os
import stat
import subprocess
import sys
import tempfile
import threading
from dataclasses import dataclass, field
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
from feed_run import Stoker, expect, stoker_of_command_line

TIME_LIMIT_S = 100


@dataclass
class Output:
    """A command line that ends in an option which names an output."""

    command: list[str]
    option: str
    holds: str  # what the output contains
    after: list[str] = field(default_factory=list)

    @property
    def name(self) -> str:
        return f"{self.command[0]} {self.option}"


def outputs(stoker: Stoker, wav: Path) -> list[Output]:
    data = str(stoker.data)
    feed = ["stream", "--data", data, "--device", "cpu", "--batches", "1", "--num-workers", "0"]
    feed += ["--preprocessing-mode", "runtime"]
    old = stoker.folder / "old.yaml"
    old.write_text("data:\n  batch_size: 4\n")
    bench_cache = ["bench", "cache", "--records", "40", "--seconds", "0.1", "--cache", data + "-bench"]
    bench = ["bench", "feed", "--data", data, "--seconds", "0.2", "--repeat", "1", "--path", "files"]
    profile = ["profile", "--data", data, "--device", "cpu", "--batches", "3", "--preprocessing-mode", "runtime"]
    return [
        Output(profile, "--trace", "slowest_file"),
        Output(feed, "--state-out", '"epoch":0,"batch":1'),
        Output(feed, "--rejects", "E-"),
        Output(["precompute", "--data", data], "--rejects", "E-"),
        Output(["data", "check", data], "--rejects", "E-"),
        Output(["data", "info", data], "--svg", "<svg"),
        Output(["data", "split", data], "--out", "|train"),
        Output(["features", str(wav)], "--out", "NUMPY"),
        Output(["features", str(wav)], "--plot", "PNG"),
        Output(["config", "migrate", str(old)], "--out", "batch_size: 4"),
        Output(["config", "reference", "errors"], "--out", "E-FEED-STATE"),
        Output(bench_cache, "--order-out", "0"),
        Output([*bench, "--set", "data.auto_tune_performance=true"], "--tuner-log", "{"),
    ]


class Run:
    def __init__(self, stoker: Stoker, output: Output) -> None:
        self.stoker = stoker
        self.output = output
        self.folder = Path(tempfile.mkdtemp(dir=stoker.folder))

    def start(self, target: str, *more: str) -> subprocess.CompletedProcess[bytes]:
        command = [str(self.stoker.program), *self.output.command, f"{self.output.option}={target}", *more]
        return subprocess.run(command, capture_output=True, timeout=TIME_LIMIT_S, check=False)

    def done(self, target: str) -> bytes:
        run = self.start(target)
        expect(run.returncode == 0, f"{self.output.name} to {target}: exit {run.returncode}\n{run.stderr!r}")
        return run.stdout

    def holds(self, content: bytes, where: str) -> None:
        expect(self.output.holds.encode() in content, f"{self.output.name} to {where}: {content[:200]!r}")

    def refused(self, target: str, code: str, *more: str) -> None:
        run = self.start(target, *more)
        said = run.stderr.decode("utf-8", "replace")
        expect(run.returncode != 0 and code in said, f"{self.output.name} to {target}: {run.returncode} {said}")

    def to_files(self) -> None:
        plain = self.folder / "new" / "plain"
        self.done(str(plain))
        self.holds(plain.read_bytes(), "a file")
        target = self.folder / "target"
        target.write_text("old")
        link = self.folder / "link"
        link.symlink_to("target")
        self.done(str(link))
        expect(link.is_symlink() and not target.is_symlink(), f"{self.output.name}: the link was replaced")
        self.holds(target.read_bytes(), "a link's target")
        # Beside a state is what it was made with.
        files = [path for path in self.folder.iterdir() if path.suffix != ".settings"]
        expect(len(files) == 3, f"{self.output.name}: litter in {os.listdir(self.folder)}")

    def to_pipe(self) -> None:
        pipe = self.folder / "pipe"
        os.mkfifo(pipe)
        self.refused(str(pipe), "E-IO-KIND")  # nobody reads
        got: list[bytes] = []

        def read() -> None:
            # A writer of our own holds the pipe open, so that the reader sees everything until it is closed.
            while chunk := os.read(reader, 1 << 16):
                got.append(chunk)

        reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
        keeper = os.open(pipe, os.O_WRONLY)
        os.set_blocking(reader, True)
        thread = threading.Thread(target=read)
        thread.start()
        try:
            self.done(str(pipe))
        finally:
            os.close(keeper)
            thread.join()
            os.close(reader)
        self.holds(b"".join(got), "a pipe")
        expect(stat.S_ISFIFO(pipe.lstat().st_mode), f"{self.output.name}: the pipe was replaced")

    def to_device(self) -> None:
        """A node made for this test: the machine's /dev/null is not put at risk."""
        node = self.folder / "null"
        os.mknod(node, stat.S_IFCHR | 0o666, os.makedev(1, 3))
        self.done(str(node))
        expect(stat.S_ISCHR(node.lstat().st_mode), f"{self.output.name}: the device was replaced")

    def to_standard_output(self) -> None:
        out = self.done("-")
        self.holds(out, "standard output")
        plain = self.folder / "plain-again"
        self.done(str(plain))
        if self.output.command[0] not in ("bench", "profile"):  # whose figures differ
            expect(out == plain.read_bytes(), f"{self.output.name}: more than the output on stdout: {out[:300]!r}")
        self.refused("-", "E-USAGE", "--json")

    def to_folder(self) -> None:
        folder = self.folder / "folder"
        folder.mkdir()
        self.refused(str(folder), "E-IO-KIND")
        expect(folder.is_dir(), f"{self.output.name}: the folder was replaced")


def check_rejects_place(stoker: Stoker) -> None:
    """The list of rejects goes to the cache's folder, wherever the sounds are, and the command says where."""
    table, sounds = stoker.folder / "table", stoker.folder / "sounds"
    table.mkdir()
    sounds.mkdir()
    wav = next(path for path in (stoker.data / "wavs").iterdir() if path.name != "broken.wav")
    (sounds / "good.wav").write_bytes(wav.read_bytes())
    (sounds / "bad.wav").write_bytes(b"RIFF")
    (table / "train.csv").write_text("path,sentence\ngood.wav,Hello there.\nbad.wav,Hello again.\n")
    before = sorted(sounds.rglob("*"))
    command = ["data", "check", str(table / "train.csv"), "--columns", "audio=path,text=sentence"]
    command += ["--audio-root", str(sounds), "--max-bad-fraction", "1"]
    report = stoker.json(*command)
    expect(sorted(sounds.rglob("*")) == before, f"among the sounds: {sorted(sounds.rglob('*'))}")
    rejects = Path(report["rejects_file"])
    expect(rejects.is_file() and table / ".stoker" in rejects.parents, f"the rejects went to {rejects}")
    expect(json.loads(rejects.read_text())["id"] == "bad", rejects.read_text())
    own = stoker.folder / "own-cache"
    report = stoker.json(*command, "--set", f"cache.dir={own}")
    expect(report["rejects_file"] == str(own / "rejects.jsonl"), str(report["rejects_file"]))
    said = subprocess.run([str(stoker.program), *command], capture_output=True, text=True, check=True).stdout
    expect(str(rejects) in said, f"the place is not said: {said}")
    print("the list of rejects goes to the cache's folder")


def main() -> int:
    with stoker_of_command_line(__doc__, num_clips=3) as stoker:
        wav = next((stoker.data / "wavs").iterdir())
        (stoker.data / "wavs" / "broken.wav").write_bytes(b"RIFF")
        with (stoker.data / "metadata.csv").open("a") as metadata:
            metadata.write("broken|Hello there.|Hello there.\n")
        check_rejects_place(stoker)
        for output in outputs(stoker, wav):
            output.command += [] if output.command[0] in ("features", "config") else ["--set", "data.max_bad_rows=9"]
            run = Run(stoker, output)
            run.to_files()
            run.to_pipe()
            run.to_standard_output()
            run.to_folder()
            if os.geteuid() == 0:
                run.to_device()
            print(f"{output.name}: file, link, pipe, standard output, folder", flush=True)
        if os.geteuid() != 0:
            print("skipped: devices, which only root can make")
    return 0


if __name__ == "__main__":
    sys.exit(main())
