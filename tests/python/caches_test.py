"""Cache and precompute(): the keys of the commands, progress, repair, Ctrl-C."""

from __future__ import annotations

import json
import os
import signal
import threading
import time
from pathlib import Path
from typing import Any

import pytest
from command import run_json, without

import stoker


@pytest.fixture(scope="session")
def voice(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Twelve clips, which no test changes."""
    folder = tmp_path_factory.mktemp("voice") / "voice"
    made = stoker.make_data(folder, clips=12, speakers=2, seed=3)
    assert made["clips"] == 12
    return folder


class Bar:
    """As tqdm: total and update(n)."""

    def __init__(self) -> None:
        self.total: int | None = None
        self.n = 0
        self.threads: set[int] = set()

    def update(self, n: int) -> None:
        self.n += n
        self.threads.add(threading.get_ident())


def bytes_of(folder: Path) -> dict[str, bytes]:
    """Every file of a cache but what tells of a run."""
    return {
        str(p.relative_to(folder)): p.read_bytes() for p in folder.rglob("*") if p.is_file() and "lock" not in p.name
    }


def test_precompute_equals_the_command(voice: Path, tmp_path: Path) -> None:
    calls: list[tuple[int, int, int]] = []
    built = stoker.precompute(
        voice, cache=tmp_path / "a", progress=lambda n, m: calls.append((n, m, threading.get_ident()))
    )
    told = run_json("precompute", str(voice), "--cache", str(tmp_path / "b"))
    assert without(built, "cache", "rejects_file") == without(told, "cache", "rejects_file")
    assert set(told) - {"command", "version", "seconds", "ok", "notices"} == set(built)
    assert built["built"] == 12 and bytes_of(tmp_path / "a") == bytes_of(tmp_path / "b")
    assert calls[-1][0] == calls[-1][1] > 0
    assert {thread for _, _, thread in calls} == {threading.get_ident()}
    assert [n for n, _, _ in calls] == sorted(n for n, _, _ in calls)
    bar = Bar()
    again = stoker.precompute(voice, cache=tmp_path / "a", progress=bar)
    assert (again["built"], again["reused"]) == (0, 12)
    assert bar.threads <= {threading.get_ident()}


def test_bar_is_moved_to_its_total(voice: Path, tmp_path: Path) -> None:
    bar = Bar()
    stoker.precompute(voice, cache=tmp_path, progress=bar)
    assert bar.total is not None and bar.n == bar.total > 0


def test_info_and_explain_equal_the_commands(voice: Path, tmp_path: Path) -> None:
    cache = stoker.Cache(voice, cache=tmp_path)
    assert cache.folder == str(tmp_path)
    with pytest.raises(stoker.StokerError) as none:
        cache.info()
    assert none.value.code == "E-CACHE-NONE"
    utterance = (voice / "metadata.csv").read_text().split("|")[0]
    assert {entry["state"] for entry in cache.explain(utterance)["entries"]} == {"missing"}
    stoker.precompute(voice, cache=tmp_path)
    assert cache.info() == without(run_json("cache", "info", "--cache", str(tmp_path)))
    told = run_json("cache", "explain", utterance, "--data", str(voice), "--cache", str(tmp_path))
    assert cache.explain(utterance) == without(told)
    other = stoker.Cache(voice, cache=tmp_path, preset="xtts").explain(utterance)
    assert "stale" in {entry["state"] for entry in other["entries"]}
    with pytest.raises(stoker.StokerError) as unknown:
        cache.explain("nobody")
    assert unknown.value.code == "E-CACHE-MISSING"


def test_verify_finds_and_fixes_what_is_bad(voice: Path, tmp_path: Path) -> None:
    stoker.precompute(voice, cache=tmp_path)
    whole = bytes_of(tmp_path)
    cache = stoker.Cache(voice, cache=tmp_path)
    good = cache.verify()
    assert good["ok"] and good["checked"] == good["ok_entries"] > 0
    shard = max((p for p in tmp_path.rglob("*") if p.is_file()), key=lambda p: p.stat().st_size)
    content = bytearray(shard.read_bytes())
    content[len(content) // 2] ^= 0xFF
    shard.write_bytes(content)
    bad = cache.verify()
    assert not bad["ok"] and bad["corrupt"] > 0 and bad["fixed"] == 0
    assert without(bad) == without(run_json("verify", str(voice), "--cache", str(tmp_path), exit_code=1))
    alone = stoker.Cache(cache=tmp_path).verify()
    assert not alone["ok"] and "rows" not in alone
    fixed = cache.verify(fix=True, sources=True)
    assert fixed["ok"] and fixed["fixed"] == bad["corrupt"] and fixed["failed"] == 0
    assert bytes_of(tmp_path) == whole and cache.verify()["ok"]


def test_a_fix_needs_the_data(tmp_path: Path) -> None:
    with pytest.raises(stoker.ConfigError) as caught:
        stoker.Cache(cache=tmp_path).verify(fix=True)
    assert caught.value.code == "E-DATA-SOURCE"
    with pytest.raises(stoker.ConfigError) as nothing:
        stoker.precompute()
    assert nothing.value.code == "E-DATA-SOURCE"
    with pytest.raises(stoker.ConfigError):
        stoker.Cache().folder  # noqa: B018


def test_what_a_listener_raises_ends_the_call(voice: Path, tmp_path: Path) -> None:
    def fail(done: int, total: int) -> None:
        raise LookupError("no screen")

    with pytest.raises(LookupError, match="no screen"):
        stoker.precompute(voice, cache=tmp_path, progress=fail)
    with pytest.raises(TypeError, match="update"):
        stoker.precompute(voice, cache=tmp_path, progress=3)  # type: ignore[arg-type]
    assert stoker.precompute(voice, cache=tmp_path)["rows"] == 12


def test_ctrl_c_leaves_whole_records(tmp_path: Path) -> None:
    data = tmp_path / "voice"
    stoker.make_data(data, clips=3000, lengths="uniform:2-3")  # a quarter of a second at least
    sent: list[float] = []

    def interrupt(done: int, total: int) -> None:
        if done > 20 and not sent:
            sent.append(time.monotonic())
            os.kill(os.getpid(), signal.SIGINT)

    with pytest.raises(KeyboardInterrupt):
        stoker.precompute(data, cache=tmp_path / "cache", num_workers=1, progress=interrupt)
    # 0.2 s on a machine of its own; a build machine may have others on it.
    assert time.monotonic() - sent[0] < 2.0
    checked = stoker.Cache(data, cache=tmp_path / "cache").verify()
    assert checked["corrupt"] == 0 and checked["stale"] == 0 and checked["missing"] > 0
    rest = stoker.precompute(data, cache=tmp_path / "cache")
    assert rest["rows"] == 3000 and stoker.Cache(data, cache=tmp_path / "cache").verify()["ok"]


def test_other_threads_run_meanwhile(voice: Path, tmp_path: Path) -> None:
    ticks = 0
    is_over = threading.Event()

    def tick() -> None:
        nonlocal ticks
        while not is_over.wait(0.001):
            ticks += 1

    thread = threading.Thread(target=tick)
    thread.start()
    try:
        stoker.precompute(voice, cache=tmp_path)
    finally:
        is_over.set()
        thread.join()
    assert ticks > 3


def test_reports_are_plain_json(voice: Path, tmp_path: Path) -> None:
    report: Any = stoker.precompute(voice, cache=tmp_path)
    assert json.loads(json.dumps(report)) == report
