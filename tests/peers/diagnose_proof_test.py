"""The proof of the diagnosis without running it: what is drawn, what counts as right, and the page of its record."""

import argparse
import random
import re
import tempfile
import unittest
from pathlib import Path
from typing import Any
from unittest import mock

from bench.diagnose import gpu_plants, inject, plants, scene
from tools.pages import planted_causes

ROOT = Path(__file__).resolve().parent.parent.parent
KNOWN = set(re.findall(r'"([a-z_]+)"', (ROOT / "src/stoker/observe/diagnose/causes.cc").read_text(encoding="utf-8")))


class FakeScene(scene.Scene):
    """Data sets and supplies that nobody made or measured."""

    def data(self, name: str) -> Path:
        return self.folder / name

    def sounds(self, name: str) -> list[Path]:
        return [self.folder / name / "wavs" / f"spk00_{number:05}.wav" for number in range(400)]

    def precompute(self, name: str) -> None:
        pass

    def precompute_samples(self, name: str, cache: Path, hop: int) -> None:
        pass

    def supply(self, settings: list[str], cores: list[int] | None = None) -> scene.Supply:
        del settings, cores
        return scene.Supply(batches_per_s=400, clips_per_s=10_000, bytes_per_s=1.5e9)


def asked(**changed: object) -> argparse.Namespace:
    with mock.patch("sys.argv", ["inject"]):
        return argparse.Namespace(**(vars(inject.arguments()) | changed))


def a_row(kind: str, found: list[str], right: bool, **more: object) -> dict[str, Any]:
    return {"kind": kind, "name": "logging", "number": 0, "found": found, "right": right, "cures": [], **more}


class ProofTest(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.scene = FakeScene(Path("stoker"), Path("planted"), Path(folder.name), 1)
        self.scene.num_cores = 2

    def draw(self, job: inject.Job, seed: str = "a") -> scene.Trial:
        return job.plant(plants.Draw(self.scene, random.Random(seed), 5))

    def test_there_are_causes_enough_on_both_sides_and_outside(self) -> None:
        self.assertGreaterEqual(len(plants.PLANTS), 24)
        self.assertGreaterEqual(sum(plant.side == "consumer" for plant in plants.PLANTS), 7)
        self.assertGreaterEqual(sum(plant.where == "outside" for plant in plants.PLANTS), 6)

    def test_every_name_is_one_that_the_diagnosis_knows(self) -> None:
        self.assertEqual([name for plant in plants.PLANTS for name in plant.names if name not in KNOWN], [])

    def test_every_plant_has_a_step_and_spoils_something(self) -> None:
        for job in inject.all_jobs(asked(trials=1, pairs=1, what_if=1, healthy=1)):
            trial = self.draw(job)
            self.assertGreater(trial.plan["step_ms"], 0, job.name)
            for part in ("storage", "stage"):
                figures = [value for value in trial.plan.get(part, {}).values() if not isinstance(value, str)]
                self.assertTrue(part not in trial.plan or any(value > 0 for value in figures), job.name)

    def test_the_causes_of_a_gpu_are_known_and_feed_one(self) -> None:
        with mock.patch("bench.diagnose.inject.gpu_name", return_value="NVIDIA X"):
            jobs = inject.all_jobs(asked(trials=1, healthy=1, device="cuda"))
        self.assertEqual(len(jobs), len(gpu_plants.GPU_PLANTS) + 1)
        for job in jobs:
            trial = self.draw(job)
            self.assertIn("device=cuda", trial.plan["settings"], job.name)
            self.assertIn("device", trial.plan, job.name)
            self.assertGreater(trial.plan["step_ms"], 0, job.name)
        unknown = [name for plant in gpu_plants.GPU_PLANTS for name in plant.names if name not in KNOWN]
        self.assertEqual(unknown, [])

    def test_a_trial_can_be_drawn_again_and_others_differ(self) -> None:
        job = inject.all_jobs(asked())[0]
        self.assertEqual(self.draw(job).plan, self.draw(job).plan)
        self.assertNotEqual(self.draw(job).plan, self.draw(job, "b").plan)
        self.assertNotEqual(inject.SEEDS["tuning"], inject.SEEDS["judging"])

    def test_the_first_cause_counts_and_of_two_the_first_three(self) -> None:
        job = inject.Job("cause", "x", 0, plants.healthy, (("decode",),))
        self.assertTrue(job.is_right({"found": ["decode", "mel"]}))
        self.assertFalse(job.is_right({"found": ["mel", "decode"]}))
        self.assertFalse(job.is_right({"found": []}))
        self.assertFalse(job.is_right({"found": ["decode"], "failed": "it"}))
        pair = inject.Job("pair", "x", 0, plants.healthy, (("decode",), ("logging",)))
        self.assertTrue(pair.is_right({"found": ["mel", "logging", "decode"]}))
        self.assertFalse(pair.is_right({"found": ["decode", "mel"]}))

    def test_errors_are_those_of_applied_cures(self) -> None:
        cures = [{"predicted_gain": 1.1, "measured_gain": 1.0}, {"predicted_gain": 1.0, "measured_gain": 2.0}]
        errors = inject.errors_of([a_row("what-if", [], True, cures=cures)])
        self.assertEqual([round(error, 3) for error in errors], [0.1, 0.5])

    def test_bars_fail_on_wrong_trials(self) -> None:
        right, wrong = a_row("cause", ["logging"], True), a_row("cause", ["mel"], False)
        self.assertTrue(inject.judge([right] * 19 + [wrong]).ok())
        self.assertFalse(inject.judge([right] * 18 + [wrong] * 2).ok())

    def test_a_few_trials_are_judged_where_nobody_else_was_busy(self) -> None:
        right, wrong = a_row("cause", ["logging"], True), a_row("cause", ["mel"], False)
        disturbed = a_row("cause", ["busy_neighbour"], False, others_cores=1.5)
        self.assertEqual(inject.quick_status([right] * 3 + [disturbed] * 2, 0.9), 0)
        self.assertEqual(inject.quick_status([right] * 3 + [wrong] * 2, 0.9), 1)
        self.assertEqual(inject.quick_status([right] + [disturbed] * 2, 0.9), inject.SKIPPED_STATUS)

    def test_the_page_shows_what_was_named_instead(self) -> None:
        named = [{"name": "logging", "names": ["logging"], "side": "consumer", "where": "seam"}]
        trials = [a_row("cause", ["logging"], True), a_row("cause", ["mel"], False)]
        trials += [a_row("healthy", [], True, verdict="healthy"), a_row("pair", ["mel", "decode"], True)]
        record = {"plants": named, "trials": trials, "bars": [], "date": "2026-01-02", "command": "c"}
        page = planted_causes.page(record)
        self.assertIn("| logging | consumer | seam | 1 of 2 | `logging` 1, `mel` 1 |", page)
        self.assertIn("Of 1 healthy feeds 1 of 1 were called so", page)


if __name__ == "__main__":
    unittest.main()
