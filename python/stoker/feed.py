"""The feed: batches of a speech data set, an epoch a loop, resumable at any batch."""

from __future__ import annotations

import atexit
import contextlib
import json
import os
import time
import weakref
from collections.abc import Iterator
from types import TracebackType
from typing import TYPE_CHECKING, Any

from stoker import _engine
from stoker.report import LANGUAGES, Report
from stoker.settings import keywords_of

if TYPE_CHECKING:
    from stoker._engine import Batch

# Not of Feed: a loop holds the engine, also where it is over a Feed that nobody keeps. The value says whether its
# workers are chosen automatically.
_open_feeds: weakref.WeakKeyDictionary[_engine.Feed, bool] = weakref.WeakKeyDictionary()


class Feed:
    """Batches of `data` in an order that depends on nothing but the settings and the seed.

    A loop is one epoch; the next loop is the next one. A batch is valid until it and every tensor made from it is
    gone, or release() was called. Every keyword is a setting (stoker.settings.declared()); these are used most:
    """

    def __init__(
        self,
        data: str | os.PathLike[str] | None = None,
        *,
        config: str | os.PathLike[str] | None = None,
        state: dict[str, Any] | None = None,
        timeout: float = 0.0,
        cache: str | os.PathLike[str] | None = None,
        batch_size: int | None = None,
        batch_frames: int | None = None,
        shuffle: bool | None = None,
        seed: int | None = None,
        drop_last: bool | None = None,
        num_workers: int | None = None,
        prefetch_factor: int | None = None,
        pin_memory: bool | None = None,
        device: Any = None,
        rank: int | None = None,
        world_size: int | None = None,
        **settings: Any,
    ) -> None:
        if timeout < 0:
            raise ValueError(f"expected a timeout of 0 (any time) or more seconds, found {timeout}")
        given = {
            "data.path": data,
            "cache.dir": cache,
            "data.batch_size": batch_size,
            "data.batch_frames": batch_frames,
            "data.shuffle": shuffle,
            "seed": seed,
            "data.drop_last": drop_last,
            "data.num_workers": num_workers,
            "data.prefetch_buffer_size": _ready_batches(prefetch_factor, num_workers),
            "gpu.pin_memory": pin_memory,
            "device": _without_cpu_number(device),
            "data.rank": rank,
            "data.world_size": world_size,
        }
        self._arguments = {"config": config, "timeout": timeout, **given, **settings}
        self._timeout_s = timeout
        self._engine = _engine.Feed(
            os.fspath(config or ""), keywords_of({**given, **settings}), None if state is None else _line_of(state)
        )
        _open_feeds[self._engine] = num_workers is None and settings.get("data.num_workers") is None
        _share_cores()
        _engine.pass_on_log()

    def __iter__(self) -> Iterator[Batch]:
        return self._engine.begin(self._timeout_s)

    def __len__(self) -> int:
        return self._engine.num_batches()

    @property
    def epoch(self) -> int:
        """The epoch that the feed is in."""
        return self._engine.position[0]

    def set_epoch(self, epoch: int) -> None:
        """The next loop is this epoch; one that was restored in the middle of it goes on there."""
        self._engine.set_epoch(epoch)

    def state_dict(self) -> dict[str, Any]:
        """The place behind the last batch that a loop gave: enough to go on exactly, with any number of workers."""
        return {"stoker": self._engine.state()}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Goes to a saved place; the next loop begins with the batch that would have come."""
        self._engine.restore(_line_of(state))

    def stats(self) -> dict[str, Any]:
        """What the feed did so far: batches, clips, waiting, work of every stage, what is held where."""
        _engine.pass_on_log()
        stats: dict[str, Any] = json.loads(self._engine.stats())
        return stats

    @contextlib.contextmanager
    def note(self, work: str) -> Iterator[None]:
        """Says what the block does beside the steps, for the record of the next batch.

        One of "logging", "checkpoint", "validation", "sync" and "other".
        """
        self._engine.note(work, 0.0)  # an unknown one is refused before the block
        begun = time.perf_counter()
        try:
            yield
        finally:
            self._engine.note(work, time.perf_counter() - begun)

    @property
    def records(self) -> str:
        """The file with the records of the last batches (docs/format/records.md); empty: there is none."""
        return self._engine.records

    def report(self, path: str | os.PathLike[str] | None = None, language: str = "en") -> Report:
        """What the last batches say: the verdict, and a page for files and notebooks, written to `path` where given.

        `language` is "en" or "fa".
        """
        if language not in LANGUAGES:
            raise ValueError(f"expected language 'en' or 'fa', found {language!r}")
        sentence, page = self._engine.report(language)
        if not page:
            raise ValueError("a report needs the records of the feed: open it without observe.records=False")
        made = Report(sentence, page)
        if path is not None:
            made.save(path)
        return made

    @property
    def shapes(self) -> list[tuple[int, int, int]]:
        """The fixed set of (rows, frames, tokens) that batches have."""
        return self._engine.shapes()

    @property
    def num_rows(self) -> int:
        """Utterances of an epoch, over all ranks."""
        return self._engine.num_rows

    def close(self) -> None:
        """Ends the feed; batches that are held stay valid."""
        self._engine.close()
        _open_feeds.pop(self._engine, None)
        _share_cores()
        _engine.pass_on_log()

    def __enter__(self) -> Feed:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        if not hasattr(self, "_engine"):
            return "stoker.Feed(not opened)"
        name = str(self._arguments["data.path"])
        if self._engine.is_closed:
            return f"stoker.Feed({name!r}, closed)"
        if self._engine.is_forked:
            return f"stoker.Feed({name!r}, of the parent process)"
        epoch, batch = self._engine.position
        return f"stoker.Feed({name!r}, {len(self)} batches, at epoch {epoch} batch {batch})"

    def __reduce__(self) -> tuple[Any, ...]:
        """For another process (spawn, forkserver): opened there with the same arguments, at the same place."""
        state = None if self._engine.is_closed else self.state_dict()
        return (_open_again, (self._arguments, state))


def _without_cpu_number(device: Any) -> Any:
    """Frameworks number the processor too: torch.device("cpu", 0) under torchrun."""
    return "cpu" if getattr(device, "type", None) == "cpu" else device


def _ready_batches(prefetch_factor: int | None, num_workers: int | None) -> int | None:
    """As with torch: batches that are ready for each worker."""
    return None if prefetch_factor is None else prefetch_factor * max(1, num_workers or 1)


def _line_of(state: dict[str, Any]) -> str:
    try:
        return str(state["stoker"])
    except (KeyError, TypeError):
        raise ValueError(f"expected what state_dict() gave, found {state!r}") from None


def _open_again(arguments: dict[str, Any], state: dict[str, Any] | None) -> Feed:
    return Feed(state=state, **arguments)


def _share_cores() -> None:
    """Feeds whose workers are chosen automatically have the cores of the process together, not each."""
    feeds = [feed for feed, shares in list(_open_feeds.items()) if shares and not (feed.is_closed or feed.is_forked)]
    if len(feeds) < 2 and not _was_shared:
        return
    num_cores = _engine.num_cores()
    for place, feed in enumerate(feeds):
        share = num_cores // len(feeds) + (1 if place < num_cores % len(feeds) else 0)
        feed.set_core_share(max(1, share))
    _was_shared[:] = [True] if len(feeds) > 1 else []


_was_shared: list[bool] = []


@atexit.register
def _close_all() -> None:
    """Ends every feed while there is an interpreter; a thread that waits for a batch then, a daemon, stays there."""
    _engine.end_interpreter()
    for feed in list(_open_feeds):
        feed.close()


def _document() -> None:
    """The sentences of the settings, as the reference page has them."""
    spelled = {
        "batch_size": "data.batch_size",
        "batch_frames": "data.batch_frames",
        "shuffle": "data.shuffle",
        "seed": "seed",
        "drop_last": "data.drop_last",
        "num_workers": "data.num_workers",
        "pin_memory": "gpu.pin_memory",
        "device": "device",
        "cache": "cache.dir",
        "rank": "data.rank",
        "world_size": "data.world_size",
    }
    sentences = {setting["path"]: setting["sentence"] for setting in _engine.declared_settings()}
    lines = [f"    {name}: {sentences[path]}" for name, path in spelled.items()]
    Feed.__doc__ = f"{Feed.__doc__}\n" + "\n".join(lines)


_document()
