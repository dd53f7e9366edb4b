"""The protocol of the peers with a double in the place of a library: figures, checks, trials, and runs that hang."""

import json
import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np

from bench.peers import entrants, environments, race_data

ROOT = Path(__file__).resolve().parent.parent.parent
CLIPS = 400


class ProtocolTest(unittest.TestCase):
    """One folder of small mels for all tests; wavs are not read by the double."""

    folder: tempfile.TemporaryDirectory[str]
    rows: list[list[Any]]

    @classmethod
    def setUpClass(cls) -> None:
        cls.folder = tempfile.TemporaryDirectory()
        random = np.random.default_rng(5)
        cls.rows = []
        for number in range(CLIPS):
            path = Path(cls.folder.name) / f"clip{number}.npy"
            mel = random.uniform(-11.0, 2.0, (20 + number % 13, 80)).astype(np.float32)
            np.save(path, mel)
            cls.rows.append(["none.wav", str(path), str(path), len(mel)])

    @classmethod
    def tearDownClass(cls) -> None:
        cls.folder.cleanup()

    def run_double(self, *arguments: str, rows: list[list[Any]] | None = None) -> tuple[int, dict[str, Any], str]:
        clips = Path(self.folder.name) / "clips.json"
        clips.write_text(json.dumps(rows or self.rows), encoding="utf-8")
        command = [
            sys.executable,
            "-m",
            "tests.peers.peer_double",
            arguments[0],
            "--clips",
            str(clips),
            "--path",
            "cached",
        ]
        done = subprocess.run(
            [*command, *arguments[1:]], cwd=ROOT, capture_output=True, text=True, check=False, timeout=60
        )
        report = json.loads(done.stdout) if done.returncode == 0 else {}
        return done.returncode, report, done.stderr

    def test_a_race_prints_every_figure(self) -> None:
        code, report, said = self.run_double("race", "--seconds", "0.2")
        self.assertEqual(code, 0, said)
        for key in ("clips_per_s", "cpu_s_per_1000_clips", "first_batch_s", "first_batch_from_start_s", "memory_mb"):
            self.assertGreater(report[key], 0.0, key)
        self.assertGreaterEqual(report["batches"], 12)
        self.assertGreater(report["padding_share"], 0.0)
        self.assertLess(report["padding_share"], 0.6)

    def test_a_wrong_mel_is_not_timed(self) -> None:
        code, _, said = self.run_double("race", "--seconds", "0.2", "--setting", "wrong_by_milli=20")
        self.assertNotEqual(code, 0)
        self.assertIn("nothing is timed", said)

    def test_a_resume_that_goes_on_is_exact(self) -> None:
        _, report, said = self.run_double("resume")
        self.assertEqual(report.get("outcome"), "exact", said)
        self.assertEqual(report["state_bytes"], 17)

    def test_a_resume_that_loses_a_batch_is_found_out(self) -> None:
        _, report, _ = self.run_double("resume", "--other", "late=1")
        self.assertEqual(report["outcome"], "differs")
        self.assertEqual(report["first_wrong_batch"], 0)
        self.assertEqual(report["clips_missing"], 32)

    def test_a_resume_that_is_refused_keeps_what_was_said(self) -> None:
        _, report, _ = self.run_double("resume", "--other", "refuse=3")
        self.assertEqual(report["outcome"], "refused")
        self.assertEqual(report["said"], "ValueError: 3 workers are not what I had")

    def test_a_changed_value_is_delivered_wrong_in_silence(self) -> None:
        bad = Path(self.folder.name) / "bad.npy"
        mel = np.load(self.rows[40][1])
        mel[3, 7] += 1.0
        np.save(bad, mel)
        rows = [list(row) for row in self.rows[:64]]
        rows[40][1] = str(bad)
        _, report, _ = self.run_double("damage", rows=rows)
        self.assertEqual((report["delivered"], report["delivered_wrong"], report["said"]), (64, 1, None))

    def test_a_peer_that_hangs_is_ended_and_named(self) -> None:
        clips = Path(self.folder.name) / "clips.json"
        clips.write_text(json.dumps(self.rows), encoding="utf-8")
        double = entrants.PeerEntry("double", "tests.peers.peer_double", (), ())
        with (
            mock.patch.object(entrants, "RUN_LIMIT_S", 2),
            mock.patch.object(environments, "python_of", lambda name: Path(sys.executable)),
            mock.patch.dict(os.environ, {"PEER_HANGS": "1"}),
            self.assertRaisesRegex(race_data.RunFailed, "no end within 2 s"),
        ):
            entrants.run_peer(double, clips, "race", ["--path", "cached"])

    def test_a_cut_file_stops_the_run_with_its_message(self) -> None:
        bad = Path(self.folder.name) / "cut.npy"
        whole = Path(self.rows[40][1]).read_bytes()
        bad.write_bytes(whole[: len(whole) // 2])
        rows = [list(row) for row in self.rows[:64]]
        rows[40][1] = str(bad)
        _, report, _ = self.run_double("damage", rows=rows)
        self.assertEqual(report["delivered"], 32)
        self.assertIn("ValueError", report["said"])


if __name__ == "__main__":
    unittest.main()
