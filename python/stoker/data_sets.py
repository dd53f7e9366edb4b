"""Data sets: made by the built-in voice, and checked row by row."""

from __future__ import annotations

import json
import os
from typing import Any

from stoker import _engine
from stoker.progress import Progress, listener_of
from stoker.settings import keywords_of


def make_data(
    out: str | os.PathLike[str],
    clips: int,
    *,
    speakers: int = 1,
    language: str = "en",
    sample_rate: int = 22050,
    lengths: str = "natural",
    seed: int = 42,
    num_workers: int | None = None,
    overwrite: bool = False,
    progress: Progress | None = None,
) -> dict[str, Any]:
    """Writes a data set in LJSpeech layout, spoken by the built-in voice; as `stoker data make`.

    `lengths` is natural, ljspeech or uniform:A-B in seconds. The same arguments give the same bytes for any number of
    workers; the keys are those of `stoker data make --json`.
    """
    call = _engine.MakeCall()
    call.out = os.fspath(out)
    call.num_utterances = clips
    call.num_speakers = speakers
    call.language = language
    call.rate_hz = sample_rate
    call.lengths = lengths
    call.seed = seed
    call.num_workers = num_workers
    call.overwrite = overwrite
    made: dict[str, Any] = json.loads(_engine.make_data(call, listener_of(progress)))
    return made


def data_check(
    data: str | os.PathLike[str] | None = None,
    *,
    progress: Progress | None = None,
    config: str | os.PathLike[str] | None = None,
    **settings: Any,
) -> dict[str, Any]:
    """Reads every row and file of a data set and counts what is wrong; keys are those of `stoker data check --json`.

    `ok` is false where a feed would refuse the data set, and `error` then says why. Every keyword is a setting.
    """
    keywords = keywords_of({"data.path": data, **settings})
    account: dict[str, Any] = json.loads(_engine.check_data(os.fspath(config or ""), keywords, listener_of(progress)))
    return account
