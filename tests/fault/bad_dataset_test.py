#!/usr/bin/env python3
"""Runs `stoker data check` on a folder with every bad row and file, and compares code and place of every reject.

    bad_dataset_test.py PROGRAM

Prints beside our silent acceptances (which must be 0) those of libsndfile and of Python's csv module and, where
installed, pandas.
"""

import csv
import ctypes
import ctypes.util
import importlib
import io
import json
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

Json = dict[str, Any]
HERE = Path(__file__).resolve().parent


class Checker:
    """Collects what is not as it should be."""

    def __init__(self, program: str, out: Path) -> None:
        self.program = program
        self.out = out
        self.faults: list[str] = []

    def expect(self, holds: bool, message: str) -> None:
        """Notes `message` unless it holds."""
        if not holds:
            self.faults.append(message)

    def check(self, folder: str, *options: str) -> tuple[int, Json, list[Json]]:
        """Exit code, JSON and rejects of one run."""
        rejects_file = self.out / "rejects.jsonl"
        rejects_file.unlink(missing_ok=True)
        command = [self.program, "data", "check", str(self.out / folder), "--json", "--rejects", str(rejects_file)]
        done = subprocess.run([*command, *options], capture_output=True, timeout=60, check=False)
        report: Json = json.loads(done.stdout)
        lines = rejects_file.read_text(encoding="utf-8").splitlines() if rejects_file.exists() else []
        self.expect(
            report.get("rows", 0) == sum(report.get(k, 0) for k in ("accepted", "filtered", "rejected")),
            f"{folder}: rows do not add up",
        )
        return done.returncode, report, [json.loads(line) for line in lines]

    def compare_rejects(self, expected: list[Json], rejects: list[Json]) -> None:
        """Every expected reject has its code and place, and there is no other."""
        found = {reject["line"]: reject for reject in rejects}
        self.expect(len(rejects) == len(expected), f"{len(rejects)} rejects, {len(expected)} expected")
        for want in expected:
            got = found.pop(want["line"], None)
            if got is None:
                self.faults.append(f"{want['name']}: accepted silently")
                continue
            self.expect(got["code"] == want["code"], f"{want['name']}: {got['code']}, not {want['code']}")
            self.expect(
                want["at"] is None or got["at"] == want["at"], f"{want['name']}: at {got['at']}, not {want['at']}"
            )
            place = want["file"] or "metadata.csv"
            self.expect(place in got["file"], f"{want['name']}: {got['file']} does not name {place}")
            self.expect(bool(got["found"]), f"{want['name']}: does not say what was found")
        self.faults.extend(f"line {line}: rejected with {got['code']}" for line, got in found.items())


def run_all(checker: Checker, expected: Json) -> None:
    """The big folder past the bound and within it, the two at the bound, the files wrong as a whole."""
    code, report, rejects = checker.check("all")
    checker.expect(code == 3, f"all: exit {code}, not 3")
    checker.expect(report["error"]["code"] == "E-DATA-REJECTS", "all: not E-DATA-REJECTS")
    checker.compare_rejects(expected["all"]["rejects"], rejects)
    code, report, rejects = checker.check("all", "--max-bad-fraction", "1.0")
    checker.expect(code == 0, f"all with a wide bound: exit {code}, not 0")
    checker.compare_rejects(expected["all"]["rejects"], rejects)
    wanted = {warning["code"] for warning in expected["all"]["warnings"]}
    checker.expect(wanted <= set(report["oddities"]), f"oddities missing: {wanted - set(report['oddities'])}")
    checker.expect(checker.check("eight")[0] == 0, "8 bad rows of 40 are within the bound")
    checker.expect(checker.check("nine")[0] == 3, "9 bad rows of 40 are past the bound")
    checker.expect(checker.check("eight", "--bad-inputs", "fail")[0] == 3, "bad_inputs: fail allows none")
    for whole in expected["whole"]:
        code, report, _ = checker.check(whole["folder"])
        checker.expect(code == whole["exit"], f"{whole['folder']}: exit {code}")
        checker.expect(report["error"]["code"] == whole["code"], f"{whole['folder']}: {report['error']['code']}")


