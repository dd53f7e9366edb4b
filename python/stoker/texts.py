"""How one text is read: the words that are spoken, and their ids."""

from __future__ import annotations

import os
from typing import Any

from stoker import _engine
from stoker.settings import keywords_of


def normalize(text: str, language: str = "en", *, config: str | os.PathLike[str] | None = None, **settings: Any) -> str:
    """The words of a text as they are spoken: numbers, abbreviations and signs written out.

    Every keyword is a setting; `cleaner` and `vocabulary` choose other rules than those of the language.
    """
    words: str = _engine.normalize(text, os.fspath(config or ""), keywords_of({"text.language": language, **settings}))
    return words


def tokenize(
    text: str, language: str | None = None, *, config: str | os.PathLike[str] | None = None, **settings: Any
) -> list[int]:
    """The ids of a text, as every feed and cache has them.

    Every keyword is a setting: `vocabulary`, `cleaner`, `add_blank`, `unknown`.
    """
    ids: list[int] = _engine.tokenize(
        text, os.fspath(config or ""), keywords_of({"text.language": language, **settings})
    )
    return ids
