"""The protocol of the peers with a double in the place of a library: figures, checks, trials, and runs that hang."""

import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
import unittest
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np

from bench.peers import entrants, environments, race_data, trials
from bench.peers.pacing import paced
from bench.program import RunFailed

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

    def test_a_consumer_of_fixed_steps_shows_what_it_waits_for(self) -> None:
        """The double loads in the caller's thread: it is as slow again for a consumer that has steps of its own."""
        code, report, said = self.run_double("race", "--seconds", "0.3")
        self.assertEqual(code, 0, said)
        self.assertGreater(report["paced_stall"], 0.1)
        self.assertLess(report["paced_stall"], 0.95)
        self.assertGreater(report["paced_cv"], 0.0)

    def test_a_loader_that_is_ready_in_time_is_not_waited_for(self) -> None:
        report = paced(iter(range(10**6)), lambda _: None, step_s=0.002, seconds=0.2)
        self.assertLess(report["paced_stall"], 0.2)

    def test_a_pause_of_the_loader_shows_as_stall_and_as_variation(self) -> None:
        def with_pauses() -> Iterator[int]:
            for number in range(10**6):
                if number % 10 == 9:
                    time.sleep(0.02)
                yield number

        report = paced(with_pauses(), lambda _: None, step_s=0.002, seconds=0.4)
        self.assertGreater(report["paced_stall"], 0.3)
        self.assertGreater(report["paced_cv"], 0.8)

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

    def test_what_a_library_has_no_means_for_is_told_from_a_refusal(self) -> None:
        _, report, _ = self.run_double("resume", "--other", "cannot=1")
        self.assertEqual((report["outcome"], report["said"]), ("cannot", "it saves no state"))

    def test_a_format_of_its_own_is_written_once_and_whole(self) -> None:
        pack = Path(self.folder.name) / "packed"
        began = pack / "peer_double-cached.began"
        began.mkdir(parents=True)
        (began / "rest.npy").write_text("of a packing that was cut off", encoding="utf-8")
        with mock.patch.dict(os.environ, {"PEER_PACKS": "1"}):
            for _ in range(2):
                code, _, said = self.run_double("race", "--seconds", "0.1")
                self.assertEqual(code, 0, said)
        self.assertEqual((pack / "packings").read_text(encoding="utf-8"), f"{CLIPS}\n")
        self.assertEqual(len(list((pack / "peer_double-cached").iterdir())), CLIPS)
        shutil.rmtree(pack)

    def test_a_mel_that_is_left_out_is_missed_and_its_log_kept(self) -> None:
        bad = Path(self.folder.name) / "left_out.npy"
        whole = Path(self.rows[40][1]).read_bytes()
        bad.write_bytes(whole[: len(whole) // 2])
        rows = [list(row) for row in self.rows[:64]]
        rows[40][1] = str(bad)
        _, report, _ = self.run_double("damage", "--setting", "leave_out=1", rows=rows)
        self.assertEqual((report["delivered"], report["delivered_wrong"]), (63, 0))
        self.assertRegex(report["said"], "ERROR: left out ValueError: ")

    def trial_of_packs(self, how: str, folder: Path) -> dict[str, Any]:
        """The trial of a peer that packs its mels, on the clips of this test."""
        data = race_data.RaceData(folder, Path("none"))
        (data.voice / "wavs").mkdir(parents=True)
        (data.voice / "metadata.csv").write_text("", encoding="utf-8")
        rows = []
        for _, npy, reference, frames in self.rows[: race_data.TRIAL_CLIPS]:
            wav = data.voice / "wavs" / Path(npy).with_suffix(".wav").name
            wav.write_bytes(b"")
            rows.append([str(wav), npy, reference, frames])
        data.clips_file.write_text(json.dumps(rows), encoding="utf-8")
        double = entrants.PeerEntry("double", "tests.peers.peer_double", ("",), (), mel_files="*.npy")
        with (
            mock.patch.object(environments, "python_of", lambda name: Path(sys.executable)),
            mock.patch.dict(os.environ, {"PEER_PACKS": "1"}),
        ):
            return trials.peer_damage(double, data, how)

    def test_a_packed_mel_is_damaged_where_it_was_packed(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            flipped = self.trial_of_packs("one bit of a mel flipped", Path(folder) / "flipped")
            cut = self.trial_of_packs("mel cut in half", Path(folder) / "cut")
        self.assertEqual((flipped["delivered"], flipped["delivered_wrong"]), (64, 1))
        self.assertEqual((cut["delivered"], cut["delivered_wrong"]), (32, 0))
        self.assertIn("ValueError", cut["said"])
        self.assertEqual(np.load(self.rows[race_data.BAD_CLIP][1]).shape[1], 80)  # the mel itself is as it was

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
        data = race_data.RaceData(Path(self.folder.name), Path("none"))
        double = entrants.PeerEntry("double", "tests.peers.peer_double", (), ())
        with (
            mock.patch.object(entrants, "RUN_LIMIT_S", 2),
            mock.patch.object(environments, "python_of", lambda name: Path(sys.executable)),
            mock.patch.dict(os.environ, {"PEER_HANGS": "1"}),
            self.assertRaisesRegex(RunFailed, "no end within 2 s"),
        ):
            entrants.run_peer(double, data, "race", ["--path", "cached"])

    def test_the_package_that_races_is_that_of_the_build(self) -> None:
        own = entrants.PeerEntry("own", "none", (), (), is_stoker=True)
        other = entrants.PeerEntry("other", "none", (), ())
        with mock.patch.dict(os.environ, {"PYTHONPATH": "elsewhere"}):
            ours = entrants.environment_of(own, Path("/build/stoker"))
            theirs = entrants.environment_of(other, Path("/build/stoker"))
        self.assertEqual((ours["PYTHONPATH"], ours["RACE_PROGRAM"]), ("/build/python", "/build/stoker"))
        self.assertEqual(theirs["PYTHONPATH"], "elsewhere")

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
