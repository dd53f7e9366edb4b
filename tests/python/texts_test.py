"""normalize() and tokenize(): the same words and ids as the command."""

from __future__ import annotations

import subprocess
import sys

import pytest
from command import run_json
from hypothesis import given, settings
from hypothesis import strategies as st

import stoker

TEXTS = st.text(
    st.sampled_from("abz ABZ.,?!-'\"%$€£0123456789éüÄسلامدنیا۱۲٪ Dr St no. 漢\u200c\u00a0"), min_size=1, max_size=40
).filter(lambda text: not text.startswith("-") and text.strip())


@settings(max_examples=25, deadline=None)
@given(text=TEXTS, language=st.sampled_from(["en", "fa", "de"]), blank=st.booleans())
def test_equals_the_command(text: str, language: str, blank: bool) -> None:
    words = ["text", text, "--language", language, *(["--add-blank"] if blank else [])]
    try:
        ids = stoker.tokenize(text, language=language, add_blank=blank)
    except stoker.StokerError as error:
        refused = run_json(*words, exit_code=error.exit_code)
        assert refused["error"]["code"] == error.code
        assert refused["normalized"] == stoker.normalize(text, language)
        return
    told = run_json(*words)
    assert told["ids"] == ids
    assert told["normalized"] == stoker.normalize(text, language)


def test_words_are_written_out() -> None:
    assert stoker.normalize("Dr. Smith has 3 cats.") == "Doctor Smith has three cats."
    assert stoker.normalize("Dr. Smith", cleaner="none") == "Dr. Smith"


def test_settings_are_those_of_the_command() -> None:
    assert stoker.tokenize("ab", vocabulary="bytes") == run_json("text", "ab", "--vocabulary", "bytes")["ids"]
    with pytest.raises(stoker.ConfigError, match="vocabulary"):
        stoker.tokenize("ab", vocabulary="bites")
    with pytest.raises(stoker.ConfigError, match="tokenize"):
        stoker.tokenize("ab", vocabulari="bytes")
    with pytest.raises(stoker.DataError):
        stoker.tokenize(" ")


def test_import_is_light() -> None:
    """Neither numpy nor torch is imported for the names."""
    check = "import sys, stoker; stoker.features, stoker.train; assert not {'numpy', 'torch'} & set(sys.modules)"
    subprocess.run([sys.executable, "-c", check], check=True)
