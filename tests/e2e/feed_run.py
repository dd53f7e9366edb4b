"""Runs the program for the feed's end-to-end tests, and makes the data they run on."""

from __future__ import annotations

import argparse
import json
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any


@dataclass
class Stoker:
    """The program under test and the data set it works on."""

    program: Path
    folder: Path

    @property
    def data(self) -> Path:
        return self.folder / "data"

    def json(self, *arguments: str) -> dict[str, Any]:
        command = [str(self.program), *arguments, "--json"]
        done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
        if done.returncode != 0:
            raise AssertionError(f"{' '.join(command)}\nexit {done.returncode}\n{done.stderr}")
        result: dict[str, Any] = json.loads(done.stdout)
        return result

    def stream(self, *arguments: str) -> dict[str, Any]:
        return self.json("stream", "--data", str(self.data), "--device", "cpu", *arguments)

    def make_data(self, num_clips: int) -> None:
        self.json(
            "data",
            "make",
            "--out",
            str(self.data),
            "--clips",
            str(num_clips),
            "--speakers",
            "2",
            "--lengths",
            "uniform:0.6-2.4",
            "--seed",
            "7",
        )

    def precompute(self, content: str) -> Path:
        """Builds a cache of mels or of samples; returns its folder."""
        cache = self.folder / f"cache-{content}"
        self.json("precompute", "--data", str(self.data), "--cache", str(cache), "--set", f"cache.content={content}")
        return cache


def contents(report: dict[str, Any]) -> list[tuple[int, int, str]]:
    """Epoch, index and content digest of every batch."""
    return [(line["epoch"], line["index"], line["content"]) for line in report["batches"]]


def expect(holds: bool, what: str) -> None:
    if not holds:
        raise AssertionError(what)


@contextmanager
def stoker_of_command_line(description: str | None, num_clips: int) -> Iterator[Stoker]:
    """The program that the command line names, with a data set in a folder that is removed afterwards."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("program", type=Path)
    program: Path = parser.parse_args().program
    with tempfile.TemporaryDirectory() as folder:
        stoker = Stoker(program.resolve(), Path(folder))
        stoker.make_data(num_clips)
        yield stoker
