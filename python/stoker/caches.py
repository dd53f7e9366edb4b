"""The cache of a data set: built, checked, looked at."""

from __future__ import annotations

import json
import os
from typing import Any

from stoker import _engine
from stoker.progress import Progress, listener_of
from stoker.settings import keywords_of


class Cache:
    """The cache that a data set and its settings have, or the one in the folder `cache`.

    Every keyword is a setting (stoker.settings.declared()); nothing is read or written before a call asks for it.
    """

    def __init__(
        self,
        data: str | os.PathLike[str] | None = None,
        *,
        cache: str | os.PathLike[str] | None = None,
        config: str | os.PathLike[str] | None = None,
        **settings: Any,
    ) -> None:
        given = {"data.path": data, "cache.dir": cache, **settings}
        self._engine = _engine.Cache("Cache", os.fspath(config or ""), keywords_of(given))

    @property
    def folder(self) -> str:
        """Where it is, or would be."""
        folder: str = self._engine.folder()
        return folder

    def verify(self, fix: bool = False, sources: bool = False, *, progress: Progress | None = None) -> dict[str, Any]:
        """Checks every byte, and with a data set whether each record is up to date; `fix` rebuilds what is bad.

        `sources` reads every sound again, whatever its file times say. The keys are those of `stoker verify --json`;
        `ok` says whether all is well now.
        """
        return _report(self._engine.verify(fix, sources, listener_of(progress)))

    def info(self) -> dict[str, Any]:
        """Sizes and settings; the keys are those of `stoker cache info --json`."""
        return _report(self._engine.info())

    def explain(self, id: str) -> dict[str, Any]:
        """Why each record of an utterance is fresh or would be rebuilt: which setting, old and new."""
        return _report(self._engine.explain(id))

    def __repr__(self) -> str:
        return f"stoker.Cache({self.folder!r})"


def precompute(
    data: str | os.PathLike[str] | None = None,
    *,
    cache: str | os.PathLike[str] | None = None,
    progress: Progress | None = None,
    overwrite: bool = False,
    break_lock: bool = False,
    wait: bool = True,
    config: str | os.PathLike[str] | None = None,
    **settings: Any,
) -> dict[str, Any]:
    """Builds or completes the cache of a data set; the keys are those of `stoker precompute --json`.

    `progress` is called with (done, total) records by the thread that called, or is a bar such as tqdm's. Ctrl-C leaves
    whole records; the next call goes on there. `overwrite` rebuilds a cache that was made with other settings, `wait`
    waits for another builder, `break_lock` takes the lock of one on a host that is gone.
    """
    given = {"data.path": data, "cache.dir": cache, **settings}
    builder = _engine.Cache("precompute", os.fspath(config or ""), keywords_of(given))
    return _report(builder.precompute(overwrite, break_lock, wait, listener_of(progress)))


def _report(text: str) -> dict[str, Any]:
    report: dict[str, Any] = json.loads(text)
    return report
