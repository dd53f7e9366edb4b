"""Causes errors as users do, and reads the help of each: it must be there, fit, and name commands that exist."""

from __future__ import annotations

import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
from feed_run import Stoker, expect, stoker_of_command_line

TIME_LIMIT_S = 100


@dataclass
class Case:
    """A command line, the code that it ends with, and words of its help."""

    command: str
    code: str
    help: str


def put(path: Path, content: str | bytes) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def wav(*, channels: int = 1, bits: int = 16, num_bytes: int = 4000, promised: int | None = None) -> bytes:
    promised = num_bytes if promised is None else promised
    block = channels * bits // 8
    head = b"RIFF" + (36 + promised).to_bytes(4, "little") + b"WAVEfmt " + (16).to_bytes(4, "little")
    head += (1).to_bytes(2, "little") + channels.to_bytes(2, "little") + (22050).to_bytes(4, "little")
    head += (22050 * block).to_bytes(4, "little") + block.to_bytes(2, "little") + bits.to_bytes(2, "little")
    return head + b"data" + promised.to_bytes(4, "little") + b"\1" * num_bytes


def usage_cases(data: Path) -> list[Case]:
    feed = f"stream --data {data} --device cpu --batches 1"
    return [
        Case("explain NOPE", "E-USAGE", "stoker --help lists its commands"),
        Case("config explain NOPE", "E-USAGE", "stoker config --help lists its commands"),
        Case("data", "E-USAGE", "stoker data --help lists its commands"),
        Case("data chekc", "E-USAGE", "did you mean check?"),
        Case("features", "E-USAGE", "type stoker features <files>"),
        Case("data make --clips 3", "E-USAGE", "type stoker data make --out TEXT --clips UINT"),
        Case("config migrate", "E-USAGE", "type stoker config migrate <file>"),
        Case(f"{feed} --batchs 3", "E-USAGE", "did you mean --batches?"),
        Case(f"stream --data {data} --batches 0", "E-USAGE", "stoker stream --help lists what it takes"),
        Case("precompute", "E-USAGE", "--data FOLDER"),
        Case("verify", "E-USAGE", "--data FOLDER"),
        Case("bench feed", "E-USAGE", "--data FOLDER"),
        Case("cache import old", "E-USAGE", "--cache NEW_FOLDER"),
        Case("data check", "E-DATA-SOURCE", "stoker data check FOLDER"),
        Case("stream", "E-DATA-SOURCE", "--data FOLDER"),
        Case(f"features {data}/wavs/spk00_00000.wav --plot x.jpg", "E-USAGE", "type --plot x.png"),
        Case(f"{feed} --set data.batch_sise=3", "E-CONFIG-UNKNOWN", "did you mean data.batch_size?"),
        Case(f"{feed} --set data.batch_size=x", "E-CONFIG-VALUE", "stoker config reference"),
        Case(f"{feed} --set data.batch_size=-1", "E-CONFIG-RANGE", "choose a value in that range"),
        Case(f"{feed} --config nope.yaml", "E-CONFIG-FILE", "check the path"),
        Case("config check nope.yaml", "E-CONFIG-FILE", "check the path"),
        Case("config recommend --gpu rtx4091", "E-CONFIG-VALUE", "did you mean rtx4090?"),
        Case(f"{feed} --state-in nope", "E-IO-MISSING", "check the path"),
        Case(f"cache explain spk00_0000 --data {data}", "E-CACHE-MISSING", "did you mean spk00_0000"),
        Case(f"cache explain NOPE --data {data}", "E-CACHE-MISSING", "first column of the metadata, such as spk0"),
        Case("data make --out e --clips 0", "E-MAKE-OPTION", "give a value in that range"),
        Case(f"data make --out {data} --clips 3", "E-MAKE-FOLDER", "--overwrite"),
        Case("text --language xx hello", "E-TEXT-LANGUAGE", "such as en, fa or de"),
    ]


