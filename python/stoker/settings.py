"""Keyword arguments are the declared settings: this turns Python values into what the library reads."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from typing import Any

from stoker import _engine

Keywords = list[tuple[str, str]]


def _text(value: Any) -> str:
    if getattr(value, "shape", None) == () and hasattr(value, "item"):
        value = value.item()  # a NumPy number, or a tensor of one
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, os.PathLike):
        return str(os.fspath(value))
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{_quoted(key)}: {_item(each)}" for key, each in value.items()) + "}"
    if isinstance(value, list | tuple | set | frozenset):
        return "[" + ", ".join(_item(each) for each in value) + "]"
    return str(value)


def _quoted(text: Any) -> str:
    return json.dumps(str(text), ensure_ascii=False).replace("\x7f", "\\u007f")


def _item(value: Any) -> str:
    if isinstance(value, str | os.PathLike):
        return _quoted(os.fspath(value))
    return _text(value)


def keywords_of(given: Mapping[str, Any]) -> Keywords:
    """Names and values as text, in the order given; None means "not given"."""
    return [(name, _text(value)) for name, value in given.items() if value is not None]


def declared() -> list[dict[str, str]]:
    """Every setting there is: path, name, kind, unit, sentence and default."""
    return _engine.declared_settings()
