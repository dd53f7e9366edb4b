"""The Python examples: the torch one runs and learns, all have strict types and stay short, none is forgotten.

    python_examples_test.py BUILD

make examples runs the others, each in an environment of its own.
"""

from __future__ import annotations

import importlib.util
import os
import re
import subprocess
import sys
import tempfile
import textwrap
import unittest
from pathlib import Path
from unittest import mock

ROOT = Path(__file__).resolve().parents[2]
BUILD = Path(sys.argv.pop(1)).resolve() if len(sys.argv) > 1 else ROOT / "build"
sys.path.insert(0, str(ROOT / "tools"))
import run_examples  # noqa: E402

FOLDER = ROOT / "examples" / "python"
MOST_LINES = 40
# Imported by the others.
PARTS = {"small_data.py", "lightning_datamodule.py"}
LOSSES = re.compile(r"torch: loss ([\d.]+) at step 7 on \S+; loss ([\d.]+) at step 40 on \S+, resumed")


def has(module: str) -> bool:
    return importlib.util.find_spec(module) is not None


class PythonExamplesTest(unittest.TestCase):
    @unittest.skipUnless(has("torch"), "torch is not installed")
    def test_the_torch_loop_runs_resumes_and_learns(self) -> None:
        last = run_examples.run(run_examples.EXAMPLES_TO_RUN["torch"], Path(sys.executable), BUILD)
        match = LOSSES.fullmatch(last)
        assert match is not None, last
        self.assertLess(float(match[2]), float(match[1]))

    @unittest.skipUnless(has("mypy"), "mypy is not installed")
    def test_the_types_are_strict(self) -> None:
        scripts = sorted(map(str, FOLDER.glob("*.py")))
        done = subprocess.run(
            [sys.executable, "-m", "mypy", "--strict", "--follow-imports=silent", *scripts],
            cwd=ROOT,
            env=dict(os.environ, MYPYPATH=str(BUILD / "python"), MYPY_CACHE_DIR=str(BUILD / "mypy-examples")),
            check=False,
            capture_output=True,
            text=True,
        )
        self.assertEqual(done.returncode, 0, done.stdout)

    def test_each_is_short_and_run(self) -> None:
        run = {Path(example.script).name for example in run_examples.EXAMPLES_TO_RUN.values()}
        for path in [*FOLDER.glob("*.py"), *FOLDER.glob("*.ipynb")]:
            self.assertIn(path.name, run | PARTS)
            if path.suffix == ".py":
                self.assertLessEqual(path.read_text(encoding="utf-8").count("\n"), MOST_LINES, path.name)

    def test_every_environment_is_pinned(self) -> None:
        for example in run_examples.EXAMPLES_TO_RUN.values():
            for pin in run_examples.pins(example.environment):
                self.assertRegex(pin, r"^[\w-]+==[\d.]+$")

    def test_a_framework_that_cannot_be_had_is_named_with_the_reason(self) -> None:
        offline = {"PIP_NO_INDEX": "1", "PIP_CONFIG_FILE": os.devnull, "PIP_FIND_LINKS": ""}
        pins = mock.patch.object(run_examples, "pins", lambda name: ["framework-of-nobody==1.0"])
        with tempfile.TemporaryDirectory() as folder, mock.patch.dict(os.environ, offline), pins:
            with self.assertRaisesRegex(run_examples.CannotRun, "cannot be had: ERROR: No matching distribution"):
                run_examples.make_environment("torch", Path(folder), sys.executable)
            self.assertFalse(Path(folder, "torch", "pins.txt").exists())

    def test_an_example_with_another_last_line_fails(self) -> None:
        wrong = run_examples.Example("examples/python/small_data.py", "torch", "torch: ")
        with self.assertRaisesRegex(run_examples.CannotRun, "expected a last line"):
            run_examples.run(wrong, Path(sys.executable), BUILD)


class FrameworkHabitsTest(unittest.TestCase):
    """What frameworks do to a loader, in a process of its own."""

    def run_with_feed(self, code: str) -> None:
        with tempfile.TemporaryDirectory() as folder:
            make = [str(BUILD / "stoker"), "data", "make", "--out", f"{folder}/voice", "--clips", "12"]
            subprocess.run(make, check=True, capture_output=True)
            done = subprocess.run(
                [sys.executable, "-c", textwrap.dedent(code)],
                cwd=folder,
                env=dict(os.environ, PYTHONPATH=str(BUILD / "python")),
                check=False,
                capture_output=True,
                text=True,
            )
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_two_calls_of_iter_after_a_resume_skip_nothing(self) -> None:
        self.run_with_feed("""
            import stoker
            feed = stoker.Feed("voice", batch_size=2, device="cpu")
            place = iter(feed)
            last = [next(place).index for _ in range(2)][-1]
            again = stoker.Feed("voice", batch_size=2, device="cpu")
            again.load_state_dict(feed.state_dict())
            iter(again)
            batch = next(iter(again))
            assert (batch.epoch, batch.index) == (0, last + 1), batch
            assert next(iter(again)).epoch == 1  # a loop that gave batches and was left is over
        """)

    def test_a_numbered_processor_is_the_processor(self) -> None:
        self.run_with_feed("""
            import types, stoker
            class NumberedCpu(types.SimpleNamespace):
                def __str__(self):
                    return "cpu:0"
            assert next(iter(stoker.Feed("voice", device=NumberedCpu(type="cpu", index=0)))).device == "cpu"
        """)


if __name__ == "__main__":
    unittest.main()
