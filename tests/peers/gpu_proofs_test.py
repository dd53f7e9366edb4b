"""The driver of the proofs on a GPU, with commands that need none: limits, budget, and what it keeps."""

import json
import shlex
import sys
import tempfile
import unittest
from pathlib import Path

from bench import gpu_proofs
from bench.gpu_proofs import Asked, Step

PRINTS_JSON = """import sys; print('{"ok": true}'); print("talk", file=sys.stderr)"""
SLEEPS = "import subprocess, sys; subprocess.run([sys.executable, '-c', 'import time; time.sleep(60)'])"


def python(code: str, more: str = "") -> str:
    return f"{{python}} -c {shlex.quote(code)} {more}".strip()


class GpuProofsTest(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.out = Path(folder.name)

    def run_steps(self, *steps: Step, budget_s: float = 60) -> list[str]:
        rows = gpu_proofs.run_all(Asked(Path("build"), self.out, budget_s), list(steps))
        self.assertEqual(len(rows), len(steps))
        return [str(row["state"]) for row in rows]

    def test_states_are_those_of_the_commands_and_the_next_one_still_runs(self) -> None:
        wrong = Step("wrong", "x", 10, python("raise SystemExit(3)"))
        missing = Step("missing", "x", 10, "/nowhere/program")
        right = Step("right", "x", 10, python("print(1)"))
        self.assertEqual(self.run_steps(wrong, missing, right), ["failed", "failed", "passed"])

    def test_one_that_outlasts_its_limit_is_ended_with_its_children(self) -> None:
        states = self.run_steps(Step("long", "x", 1, python(SLEEPS)), Step("next", "x", 5, python("print(2)")))
        self.assertEqual(states, ["ended", "passed"])

    def test_what_does_not_fit_is_left_out_and_said(self) -> None:
        self.assertEqual(self.run_steps(Step("huge", "x", 500, python("print(1)")), budget_s=100), ["left out"])
        kept = json.loads((self.out / "summary.json").read_text(encoding="utf-8"))
        self.assertIn("its limit is 500", kept["steps"][0]["tail"][0])

    def test_steps_that_bear_company_meet_and_the_others_are_alone(self) -> None:
        meets = f"""
import pathlib, sys, time
here = pathlib.Path({str(self.out)!r}) / "here"
here.mkdir(exist_ok=True)
(here / sys.argv[1]).touch()
until = time.monotonic() + 10
while len(list(here.iterdir())) < 2 and time.monotonic() < until: time.sleep(0.01)
sys.exit(len(list(here.iterdir())) != 2)"""
        alone = f"""
import pathlib, sys, time
here = pathlib.Path({str(self.out)!r}) / "alone"
here.mkdir()
time.sleep(0.2)
here.rmdir()
sys.exit(not (here.parent / "here").exists())"""
        steps = [
            Step("first alone", "x", 20, python(alone)),
            Step("one", "x", 20, python(meets, "one"), bears_company=True),
            Step("second alone", "x", 20, python(alone)),
            Step("two", "x", 20, python(meets, "two"), bears_company=True),
        ]
        self.assertEqual(self.run_steps(*steps), ["passed"] * 4)
        kept = json.loads((self.out / "summary.json").read_text(encoding="utf-8"))
        self.assertEqual([row["name"] for row in kept["steps"]][2:], ["first alone", "second alone"])

    def test_json_is_kept_apart_from_talk(self) -> None:
        self.assertEqual(self.run_steps(Step("said", "x", 10, python(PRINTS_JSON, "--json"))), ["passed"])
        self.assertEqual(json.loads((self.out / "said.json").read_text(encoding="utf-8")), {"ok": True})
        self.assertEqual((self.out / "said.log").read_text(encoding="utf-8").strip(), "talk")

    def test_every_step_names_programs_and_modules_that_are_here(self) -> None:
        root = Path(__file__).resolve().parent.parent.parent
        for step in gpu_proofs.STEPS:
            words = Asked(Path("build"), self.out, 1).command(step)
            self.assertTrue(words[0] in (sys.executable, "compute-sanitizer") or words[0].startswith("build/"), words)
            if words[0] == sys.executable:
                module = words[2].replace(".", "/") + ".py" if words[1] == "-m" else words[1]
                self.assertTrue((root / module).exists(), module)


if __name__ == "__main__":
    unittest.main()
