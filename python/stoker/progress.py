"""Progress for whoever wants to see it: a call with (done, total), or a bar with update(n)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol


class Bar(Protocol):
    """What tqdm and its like have."""

    total: Any

    def update(self, n: int, /) -> Any:
        """Goes on by n."""


Progress = Callable[[int, int], Any] | Bar


def listener_of(progress: Progress | None) -> Callable[[int, int], Any] | None:
    """The call that the library makes, always from the thread that waits for the work."""
    update = getattr(progress, "update", None)
    if progress is None or update is None:
        if progress is not None and not callable(progress):
            raise TypeError(f"expected a call with (done, total) or a bar with update(n), found {progress!r}")
        return progress
    shown = 0

    def move(done: int, total: int) -> None:
        nonlocal shown
        if total:
            progress.total = total  # type: ignore[union-attr]
        update(done - shown)
        shown = done

    return move
