#!/usr/bin/env python3
"""Makes a folder with every bad row (A) and every bad file (B) of docs/reference/bad-input.md, and what must be said.

    make_bad_dataset.py OUT

writes OUT/all (the folder with everything), OUT/eight and OUT/nine (8 and 9 bad rows among 40: within the bound and
past it), OUT/whole/* (files that are an error as a whole) and OUT/expected.json.
"""

import argparse
import json
import os
import socket
from dataclasses import asdict, dataclass, field
from pathlib import Path

from wav_forms import bad_wavs, good, odd_wavs

TEXT = b"some words to say"


@dataclass
class Expected:
    """What `stoker data check` must say about one row."""

    name: str
    line: int
    code: str
    at: int | None = None
    file: str = ""  # a part of the path; empty = the metadata file


@dataclass
class DataSet:
    """A folder under construction; lines are counted as they are added."""

    folder: Path
    content: bytes = b""
    num_lines: int = 0
    num_good: int = 0
    rejects: list[Expected] = field(default_factory=list)
    warnings: list[Expected] = field(default_factory=list)

    def add_line(self, line: bytes) -> int:
        """Appends a line and returns its offset in the file."""
        at = len(self.content)
        self.content += line
        self.num_lines += 1
        return at

    def add_good(self) -> str:
        """A row with nothing wrong."""
        name = f"good_{self.num_good:03}"
        self.num_good += 1
        self.put_wav(f"{name}.wav", good(self.num_good))
        self.add_line(name.encode() + b"|Raw|" + TEXT + b"\n")
        return name

    def put_wav(self, name: str, content: bytes) -> None:
        """A file of the data set."""
        path = self.folder / "wavs" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)

    def add_bad(self, name: str, line: bytes, code: str, shift: int | None = 0) -> None:
        """A row that is wrong `shift` bytes into its line."""
        at = self.add_line(line)
        self.rejects.append(Expected(name, self.num_lines, code, None if shift is None else at + shift))

    def add_bad_file(self, name: str, code: str, at: int | None) -> None:
        """A right row whose file is wrong."""
        self.add_line(name.encode() + b"|Raw|" + TEXT + b"\n")
        self.rejects.append(Expected(name, self.num_lines, code, at, f"wavs/{name}.wav"))

    def save(self) -> dict[str, object]:
        """Writes the metadata; what is expected of it."""
        self.folder.mkdir(parents=True, exist_ok=True)
        (self.folder / "metadata.csv").write_bytes(self.content)
        return {
            "folder": self.folder.name,
            "rejects": [asdict(e) for e in self.rejects],
            "warnings": [asdict(e) for e in self.warnings],
        }


def add_bad_rows(data: DataSet) -> None:
    """Rows A4 to A18 that the grammar refuses."""
    first = data.add_good()
    first_line = data.num_lines
    add = data.add_bad
    add("a04_four_fields", b"a04|x|y|z\n", "E-META-FIELDS")
    add("a04_five_fields", b"a04|x|y|z|z\n", "E-META-FIELDS")
    add("a05_one_field", b"a05\n", "E-META-FIELDS")
    data.add_line(b"good_two|" + TEXT + b"\n")
    data.put_wav("good_two.wav", good(201))
    data.add_line(b'good_quote|He said "no|he said "no\n')
    data.put_wav("good_quote.wav", good(202))
    add("a07_same_text", first.encode() + b"|Raw|" + TEXT + b"\n", "E-META-DUP")
    data.put_wav("a08.wav", good(203))
    add("a08_first", b"a08|Raw|one text\n", "E-META-DUPTEXT", None)
    add("a08_second", b"a08|Raw|another text\n", "E-META-DUPTEXT")
    add("a11_empty_id", b"|x|y\n", "E-META-ID")
    add("a11_blank_id", b"   |x|y\n", "E-META-ID")
    add("a11_nul", b"a11\0|x|y\n", "E-META-ID", 3)
    add("a11_escape", b"a11\x1b[31m|x|y\n", "E-META-ID", 3)
    add("a12_parent", b"../../etc/passwd|x|y\n", "E-META-PATH")
    add("a12_absolute", b"/etc/passwd|x|y\n", "E-META-PATH")
    add("a12_backslash", b"..\\x|x|y\n", "E-META-PATH")
    add("a12_inside", b"a/../../b|x|y\n", "E-META-PATH")
    add("a15_ff", b"a15|x|y\xffz\n", "E-META-UTF8", 7)
    add("a15_overlong", b"a15|x|\xc0\xaf\n", "E-META-UTF8", 6)
    add("a15_surrogate", b"a15|x|\xed\xa0\x80\n", "E-META-UTF8", 6)
    add("a15_replacement", b"a15|x|y\xef\xbf\xbd\n", "E-META-UTF8", 7)
    add("a17_empty", b"a17|x|\n", "E-META-NOTEXT", 6)
    add("a17_marks", b"a17|x|...!?\n", "E-META-NOTEXT", 6)
    add("a18_long_line", b"a18|" + b"x" * 3_000_000 + b"\n", "E-META-LINE")
    add("lone_return", b"cr|x\ry|z\n", "E-META-CR", 4)
    assert first_line == 1


