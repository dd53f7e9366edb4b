"""The judges of the training benchmarks, without training: voices told apart, ratios and bars, sentences chosen."""

import tempfile
import unittest
import wave
from pathlib import Path

import numpy as np

from bench.peers import train_torch
from bench.peers.train_batches import SHAPES, BatchSize, bucket_lengths, draw_lengths, make_batches, step_flops
from bench.train import clone, real_speech, speed, voice_print

RATE_HZ = 22050


def write_tone(path: Path, pitch_hz: float) -> None:
    """A second of a voice-like sound: harmonics that fall off."""
    time_s = np.arange(RATE_HZ) / RATE_HZ
    sound = sum(np.sin(2 * np.pi * pitch_hz * k * time_s) / k for k in range(1, 12))
    with wave.open(str(path), "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(RATE_HZ)
        file.writeframes((8000 * np.asarray(sound)).astype("<i2").tobytes())


class VoicePrintTest(unittest.TestCase):
    def test_pitch_is_found_within_one_per_cent(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            for pitch_hz in (95.0, 128.0, 171.0, 203.0):
                path = Path(folder) / "tone.wav"
                write_tone(path, pitch_hz)
                found = float(np.median(voice_print.pitches_hz(*voice_print.read_wav(path))))
                self.assertLess(abs(found / pitch_hz - 1), 0.01, pitch_hz)

    def test_a_clip_without_a_pitch_is_named(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "tone.wav"
            write_tone(path, 1200.0)
            with wave.open(str(path), "wb") as file:
                file.setparams((1, 2, RATE_HZ, 0, "NONE", ""))
                file.writeframes(np.random.default_rng(1).integers(-9000, 9000, RATE_HZ).astype("<i2").tobytes())
            with self.assertRaisesRegex(voice_print.NoSpeech, "expected speech"):
                voice_print.statistic(np.random.default_rng(2).normal(size=(80, 80)), path)

    def test_speakers_are_told_apart_where_they_differ_and_only_there(self) -> None:
        random = np.random.default_rng(3)
        scatter = np.array([5.0, 0.1, 1.0])
        centres = random.normal(size=(12, 1, 3)) * np.array([0.5, 1.0, 0.0])  # told apart by the second value alone
        clips = centres + random.normal(size=(12, 20, 3)) * scatter
        fitted = voice_print.VoicePrint(clips.reshape(-1, 3), np.repeat(np.arange(12), 20))
        self.assertEqual(fitted.num_axes, 1)
        far = clips[[int(clips[:, :, 1].mean(1).argmin()), int(clips[:, :, 1].mean(1).argmax())]]
        self.assertGreater(clone.separation(fitted.place(far.reshape(-1, 3)).reshape(2, 20, -1)), 0.95)
        alike = np.broadcast_to(clips[:1], (2, 20, 3))
        self.assertLess(clone.separation(fitted.place(alike.reshape(-1, 3)).reshape(2, 20, -1)), 0.6)

    def test_chosen_speakers_are_far_apart(self) -> None:
        centres = np.array([[float(x), 0.0] for x in (0, 0.1, 1, 1.1, 2, 3, 4, 5, 6, 7.1)])
        chosen = clone.farthest_apart(centres)
        self.assertEqual(len(chosen), clone.JUDGED_SPEAKERS)
        self.assertTrue({0, 9} <= set(chosen))
        self.assertFalse({0, 1} <= set(chosen))


def a_row(size: str, mode: str, speed_of: float, losses: list[float]) -> dict[str, object]:
    return {"size": size, "mode": mode, "batch": "32 rows", "true_frames_per_s": speed_of, "first_losses": losses}


class SpeedTest(unittest.TestCase):
    def test_bars_are_against_the_best_mode_and_eager(self) -> None:
        rows = [a_row("normal", "eager", 0.2e6, [1.0]), a_row("normal", "compile graph", 1.0e6, [1.0])]
        bars, ratios = speed.judge({"normal": 1.05e6, "tiny": 3.5e6}, {"rows": rows, "failures": []})
        self.assertEqual([row["ok"] for row in bars.rows], [True, False, True, True, True])
        self.assertAlmostEqual(ratios["normal"]["compile graph, 32 rows"], 1.05)

    def test_a_mode_that_failed_is_a_bar_that_is_missed(self) -> None:
        rows = [a_row("normal", "eager", 0.1e6, [1.0])]
        bars, _ = speed.judge({"normal": 2e6}, {"rows": rows, "failures": [{"mode": "compile"}]})
        self.assertFalse(bars.ok())

    def test_a_mode_with_other_losses_does_not_count(self) -> None:
        rows = [a_row("normal", "eager", 1.0, [1.0, 2.0]), a_row("normal", "compile", 9.0, [1.0, 2.2])]
        failures: list[dict[str, object]] = []
        kept = train_torch.check_losses(rows, failures)
        self.assertEqual([row["mode"] for row in kept], ["eager"])
        self.assertIn("expected first losses", str(failures[0]["why"]))


class BatchTest(unittest.TestCase):
    def test_lengths_are_those_of_ljspeech(self) -> None:
        lengths = draw_lengths(1)
        self.assertLess(abs(sum(lengths) / len(lengths) - 566), 6)
        self.assertLessEqual(max(lengths), 870)

    def test_a_bucket_wastes_little(self) -> None:
        rows = bucket_lengths(BatchSize(frames=40000), 4)
        padded = 4 * len(rows[0]) * max(max(row) for row in rows)
        self.assertLess(1 - sum(map(sum, rows)) / padded, 0.02)
        self.assertGreater(padded / 4, 38000)

    def test_operations_grow_with_rows(self) -> None:
        small, large = (make_batches(SHAPES["tiny"], BatchSize(rows=n), 1)[0] for n in (2, 4))
        length = small.mel.shape[1] / large.mel.shape[1]
        ratio = step_flops(SHAPES["tiny"], large) / step_flops(SHAPES["tiny"], small)
        self.assertLess(abs(ratio * length / 2 - 1), 0.05)


class SentenceTest(unittest.TestCase):
    def test_unheard_sentences_are_new_and_plain(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "transcripts.txt"
            plain = [f"LJ{n:03}|the {'very ' * (n % 9)}old sentence was said again" for n in range(80)]
            path.write_text("\n".join([*plain, "LJ900|there were 12 of the old men here"]), encoding="utf-8")
            chosen = real_speech.unheard(path, [("LJ001", "none"), ("x", plain[5].split("|")[1])])
        names = {name for name, _ in chosen}
        self.assertEqual(len(names), real_speech.UNHEARD)
        self.assertFalse({"LJ001", "LJ005", "LJ900"} & names)


if __name__ == "__main__":
    unittest.main()
