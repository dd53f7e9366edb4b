"""`python -m stoker` is the command, with its exit status and its signals; `bench` alone is the package's own."""

import importlib.util
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

import stoker.__main__ as command
from stoker import program


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-m", "stoker", *arguments], check=False, capture_output=True, text=True)


def test_says_its_version() -> None:
    import stoker

    done = run("--version")
    assert done.returncode == 0 and stoker.__version__ in done.stdout


def test_passes_on_arguments_and_exit_status() -> None:
    done = run("data", "check", "/nonexistent folder", "--json")
    assert done.returncode not in (0, 1) and "/nonexistent folder" in done.stdout + done.stderr


def test_is_one_process() -> None:
    running = subprocess.Popen([sys.executable, "-m", "stoker", "config", "show"], stdout=subprocess.PIPE)
    running.send_signal(signal.SIGKILL)
    running.communicate()
    assert running.returncode == -signal.SIGKILL


@pytest.fixture
def with_bench(monkeypatch: pytest.MonkeyPatch) -> Callable[[bool], None]:
    """Whether stoker.bench is there."""

    def choose(is_there: bool) -> None:
        monkeypatch.setattr(importlib.util, "find_spec", lambda name: object() if is_there else None)

    return choose


def test_bench_alone_is_the_packages(with_bench: Callable[[bool], None]) -> None:
    with_bench(True)
    assert command.is_own_bench(["bench"]) and command.is_own_bench(["bench", "--json"])


def test_bench_with_a_name_is_the_commands(with_bench: Callable[[bool], None]) -> None:
    with_bench(True)
    assert not command.is_own_bench(["bench", "feed"]) and not command.is_own_bench(["demo"])
    assert not command.is_own_bench([])
    with_bench(False)
    assert not command.is_own_bench(["bench"])


def test_finds_the_program_of_an_installed_package(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(program, "__file__", str(tmp_path / "lib" / "stoker" / "program.py"))
    found = tmp_path / "lib" / "stoker" / "bin" / "stoker"
    found.parent.mkdir(parents=True)
    with pytest.raises(SystemExit, match="expected the program stoker in .*found none\nhelp: install"):
        command.run_program(["demo"])
    found.write_text("#!/bin/sh\n", encoding="utf-8")
    found.chmod(0o755)
    assert program.program_path() == found