def add_bad_places(data: DataSet, outside: Path) -> None:
    """Rows A9 to A14, A20: what is there instead of a file."""
    wavs = data.folder / "wavs"
    data.add_bad_file("a10_missing", "E-META-NOFILE", None)
    os.symlink(outside, wavs / "a13_leaves.wav")
    data.add_bad_file("a13_leaves", "E-META-LINK", None)
    os.symlink("a13_loop.wav", wavs / "a13_loop.wav")
    data.add_bad_file("a13_loop", "E-META-LINK", None)
    os.mkfifo(wavs / "a14_fifo.wav")
    data.add_bad_file("a14_fifo", "E-IO-KIND", None)
    (wavs / "a14_folder.wav").mkdir()
    data.add_bad_file("a14_folder", "E-IO-KIND", None)
    with socket.socket(socket.AF_UNIX) as server:
        here = os.getcwd()
        os.chdir(wavs)  # a socket's path may have at most 107 bytes
        server.bind("a14_socket.wav")
        os.chdir(here)
    data.add_bad_file("a14_socket", "E-IO-KIND", None)
    data.put_wav("cafe\u0301.wav", good(204))
    data.add_line("caf\u00e9".encode() + b"|Raw|" + TEXT + b"\n")
    data.rejects.append(Expected("a20_nfc", data.num_lines, "E-META-NOFILE", None, "caf"))
    data.put_wav("a09_twin.wav", good(205))
    os.link(wavs / "a09_twin.wav", wavs / "a09_other.wav")
    for name in ("a09_twin", "a09_other"):
        data.add_line(name.encode() + b"|Raw|" + TEXT + b"\n")
    data.warnings.append(Expected("a09_other", data.num_lines, "E-META-SAMEFILE"))
    data.put_wav("a21_unknown.wav", good(208))
    data.add_line("a21_unknown|Raw|the sign \u6f22 has no letter\n".encode())
    data.warnings.append(Expected("a21_unknown", data.num_lines, "E-TEXT-UNKNOWN"))
    data.put_wav("b18_pace.wav", good(206))
    data.add_line(b"b18_pace|Raw|" + b"yes " * 200 + b"\n")
    data.warnings.append(Expected("b18_pace", data.num_lines, "E-DATA-PACE"))


def add_huge_files(data: DataSet) -> None:
    """Rows B22 and B23: sparse files that a 32-bit size cannot describe."""
    for name, size in (("b22_4gib", (1 << 32) + 44), ("b23_1tb", 1 << 40)):
        data.put_wav(f"{name}.wav", good(207))
        try:
            os.truncate(data.folder / "wavs" / f"{name}.wav", size)
        except OSError:
            (data.folder / "wavs" / f"{name}.wav").unlink()  # a file system without sparse files
            continue
        data.add_bad_file(name, "E-WAV-TOOBIG", 0)


def make_all(out: Path) -> dict[str, object]:
    """The folder with everything that can be in one."""
    outside = out / "outside.wav"
    outside.write_bytes(good(299))
    data = DataSet(out / "all")
    (data.folder / "wavs").mkdir(parents=True)
    add_bad_rows(data)
    for wav in bad_wavs():
        data.put_wav(f"{wav.name}.wav", wav.content)
        data.add_bad_file(wav.name, wav.code, wav.at)
    add_bad_places(data, outside)
    add_huge_files(data)
    for wav in odd_wavs():
        data.put_wav(f"{wav.name}.wav", wav.content)
        data.add_line(wav.name.encode() + b"|Raw|" + TEXT + b"\n")
        data.warnings.append(Expected(wav.name, data.num_lines, wav.code))
    for _ in range(12):
        data.add_good()
    return data.save()


def make_bounded(out: Path, name: str, num_bad: int) -> dict[str, object]:
    """`num_bad` bad rows among 40."""
    data = DataSet(out / name)
    for index in range(40):
        if index < num_bad:
            data.add_bad(f"bad_{index}", b"only_an_id\n", "E-META-FIELDS")
        else:
            data.add_good()
    return data.save()


def make_whole(out: Path) -> list[dict[str, object]]:
    """Metadata files that are an error as a whole: rows A3 and A19."""
    cases = {
        "a03_old_mac": (b"a|x|y\rb|x|y\r", "E-META-CR"),
        "a19_empty": (b"", "E-DATA-NOROWS"),
        "a19_header_only": (b"id|text|normalised\n", "E-DATA-NOROWS"),
    }
    for name, (content, _) in cases.items():
        folder = out / "whole" / name
        (folder / "wavs").mkdir(parents=True)
        (folder / "metadata.csv").write_bytes(content)
    return [{"folder": f"whole/{name}", "code": code, "exit": 3} for name, (_, code) in cases.items()]


def main() -> None:
    """Makes everything beneath OUT, which must not exist."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out", type=Path)
    out = parser.parse_args().out.resolve()
    out.mkdir(parents=True)
    expected = {
        "all": make_all(out),
        "eight": make_bounded(out, "eight", 8),
        "nine": make_bounded(out, "nine", 9),
        "whole": make_whole(out),
    }
    (out / "expected.json").write_text(json.dumps(expected, indent=1), encoding="utf-8")
    print(f"{sum(1 for _ in (out / 'all' / 'wavs').iterdir())} files in {out / 'all'}")


if __name__ == "__main__":
    main()
