"""How benchmarks begin and end: each starts by the words that its page gives, and a program that gives no result is
one line with what to do, never a traceback."""

import contextlib
import io
import os
import re
import shlex
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path
from unittest import mock

from bench.program import EXIT_NOT_RUN, RunFailed, completed, ended, last_words, run_stoker
from bench.train.table import Cell

ROOT = Path(__file__).resolve().parents[2]
BENCH = ROOT / "bench"
# Of packages that only their own environments have.
FOREIGN = re.compile(r"No module named '(?!bench|tests|tools)")


class ProgramTest(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def program(self, shell: str) -> Path:
        path = self.folder / "stoker"
        path.write_text(f"#!/bin/sh\n{shell}\n", encoding="utf-8")
        path.chmod(0o755)
        return path

    def refusal(self, program: Path, *words: str, limit_s: float = 20) -> str:
        with self.assertRaises(RunFailed) as caught:
            run_stoker(program, *words, limit_s=limit_s, tells=False)
        said = str(caught.exception)
        self.assertEqual(len(said.splitlines()), 1, said)
        return said

    def test_the_report_is_what_stands_on_stdout(self) -> None:
        program = self.program("""echo "talk $1" >&2; echo '{"clips": 3}'; exit 1""")
        self.assertEqual(run_stoker(program, "stream", statuses=(0, 1), tells=False), {"clips": 3})
        self.assertRegex(self.refusal(program, "stream"), "ended with 1: talk stream$")

    def test_an_error_is_told_with_its_help(self) -> None:
        program = self.program("echo building >&2; echo 'error[E-X] a: b' >&2; echo 'help: do c' >&2; exit 3")
        self.assertTrue(self.refusal(program).endswith("ended with 3: error[E-X] a: b help: do c"))
        self.assertEqual(last_words(""), "it said nothing")

    def test_a_missing_program_is_named_with_the_cure(self) -> None:
        self.assertRegex(self.refusal(self.folder / "none"), "there is no program .*none: build it with `make`")
        plain = self.folder / "plain"
        plain.write_text("not a program", encoding="utf-8")
        self.assertRegex(self.refusal(plain), "plain cannot be run: Permission denied")

    def test_a_program_of_the_path_is_found_there(self) -> None:
        self.program("""echo '{"clips": 3}'""")
        with mock.patch.dict(os.environ, {"PATH": f"{self.folder}:{os.environ['PATH']}"}):
            self.assertEqual(run_stoker("stoker", "stream", tells=False), {"clips": 3})

    def test_one_that_does_not_end_is_ended(self) -> None:
        begun = time.monotonic()
        self.assertRegex(self.refusal(self.program("exec sleep 60"), limit_s=0.3), "did not end within 0.3 s")
        self.assertLess(time.monotonic() - begun, 30)

    def test_the_status_of_what_could_not_be_run(self) -> None:
        def fails() -> int:
            raise RunFailed("no program")

        said = io.StringIO()
        with contextlib.redirect_stderr(said):
            self.assertEqual(ended(fails), EXIT_NOT_RUN)
        self.assertEqual(said.getvalue(), "error: no program\n")
        self.assertEqual(ended(lambda: 1), 1)


class StartTest(unittest.TestCase):
    def said(self, words: list[str]) -> str:
        """What it prints of its options; nothing where a framework is missing."""
        environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
        done = subprocess.run(words, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
        if FOREIGN.search(done.stderr):
            return ""
        self.assertEqual(done.returncode, 0, f"{shlex.join(words)}\n{done.stderr}")
        return done.stdout

    def test_each_starts_as_its_page_says(self) -> None:
        num_started = 0
        for script in sorted(BENCH.rglob("*.py")):
            text = script.read_text(encoding="utf-8")
            if "argparse.ArgumentParser(description=__doc__" not in text:
                continue
            place = script.relative_to(ROOT)
            by_path = re.search(rf"^ +(?:python3 )?{place} ", text, re.MULTILINE)
            module = ["-m", ".".join(place.with_suffix("").parts)]
            said = self.said([sys.executable, *([str(place)] if by_path else module), "--help"])
            num_started += int("--help" in said)
        self.assertGreater(num_started, 15)

    def test_one_without_a_program_is_one_line(self) -> None:
        words = [sys.executable, "-m", "bench.train.table", "--stoker", "/nowhere/stoker", "--cell", "small:8"]
        done = completed(words, 60)
        self.assertEqual(done.returncode, EXIT_NOT_RUN)
        self.assertEqual(len(done.stderr.splitlines()), 1, done.stderr)

    def test_cells_of_the_table(self) -> None:
        self.assertEqual(Cell.of("small:32"), Cell("small", 32, None))
        self.assertEqual(Cell.of("normal@300"), Cell("normal", None, 300))
        for wrong in ("", "smal", "small:", "small:0", "small:x", "small@", "small:8@x"):
            words = [sys.executable, "-m", "bench.train.table", "--cell", wrong]
            done = completed(words, 60)
            self.assertEqual(done.returncode, 2, wrong)
            self.assertIn("is no SIZE[:ROWS][@SECONDS]", done.stderr)
            self.assertNotIn("Traceback", done.stderr)


if __name__ == "__main__":
    unittest.main()
