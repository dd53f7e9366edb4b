"""train() and synthesize(): through the door where the library is, and with the way to it where it is not."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import stoker
from stoker import training

SMALL: dict[str, Any] = {"model_size": "tiny", "device": "cpu", "batch_size": 2, "num_workers": 1, "log_step": 1}

has_library = any(
    (Path(folder) / below / "libstoker_train.so").exists()
    for folder in training._library_folders()
    for below in (".", "lib/stoker", "../lib/stoker")
)
needs_library = pytest.mark.skipif(not has_library, reason="the trainer's library is not built")


@pytest.fixture(scope="session")
def voice(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Eight short clips, which no test changes."""
    folder = tmp_path_factory.mktemp("voice") / "voice"
    stoker.make_data(folder, clips=8, lengths="uniform:1-2", seed=3)
    return folder


def test_absent_library_is_told_with_the_way_to_it(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("STOKER_TRAIN_LIBRARY", str(tmp_path / "none.so"))
    calls: list[Callable[[], object]] = [
        lambda: stoker.train(tmp_path),
        lambda: stoker.synthesize("Hello.", checkpoint=tmp_path, out=tmp_path / "a.wav"),
    ]
    for call in calls:
        with pytest.raises(stoker.ConfigError, match=r"none\.so") as caught:
            call()
        assert caught.value.code == "E-TRAIN-LIB"
        assert "torch" in caught.value.help


def test_arguments_are_checked_before_the_library(tmp_path: Path) -> None:
    for given in ({"steps": 3}, {"steps": 33}, {"speed": 0.1}, {"out": ["a.wav", "b.wav"]}):
        with pytest.raises(ValueError, match="expected"):
            stoker.synthesize("Hello.", **{"checkpoint": tmp_path, "out": "a.wav", **given})  # type: ignore[arg-type]
    with pytest.raises(stoker.ConfigError, match="model_size"):
        stoker.train(tmp_path, model_sise="tiny")


@needs_library
def test_codes_of_the_library_keep_their_names(tmp_path: Path) -> None:
    with pytest.raises(stoker.StokerError) as missing:
        stoker.synthesize("Hello.", checkpoint=tmp_path, out=tmp_path / "a.wav")
    assert missing.value.code == "E-CHECKPOINT-MISSING"
    assert str(tmp_path) in missing.value.path and missing.value.help


@needs_library
def test_trains_and_speaks(voice: Path, tmp_path: Path) -> None:
    events: list[dict[str, Any]] = []
    report = stoker.train(voice, out=tmp_path / "run", steps=2, on_event=events.append, **SMALL)
    assert report["steps"] == 2 and Path(report["checkpoint"]).is_dir()
    assert {"saved"} <= {event["kind"] for event in events}
    spoken = stoker.synthesize(
        ["Hello.", "Good day."], checkpoint=tmp_path / "run", out=tmp_path / "o.wav", steps=4, device="cpu"
    )
    assert [Path(each["file"]).name for each in spoken["speeches"]] == ["o-1.wav", "o-2.wav"]
    assert stoker.features(tmp_path / "o-1.wav").shape[0] > 0
    with pytest.raises(stoker.ConfigError) as refused:
        stoker.synthesize("漢字漢字", checkpoint=tmp_path / "run", out=tmp_path / "x.wav", device="cpu")
    assert refused.value.code == "E-SPEAK-TEXT"


@needs_library
def test_ctrl_c_keeps_the_checkpoint(voice: Path, tmp_path: Path) -> None:
    def interrupt(event: dict[str, Any]) -> None:
        if event["kind"] == "progress":
            os.kill(os.getpid(), signal.SIGINT)

    with pytest.raises(KeyboardInterrupt):
        stoker.train(voice, out=tmp_path / "run", steps=100_000, on_event=interrupt, **SMALL)
    assert list((tmp_path / "run").rglob("step-*"))
    again = stoker.train(voice, out=tmp_path / "run", seconds=0.1, resume=True, **SMALL)
    assert again["steps"] >= 1


@needs_library
@pytest.mark.parametrize("first", ["torch", "stoker"])
def test_one_libtorch_in_the_process(voice: Path, tmp_path: Path, first: str) -> None:
    """Whichever is there first: torch works, the trainer works, and one libtorch is mapped."""
    pytest.importorskip("torch")
    train = f"stoker.train({str(voice)!r}, out={str(tmp_path / 'run')!r}, steps=1, **{SMALL!r})"
    lines = ["import torch", "assert torch.ones(3).sum().item() == 3.0"]
    lines = [*lines, train] if first == "torch" else [train, *lines]
    script = "\n".join(
        [
            "import stoker",
            *lines,
            "torch.nn.Linear(4, 4)(torch.ones(2, 4)).sum().backward()",
            "mapped = {line.split()[-1] for line in open('/proc/self/maps') if 'libtorch_cpu' in line}",
            "assert len(mapped) == 1, mapped",
        ]
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
