"""A verdict as a notebook shows it, and the report of a feed as one HTML page."""

from __future__ import annotations

import html
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

LANGUAGES = ("en", "fa")


def verdict_html(sentence: str, figures: Mapping[str, str]) -> str:
    """One sentence and the figures below it; nothing of them is taken for markup."""
    rows = "".join(
        f"<tr><th style='text-align:left'>{html.escape(name)}</th><td>{html.escape(value)}</td></tr>"
        for name, value in figures.items()
    )
    return f"<div><p><strong>{html.escape(sentence)}</strong></p><table>{rows}</table></div>"


@dataclass(frozen=True)
class Report:
    """What a feed did: the verdict in a sentence (str), and the whole page (`html`)."""

    sentence: str
    html: str

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the page; whoever opens it needs nothing else."""
        Path(path).write_text(self.html, encoding="utf-8")

    def __str__(self) -> str:
        return self.sentence

    def _repr_html_(self) -> str:
        # A frame of its own: the page has styles and ids that are not the notebook's.
        page = html.escape(self.html)
        return f'<iframe srcdoc="{page}" sandbox="" style="width:100%;height:40rem;border:0" title="report"></iframe>'
