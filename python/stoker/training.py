"""The trainer, where its library is found: a model of a data set, and speech from its checkpoints."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Sequence
from typing import Any

from stoker import _engine
from stoker.settings import keywords_of

OnEvent = Callable[[dict[str, Any]], Any]


def train(
    data: str | os.PathLike[str] | None = None,
    *,
    out: str | os.PathLike[str] | None = None,
    on_event: OnEvent | None = None,
    config: str | os.PathLike[str] | None = None,
    **settings: Any,
) -> dict[str, Any]:
    """Trains a text-to-speech model; the keys are those of `stoker train --json`.

    `out` is the run folder (training.checkpoint_dir). `on_event` gets what the run tells, a dict each with its `kind`
    (line, warning, progress, saved, spoken, evaluated), from the thread that called. Ctrl-C keeps a checkpoint; the
    same call with resume=True goes on. Every other keyword is a setting.
    """
    given = {"data.path": data, "training.checkpoint_dir": out, **settings}
    report: dict[str, Any] = json.loads(
        _engine.train(_library_folders(), os.fspath(config or ""), keywords_of(given), _events_to(on_event))
    )
    return report


def synthesize(
    text: str | Sequence[str],
    *,
    checkpoint: str | os.PathLike[str],
    out: str | os.PathLike[str] | Sequence[str | os.PathLike[str]],
    reference: str | os.PathLike[str] | Sequence[str | os.PathLike[str]] | None = None,
    language: str | None = None,
    vocabulary: str | None = None,
    steps: int = 16,
    speed: float = 1.0,
    save_mel: str | os.PathLike[str] | None = None,
    picture: str | os.PathLike[str] | None = None,
    on_event: OnEvent | None = None,
    config: str | os.PathLike[str] | None = None,
    **settings: Any,
) -> dict[str, Any]:
    """Speaks a text, or each of several, into WAV files; the keys are those of `stoker synthesize --json`.

    `checkpoint` is a run folder or one step-NNNNNNNN folder. Of several texts `out` is one name for all, o.wav for
    o-1.wav, o-2.wav …, or a name for each. `reference` is a sound of the voice to speak with, or
    one for each text; `steps` (4 to 32) of the
    decoder are finer and slower, `speed` 1.1 is ten per cent faster. Every other keyword is a setting (device, seed).
    """
    if not 4 <= steps <= 32:
        raise ValueError(f"expected 4 to 32 steps, found {steps}")
    if not 0.25 <= speed <= 4.0:
        raise ValueError(f"expected a speed of 0.25 to 4, found {speed}")
    call = _engine.SynthesisCall()
    call.checkpoint = os.fspath(checkpoint)
    call.texts = [text] if isinstance(text, str) else list(text)
    call.out = _files(out, len(call.texts))
    call.save_mel = _files(save_mel, len(call.texts))
    call.pictures = _files(picture, len(call.texts))
    given = [reference] if isinstance(reference, str | os.PathLike) else reference or []
    call.references = [os.fspath(each) for each in given]
    call.language = language
    call.vocabulary = vocabulary
    call.num_steps = steps
    call.speed = speed
    report: dict[str, Any] = json.loads(
        _engine.synthesize(
            _library_folders(), os.fspath(config or ""), keywords_of(settings), call, _events_to(on_event)
        )
    )
    return report


def _files(path: Any, num_texts: int) -> list[str]:
    if path is None or isinstance(path, str | os.PathLike):
        files: list[str] = _engine.numbered_files(os.fspath(path or ""), num_texts)
        return files
    if len(path) != num_texts:
        raise ValueError(f"expected a file for each of {num_texts} texts, found {len(path)}")
    return [os.fspath(each) for each in path]


def _library_folders() -> list[str]:
    """The package's own folder and, where that is in a build tree, the tree."""
    package = os.path.dirname(_engine.__file__)
    tree = os.path.dirname(os.path.dirname(package))
    return [package, tree] if os.path.exists(os.path.join(tree, "CMakeCache.txt")) else [package]


def _events_to(on_event: OnEvent | None) -> Callable[[str], Any] | None:
    return None if on_event is None else lambda text: on_event(json.loads(text))
