"""The model that training races against is the trainer's: losses and gradients from the same weights, rows and draws
are equal, whatever its attention: train_model_test.py PROGRAM, which writes the cases of tests/train/parity."""

import dataclasses
import json
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path
from typing import Any

import torch

from bench.peers import train_search
from bench.peers.train_batches import SHAPES, Batch, Shape
from bench.peers.train_model import Draws, Tts

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "train" / "parity"))
from parity_test import cases_of, read_file

TOLERANCE = 1e-4
SIZES = Path(__file__).resolve().parent.parent.parent / "bench" / "results" / "train-sizes.json"
program = ""


def small_shape(num_frames: int) -> Shape:
    return Shape(
        num_tokens=11, num_mels=8, text_width=16, text_layers=2, text_heads=2, decoder_width=24, decoder_layers=2,
        decoder_heads=3, decoder_frames=num_frames, num_latents=4, reference_frames=12,
    )  # fmt: skip


class ModelTest(unittest.TestCase):
    cases: dict[str, Any]

    @classmethod
    def setUpClass(cls) -> None:
        torch.set_num_threads(1)
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "cases.safetensors"
            subprocess.run([program, str(path)], check=True)
            cls.cases = cases_of(read_file(path))

    def compare(self, num_frames: int, kind: str) -> None:
        case = self.cases[f"model_{num_frames}"]
        model = Tts(small_shape(num_frames), kind, dropout=0.0)
        model.load_state_dict(case["parameter"])  # strict: every name and shape
        given = case["in"]
        losses = model(
            Batch(given["tokens"], given["text_len"], given["mel"], given["mel_len"]),
            Draws(given["time"], given["noise"], given["crop"]),
        )
        for name, expected in case["out"].items():
            found = float(getattr(losses, name).detach())
            self.assertAlmostEqual(found, float(expected), delta=TOLERANCE * abs(float(expected)), msg=name)
        parts = [(getattr(losses, name) * weight).sum() for name, weight in case["weight"].items()]
        torch.autograd.backward(torch.stack(parts).sum())
        scale = max(float(g.abs().max()) for g in case["gradient"].values())
        for name, parameter in model.named_parameters():
            expected = case["gradient"][name]
            error = float((parameter.grad - expected).abs().max())
            self.assertLessEqual(error, TOLERANCE * max(float(expected.abs().max()), 1e-2 * scale), name)

    def test_with_bf16_weights_losses_are_near(self) -> None:
        case = self.cases["model_1"]
        given = case["in"]
        batch = Batch(given["tokens"], given["text_len"], given["mel"], given["mel_len"])
        for kind in ("mask", "varlen"):
            model = Tts(small_shape(1), kind, dropout=0.0)
            model.load_state_dict(case["parameter"])
            losses = model.to_bf16()(batch, Draws(given["time"], given["noise"], given["crop"]))
            for name, expected in case["out"].items():
                found = float(getattr(losses, name).detach())
                self.assertAlmostEqual(found, float(expected), delta=3e-2 * abs(float(expected)), msg=f"{kind} {name}")

    def test_losses_and_gradients_are_the_trainers(self) -> None:
        for num_frames in (1, 2):
            for kind in ("mask", "varlen"):
                with self.subTest(num_frames=num_frames, kind=kind):
                    self.compare(num_frames, kind)


class SizeTest(unittest.TestCase):
    def test_every_size_has_the_parameters_of_the_trainers(self) -> None:
        """The record was made with one vocabulary, whose size it does not name; it must be the same for all."""
        recorded = {row["size"]: row["parameters"] for row in json.loads(SIZES.read_text())["rows"]}
        vocabularies = set()
        for size, shape in SHAPES.items():
            count = sum(p.numel() for p in Tts(dataclasses.replace(shape, num_tokens=0)).parameters())
            num_tokens, rest = divmod(recorded[size] - count, shape.text_width)
            self.assertEqual(rest, 0, size)
            vocabularies.add(num_tokens)
        self.assertEqual(len(vocabularies), 1, vocabularies)


class SearchTest(unittest.TestCase):
    def test_a_path_is_the_best_of_all(self) -> None:
        generator = torch.Generator().manual_seed(3)
        score = torch.randn(6, 7, 4, generator=generator)
        num_states, num_frames = torch.tensor([4, 1, 3, 4, 0, 4]), torch.tensor([7, 5, 3, 6, 4, 3])
        path = train_search.search_path(score, num_states, num_frames)
        for row in range(6):
            states, frames = int(num_states[row]), int(num_frames[row])
            fits = states > 0 and frames >= states
            self.assertEqual(int(path[row, frames if fits else 0 :].sum()), 0)
            if fits:
                self.assertEqual(path[row, :frames].tolist(), best_by_hand(score[row], states, frames))


def best_by_hand(score: torch.Tensor, states: int, frames: int) -> list[int]:
    ways: list[list[int]] = [[0]]
    for _ in range(frames - 1):
        ways = [[*way, way[-1] + step] for way in ways for step in (0, 1) if way[-1] + step < states]
    whole = [way for way in ways if way[-1] == states - 1]
    return max(whole, key=lambda way: float(sum(score[y, x] for y, x in enumerate(way))))


if __name__ == "__main__":
    program = sys.argv.pop(1)
    unittest.main()
