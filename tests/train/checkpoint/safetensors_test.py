#!/usr/bin/env python3
"""The safetensors package reads what the trainer writes, and the trainer reads what the package writes.

safetensors_test.py CHECKPOINT_PROGRAM; exit code 77 where the package or torch is not installed.
"""

import importlib.util
import json
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

if any(importlib.util.find_spec(name) is None for name in ("safetensors", "torch", "xxhash")):
    print("skipped: safetensors, torch and xxhash are needed (tools/bootstrap installs them)")
    sys.exit(77)

import safetensors.torch
import torch
import xxhash

PROGRAM = sys.argv.pop(1) if len(sys.argv) > 1 else "checkpoint_program"
TYPES = [torch.float32, torch.float16, torch.bfloat16, torch.float64, torch.int32, torch.int64, torch.uint8]


def program(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run([PROGRAM, *map(str, arguments)], capture_output=True, text=True, check=False)


def bytes_of(tensor: torch.Tensor) -> bytes:
    return bytes(tensor.contiguous().flatten().view(torch.uint8).numpy().tobytes()) if tensor.numel() else b""


class SafetensorsTest(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def copied(self, tensors: dict[str, torch.Tensor], metadata: dict[str, str] | None) -> Path:
        theirs, ours = self.folder / "theirs.safetensors", self.folder / "ours.safetensors"
        safetensors.torch.save_file(tensors, theirs, metadata)
        done = program("copy", theirs, ours)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return ours

    def test_every_type_goes_both_ways(self) -> None:
        generator = torch.Generator().manual_seed(7)
        tensors = {
            f"layer.{i}.{kind}": (torch.randn(3, i + 1, 5, generator=generator) * 50).to(kind)
            for i, kind in enumerate(TYPES)
        }
        tensors |= {"scalar": torch.tensor(2.5), "empty": torch.zeros(0, 4), 'odd "name" \\ سلام 🔥': torch.ones(2)}
        ours = self.copied(tensors, {"format": "pt", "note": 'a "quoted"\nline'})
        loaded = safetensors.torch.load_file(ours)
        self.assertEqual(set(loaded), set(tensors))
        for name, tensor in tensors.items():
            self.assertEqual((loaded[name].dtype, loaded[name].shape), (tensor.dtype, tensor.shape), name)
            self.assertEqual(bytes_of(loaded[name]), bytes_of(tensor), name)
        content = ours.read_bytes()
        header = json.loads(content[8 : 8 + int.from_bytes(content[:8], "little")])
        self.assertEqual(header["__metadata__"], {"format": "pt", "note": 'a "quoted"\nline'})

    def test_no_tensors_and_no_metadata(self) -> None:
        self.assertEqual(safetensors.torch.load_file(self.copied({}, None)), {})

    def test_a_cut_file_is_refused(self) -> None:
        theirs = self.folder / "theirs.safetensors"
        safetensors.torch.save_file({"a": torch.ones(4)}, theirs)
        theirs.write_bytes(theirs.read_bytes()[:-1])
        done = program("copy", theirs, self.folder / "ours.safetensors")
        self.assertEqual(done.returncode, 4)
        self.assertIn("error[E-CHECKPOINT-BAD]", done.stderr)

    def test_a_checkpoint_opens_and_its_digests_can_be_checked(self) -> None:
        self.assertEqual(program("save", self.folder / "run").returncode, 0)
        step = self.folder / "run" / "checkpoints" / "step-00001200"
        text = (step / "state.json").read_bytes()
        state = json.loads(text)
        self.assertEqual(state["digest"], xxhash.xxh3_128_hexdigest(text[len('{"digest":"') + 32 :]))
        self.assertEqual((state["version"], state["step"], state["figure"], state["evaluated"]), (1, 1200, 0.25, True))
        self.assertEqual(sorted(state["files"]), sorted(path.name for path in step.glob("*.safetensors")))
        for name, seal in state["files"].items():
            content = (step / name).read_bytes()
            self.assertEqual(seal, {"bytes": len(content), "xxh3": xxhash.xxh3_128_hexdigest(content)})
            tensors = safetensors.torch.load_file(step / name)
            shapes = {key: tuple(value.shape) for key, value in tensors.items()}
            self.assertEqual(shapes, {"text.weight": (3, 2), "text.bias": (3,)})
            self.assertEqual(tensors["text.bias"].dtype, torch.bfloat16)


if __name__ == "__main__":
    unittest.main()