def file_cases(data: Path, folder: Path) -> list[Case]:
    settings = put(folder / "bad.yaml", "data:\n  batch_size: [1\n")
    twice = put(folder / "twice.yaml", "data:\n  batch_size: 1\n  batch_size: 2\n")
    state = put(folder / "state", "not a state\n")
    short = put(folder / "short.wav", wav(num_bytes=4))
    cut = put(folder / "cut.wav", wav(num_bytes=400, promised=4000))
    odd = put(folder / "odd.wav", wav(bits=12))
    text = put(folder / "text.wav", "id|a text that is longer than the header of a WAV file\n")
    nothing = put(folder / "nothing.wav", "")
    (folder / "empty").mkdir()
    many = "".join(f"row{i}|no such file\n" for i in range(40))
    put(folder / "lost" / "metadata.csv", many)
    put(folder / "bare" / "metadata.csv", "row1,A text without a header above it\n")
    cases = [
        Case("data check nowhere", "E-IO-MISSING", "check the path"),
        Case(f"features {data}", "E-IO-KIND", "give a path of the expected kind"),
        Case(f"features {short}", "E-SOUND-SHORT", "leave it out"),
        Case(f"features {cut}", "E-WAV-TRUNC", "copy the file again"),
        Case(f"features {odd}", "E-WAV-BITS", "16-bit PCM"),
        Case(f"features {text}", "E-WAV-KIND", "convert the file"),
        Case(f"features {nothing}", "E-WAV-EMPTY", "download the recording again"),
        Case(f"data check {folder}/empty", "E-DATA-LAYOUT", "metadata.csv"),
        Case(f"data check {folder}/lost", "E-DATA-REJECTS", "--audio-root FOLDER"),
        Case(f"data check {folder}/bare", "E-DATA-COLUMNS", "such as id,text"),
        Case(f"config check {settings}", "E-CONFIG-YAML", "docs/guide/settings.md"),
        Case(f"config check {twice}", "E-CONFIG-DUPLICATE", "keep one of the two lines"),
        Case(f"stream --data {data} --device cpu --state-in {state}", "E-FEED-STATE", "--state-out"),
        Case(f"verify --data {data} --cache {folder}/none", "E-CACHE-NONE", "stoker precompute --data FOLDER"),
        Case(f"verify --cache {folder}", "E-CACHE-NONE", "stoker precompute --data FOLDER"),
        Case(f"precompute --data {data} --cache {data}/wavs", "E-CACHE-PLACE", "--cache another folder"),
        Case(f"stream --data {data} --device gpu", "E-CONFIG-VALUE", "stoker config reference"),
    ]
    return cases


def commands_in(words: str) -> list[list[str]]:
    """The commands that a help line names: "stoker data check FOLDER" is data check."""
    found = re.findall(r"stoker((?: [a-z]+)+)", words)
    return [line.split() for line in found]


class Help:
    def __init__(self, stoker: Stoker) -> None:
        self.stoker = stoker
        self.known: dict[str, bool] = {}

    def run(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        command = [str(self.stoker.program), *arguments]
        return subprocess.run(
            command, cwd=self.stoker.folder, capture_output=True, text=True, timeout=TIME_LIMIT_S, check=False
        )

    def is_command(self, words: list[str]) -> bool:
        """Words after the command's name are prose or arguments."""
        name = " ".join(words[:2] if words[0] in ("data", "cache", "config", "bench") else words[:1])
        if name not in self.known:
            self.known[name] = self.run(*name.split(), "--help").returncode == 0
        return self.known[name]

    def check(self, case: Case) -> None:
        run = self.run(*case.command.split())
        lines = run.stderr.splitlines()
        errors = [i for i, line in enumerate(lines) if line.startswith(f"error[{case.code}]")]
        expect(run.returncode != 0 and len(errors) == 1, f"{case.command}: exit {run.returncode}\n{run.stderr}")
        words = "\n".join(lines[errors[0] + 1 :])
        expect(words.startswith("help: ") and case.help in words, f"{case.command}: no {case.help!r} in\n{run.stderr}")
        for command in commands_in(words):
            expect(self.is_command(command), f"{case.command}: there is no stoker {' '.join(command)}")


def main() -> None:
    with stoker_of_command_line(__doc__, num_clips=12) as stoker:
        stoker.json("precompute", "--data", str(stoker.data))
        helps = Help(stoker)
        for case in usage_cases(stoker.data) + file_cases(stoker.data, stoker.folder / "files"):
            helps.check(case)


if __name__ == "__main__":
    main()