def check_nothing_outside(checker: Checker) -> None:
    """No system call opens the canary or /etc/passwd; needs strace."""
    strace = shutil.which("strace")
    if strace is None:
        print("strace is not installed: opens outside the root were not traced")
        return
    command = [
        strace,
        "-f",
        "-e",
        "trace=open,openat,openat2",
        checker.program,
        "data",
        "check",
        str(checker.out / "all"),
    ]
    done = subprocess.run(command, capture_output=True, timeout=120, check=False)
    opened = [line for line in done.stderr.decode(errors="replace").splitlines() if " = -1 " not in line]
    for canary in ("outside.wav", "etc/passwd"):
        checker.expect(not any(canary in line and "open" in line for line in opened), f"{canary} was opened")


class SndfileInfo(ctypes.Structure):
    """SF_INFO."""

    _fields_ = [("frames", ctypes.c_int64)] + [
        (n, ctypes.c_int) for n in ("rate", "channels", "format", "sections", "seekable")
    ]


def count_sndfile(folder: Path, names: list[str]) -> int | None:
    """How many of these files libsndfile opens and reads without a word; None where it is not installed."""
    path = ctypes.util.find_library("sndfile")
    if path is None:
        return None
    library = ctypes.CDLL(path)
    library.sf_open.restype = ctypes.c_void_p
    library.sf_readf_float.restype = ctypes.c_int64
    num_accepted = 0
    for name in names:
        info = SndfileInfo()
        handle = library.sf_open(str(folder / f"{name}.wav").encode(), 0x10, ctypes.byref(info))
        if not handle:
            continue
        samples = (ctypes.c_float * max(1, min(info.frames, 1 << 22) * info.channels))()
        got = library.sf_readf_float(ctypes.c_void_p(handle), samples, ctypes.c_int64(min(info.frames, 1 << 22)))
        num_accepted += got == min(info.frames, 1 << 22) and library.sf_error(ctypes.c_void_p(handle)) == 0
        library.sf_close(ctypes.c_void_p(handle))
    return num_accepted


def count_csv(lines: list[bytes]) -> int:
    """How many bad rows the csv module turns into a row of at least two fields without an error."""
    csv.field_size_limit(1 << 30)
    num_accepted = 0
    for line in lines:
        try:
            rows = list(csv.reader(io.StringIO(line.decode("utf-8", errors="strict"), newline=""), delimiter="|"))
        except (csv.Error, UnicodeDecodeError):
            continue
        num_accepted += any(len(row) >= 2 for row in rows)
    return num_accepted


def count_pandas(lines: list[bytes]) -> int | None:
    """The same for pandas.read_csv; None where it is not installed."""
    try:
        pandas = importlib.import_module("pandas")
    except ImportError:
        return None
    num_accepted = 0
    for line in lines:
        try:
            num_accepted += len(pandas.read_csv(io.BytesIO(line), sep="|", header=None)) > 0
        except Exception:  # any refusal counts as one
            continue
    return num_accepted


def print_table(checker: Checker, expected: Json) -> None:
    """Silent acceptances of others beside ours."""
    folder = checker.out / "all"
    rejects = expected["all"]["rejects"]
    files = [want["name"] for want in rejects if want["name"].startswith("b")]
    content = (folder / "metadata.csv").read_bytes().split(b"\n")
    lines = [content[want["line"] - 1] + b"\n" for want in rejects if not want["file"]]
    silent = sum("accepted silently" in fault for fault in checker.faults)
    pandas = count_pandas(lines)
    sndfile = count_sndfile(folder / "wavs", files)
    print(f"bad files: {len(files)}, bad rows: {len(lines)}; accepted silently:")
    print(f"  stoker      {silent} of {len(rejects)}")
    print(f"  libsndfile  {'not installed' if sndfile is None else f'{sndfile} of {len(files)} files'}")
    print(f"  Python csv  {count_csv(lines)} of {len(lines)} rows")
    print(f"  pandas      {'not installed: skipped' if pandas is None else f'{pandas} of {len(lines)} rows'}")


def main() -> int:
    """0 when everything is as expected."""
    with tempfile.TemporaryDirectory(prefix="stoker_bad_") as scratch:
        out = Path(scratch) / "sets"
        subprocess.run([sys.executable, str(HERE / "make_bad_dataset.py"), str(out)], check=True)
        expected: Json = json.loads((out / "expected.json").read_text(encoding="utf-8"))
        checker = Checker(sys.argv[1], out)
        run_all(checker, expected)
        check_nothing_outside(checker)
        print_table(checker, expected)
    for fault in checker.faults:
        print(f"FAULT {fault}")
    return 1 if checker.faults else 0


if __name__ == "__main__":
    sys.exit(main())
