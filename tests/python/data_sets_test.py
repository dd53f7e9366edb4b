"""make_data() and data_check(): the bytes and the keys of the commands."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from command import run_json, without
from hypothesis import given, settings
from hypothesis import strategies as st

import stoker


@settings(max_examples=8, deadline=None)
@given(
    clips=st.integers(1, 6),
    speakers=st.integers(1, 3),
    language=st.sampled_from(["en", "fa"]),
    rate_hz=st.sampled_from([8_000, 22_050, 48_000]),
    seed=st.integers(0, 2**40),
)
def test_made_data_have_the_bytes_of_the_command(
    tmp_path_factory: pytest.TempPathFactory, clips: int, speakers: int, language: str, rate_hz: int, seed: int
) -> None:
    folder = tmp_path_factory.mktemp("made")
    made = stoker.make_data(
        folder / "a", clips, speakers=speakers, language=language, sample_rate=rate_hz, seed=seed, num_workers=2
    )
    words = ["--clips", str(clips), "--speakers", str(speakers), "--language", language, "--seed", str(seed)]
    told = run_json("data", "make", "--out", str(folder / "b"), "--sample-rate", str(rate_hz), *words)
    assert without(made, "out") == without(told, "out")
    assert made["out"] == str(folder / "a")


def test_options_are_refused_by_name(tmp_path: Path) -> None:
    refused: list[dict[str, Any]] = [{"language": "xx"}, {"lengths": "long"}, {"sample_rate": 7_999}]
    for wrong in refused:
        with pytest.raises(stoker.ConfigError) as caught:
            stoker.make_data(tmp_path / "a", 1, **wrong)
        assert caught.value.code == "E-MAKE-OPTION"
    stoker.make_data(tmp_path / "a", 1)
    with pytest.raises(stoker.StokerError) as there:
        stoker.make_data(tmp_path / "a", 1)
    assert there.value.code == "E-MAKE-FOLDER"
    assert stoker.make_data(tmp_path / "a", 2, overwrite=True)["clips"] == 2


def test_check_equals_the_command(tmp_path: Path) -> None:
    stoker.make_data(tmp_path / "voice", 6, seed=9)
    good = stoker.data_check(tmp_path / "voice")
    assert good["ok"] and good["accepted"] == 6 and good["rejects_file"] is None
    assert without(good) == without(run_json("data", "check", str(tmp_path / "voice")))
    wav = sorted((tmp_path / "voice" / "wavs").iterdir())[0]
    wav.write_bytes(wav.read_bytes()[:400])
    steps: list[tuple[int, int]] = []
    bad = stoker.data_check(tmp_path / "voice", max_bad_rows=0, progress=lambda *step: steps.append(step))
    assert not bad["ok"] and bad["rejected"] == 1 and bad["error"]["code"] == "E-DATA-REJECTS"
    assert Path(bad["rejects_file"]).read_text().count("\n") == 1
    assert steps[-1][0] == 6
    told = run_json("data", "check", str(tmp_path / "voice"), "--set", "data.max_bad_rows=0", exit_code=3)
    assert without(bad) == without(told)
