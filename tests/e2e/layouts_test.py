"""Ten data sets in ten layouts: from `data check` to `stream` with nothing typed, or with what the message names."""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))
from feed_run import expect
from make_layouts import CLIPS, make_layouts

# Layouts that name their parts themselves: rows of the training part.
PARTS = {"hugging_face_parts": 9, "common_voice": 9, "libritts": 9, "nemo": 9}
# Layouts that name their speakers; the others have one.
SPEAKERS = {"common_voice": 3, "libritts": 3, "vctk": 3, "kaldi_with_absolute_paths": 3}
# The option that a data set cannot do without, as the help line must name it.
NEEDED = {"kaldi_with_absolute_paths": "--audio-root"}


@dataclass
class Program:
    """The program under test, run in `folder`."""

    path: Path
    folder: Path

    def run(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        command = [str(self.path), *arguments]
        return subprocess.run(command, capture_output=True, text=True, timeout=120, check=False, cwd=self.folder)

    def json(self, *arguments: str) -> dict[str, Any]:
        done = self.run(*arguments, "--json")
        expect(done.returncode == 0, f"{' '.join(arguments)}\nexit {done.returncode}\n{done.stderr}")
        result: dict[str, Any] = json.loads(done.stdout)
        return result


def named_option(program: Program, name: str, data: str) -> list[str]:
    """What the help line of `data check` says to add; nothing where the data set is good as it is."""
    done = program.run("data", "check", data)
    if name not in NEEDED:
        expect(done.returncode == 0, f"{name}\n{done.stderr}\n{done.stdout}")
        return []
    expect(done.returncode == 3, f"{name}: exit {done.returncode}")
    found = re.search(rf"({NEEDED[name]}) (\S+)\s*$", done.stderr)
    if found is None:
        raise AssertionError(f"{name}: no {NEEDED[name]} in {done.stderr}")
    return [found[1], found[2]]


def streamed_ids(report: dict[str, Any]) -> set[str]:
    """Rows that fill up a batch have no id."""
    return {row for batch in report["batches"] for row in batch["rows"]} - {""}


def from_check_to_stream(program: Program, name: str, data: str) -> None:
    options = named_option(program, name, data)
    num_clips = len(CLIPS)
    checked = program.json("data", "check", data, *options)
    expect(checked["accepted"] == num_clips, f"{name}: {checked}")
    told = program.json("data", "info", data, *options)
    expect(told["accepted"] == num_clips, f"{name}: data info")
    expect(len(told["speakers"]) == SPEAKERS.get(name, 1), f"{name}: speakers {told['speakers']}")
    streamed = program.json("stream", data, "--set", "data.batch_size=4", "--list-ids", *options)
    ids = streamed_ids(streamed)
    expect(streamed["accepted"] == num_clips and len(ids) == num_clips, f"{name}: {len(ids)} clips streamed")
    if name in PARTS:
        part = program.json("data", "info", data, "--split", "train", *options)
        expect(part["accepted"] == PARTS[name], f"{name}: {part['accepted']} rows in train")


def commands_take_the_data_set_alike(program: Program, table: Path) -> None:
    """A table whose columns have names of their own, its sound elsewhere, and both said in the same words each time."""
    folder = program.folder / "unusual"
    folder.mkdir()
    rows = (table / "rows.csv").read_text().splitlines()
    renamed = ["recording,bytes,words", *(row.removeprefix("sounds/") for row in rows[1:])]
    (folder / "rows.csv").write_text("\n".join(renamed) + "\n")
    refused = program.run("data", "check", "unusual")
    expect("--columns audio=NAME,text=NAME" in refused.stderr, refused.stderr)
    # Relative to where the command is run, not to the metadata.
    sounds = os.path.relpath(table / "sounds", program.folder)
    named = ["unusual", "--columns", "audio=recording,text=words", "--audio-root", sounds, "--language", "en"]
    count = len(CLIPS)
    expect(program.json("data", "check", *named)["accepted"] == count, "data check")
    expect(program.json("data", "info", *named)["accepted"] == count, "data info")
    expect(program.json("precompute", *named)["accepted"] == count, "precompute")
    expect(program.json("verify", *named)["accepted"] == count, "verify")
    expect(len(program.json("cache", "explain", "0003", *named)["entries"]) > 0, "cache explain")
    expect(program.json("cache", "info", *named)["cache"].startswith(str(folder.resolve())), "cache info")
    expect(program.json("stream", *named)["accepted"] == count, "stream")
    program.json("cache", "gc", *named)


def splits_txt_is_used(program: Program, data: Path) -> None:
    program.json("data", "split", str(data), "--out", str(data / "splits.txt"))
    lines = (data / "splits.txt").read_text().splitlines()
    ids = [line.split("|")[0] for line in lines]
    (data / "splits.txt").write_text("".join(f"{key}|{'eval' if i < 3 else 'train'}\n" for i, key in enumerate(ids)))
    streamed = program.json("stream", str(data), "--split", "eval", "--list-ids")
    rows = streamed_ids(streamed)
    expect(rows == set(ids[:3]), f"eval of splits.txt: {rows}")
    expect(program.json("data", "info", str(data), "--split", "train")["accepted"] == len(ids) - 3, "train")


def sounds_are_left_alone(program: Program, data: Path) -> None:
    """A sound file or a folder of sounds is no data set: that is said, and nothing is written there."""
    sounds = data / "wavs"
    before = sorted(sounds.rglob("*"))
    one = program.run("data", "check", str(before[0]))
    expect(one.returncode == 3 and "found a WAV file" in one.stderr and "help:" in one.stderr, one.stderr)
    folder = program.run("data", "check", str(sounds))
    expect(folder.returncode == 3 and "name the folder above" in folder.stderr, folder.stderr)
    with (data / "metadata.csv").open("a", encoding="utf-8") as file:
        file.write("nowhere|A row without its sound.\n")
    expect(program.json("data", "check", str(data))["rejected"] == 1, "one reject")
    expect(sorted(sounds.rglob("*")) == before, "the folder of sounds holds something new")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("program", type=Path)
    path: Path = parser.parse_args().program
    with tempfile.TemporaryDirectory() as scratch:
        program = Program(path.resolve(), Path(scratch))
        folders = make_layouts(program.folder)
        for name, folder in folders.items():
            from_check_to_stream(program, name, folder.name)
        commands_take_the_data_set_alike(program, folders["table_with_commas"])
        splits_txt_is_used(program, folders["hugging_face"])
        sounds_are_left_alone(program, folders["ljspeech"])
    print(f"{len(folders)} layouts, {len(NEEDED)} with the option that the message named")


if __name__ == "__main__":
    main()
