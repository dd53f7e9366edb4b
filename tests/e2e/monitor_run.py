"""Runs `stoker monitor` for its end-to-end tests: on a terminal, with an endpoint, with a feed, with planted cards."""

from __future__ import annotations

import fcntl
import os
import pty
import re
import select
import shutil
import signal
import struct
import subprocess
import termios
import time
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from feed_run import Stoker, expect

TIME_LIMIT_S = 100
ESCAPE = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")


def wait_for(what: str, is_there: Callable[[], bool]) -> None:
    end = time.monotonic() + TIME_LIMIT_S
    while not is_there():
        expect(time.monotonic() < end, f"no {what} within {TIME_LIMIT_S} s")
        time.sleep(0.02)


def environment(stoker: Stoker, **more: str) -> dict[str, str]:
    """Rings go to a folder of this test, and no setting of the person who runs it matters."""
    runtime = stoker.folder / "runtime"
    runtime.mkdir(mode=0o700, exist_ok=True)
    return {"PATH": os.environ["PATH"], "LANG": "C.UTF-8", "TERM": "xterm", "XDG_RUNTIME_DIR": str(runtime), **more}


def with_cards(stoker: Stoker) -> dict[str, str]:
    """The driver's library of the tests, which has two cards, in the place of the real one."""
    folder = stoker.folder / "driver"
    folder.mkdir(exist_ok=True)
    shutil.copy(stoker.program.parent / "tests" / "cuda" / "libfake_nvml.so", folder / "libnvidia-ml.so.1")
    return {"LD_LIBRARY_PATH": str(folder)}


@contextmanager
def feed_process(stoker: Stoker) -> Iterator[subprocess.Popen[bytes]]:
    """A feed that runs until the block ends."""
    command = [str(stoker.program), "stream", "--data", str(stoker.data), "--device", "cpu", "--batches", "100000000"]
    with subprocess.Popen(
        [*command, "--batch-size", "4"],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        env=environment(stoker),
    ) as run:
        ring = stoker.folder / "runtime" / "stoker" / f"{run.pid}.ring"
        wait_for("ring of records", ring.exists)
        try:
            yield run
        finally:
            run.kill()
            run.wait(TIME_LIMIT_S)


class Terminal:
    """A window of a given size with the program in it."""

    def __init__(self, stoker: Stoker, columns: int, rows: int, *arguments: str, **more: str) -> None:
        self.leader, follower = pty.openpty()
        self.resize(columns, rows)
        command = [str(stoker.program), "monitor", "--interval", "0.1", *arguments]
        self.run = subprocess.Popen(
            command,
            stdin=follower,
            stdout=follower,
            stderr=follower,
            env=environment(stoker, **more),
            start_new_session=True,
            preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0),
        )
        os.close(follower)
        self.text = ""

    def resize(self, columns: int, rows: int) -> None:
        fcntl.ioctl(self.leader, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    def read_until(self, enough: Callable[[], bool]) -> None:
        end = time.monotonic() + TIME_LIMIT_S
        while time.monotonic() < end and not enough():
            if not select.select([self.leader], [], [], 0.1)[0]:
                continue
            try:
                self.text += os.read(self.leader, 1 << 16).decode("utf-8", "replace")
            except OSError:  # the program has closed its end
                break
        expect(enough(), f"the terminal shows only {self.text[-3000:]!r}")

    def pictures(self) -> list[str]:
        """Each whole frame, with its colours."""
        return re.findall(r"\x1b\[\?2026h\x1b\[H(.*?)\x1b\[J\x1b\[\?2026l", self.text, re.DOTALL)

    def frames(self) -> list[list[str]]:
        """The rows of each whole frame, without colours."""
        return [[ESCAPE.sub("", row) for row in re.split(r"\r+\n", picture)] for picture in self.pictures()]

    def end(self, how: str | signal.Signals) -> int:
        if isinstance(how, str):
            os.write(self.leader, how.encode())
        else:
            self.run.send_signal(how)
        self.read_until(lambda: "\x1b[?1049l" in self.text)
        code = self.run.wait(TIME_LIMIT_S)
        while select.select([self.leader], [], [], 0)[0]:  # what was said last
            try:
                self.text += os.read(self.leader, 1 << 16).decode("utf-8", "replace")
            except OSError:
                break
        os.close(self.leader)
        return code


class Endpoint:
    """`stoker monitor --http` on a free port, until closed."""

    def __init__(self, stoker: Stoker, *arguments: str, **more: str) -> None:
        command = [str(stoker.program), "monitor", "--interval", "0.1", "--http", "127.0.0.1:0", *arguments]
        self.run = subprocess.Popen(
            command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, env=environment(stoker, **more)
        )
        assert self.run.stderr is not None
        said = ""
        while "serving " not in said:
            line = self.run.stderr.readline()
            expect(line != "", f"no endpoint: {said}")
            said += line
        self.url = said.split("serving ")[1].split()[0]

    def get(self, path: str) -> str:
        with urllib.request.urlopen(self.url.rstrip("/") + path, timeout=TIME_LIMIT_S) as answer:
            text: str = answer.read().decode("utf-8")
            return text

    def close(self) -> str:
        self.run.send_signal(signal.SIGTERM)
        said = self.run.communicate(timeout=TIME_LIMIT_S)[1]
        expect(self.run.returncode == 128 + signal.SIGTERM, f"exit {self.run.returncode}: {said}")
        return said
