"""What a person at a terminal reads: progress as wide as the window, and once what Ctrl-C kept."""

from __future__ import annotations

import fcntl
import os
import pty
import re
import select
import signal
import struct
import subprocess
import sys
import termios
import time
from collections.abc import Callable
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
from feed_run import Stoker, expect, stoker_of_command_line

TIME_LIMIT_S = 100
MANY = 100_000  # utterances that no run of this test makes to the end


def wait_for(what: str, is_there: Callable[[], bool]) -> None:
    end = time.monotonic() + TIME_LIMIT_S
    while not is_there():
        expect(time.monotonic() < end, f"no {what} within {TIME_LIMIT_S} s")
        time.sleep(0.01)


def read_terminal(leader: int, enough: Callable[[str], bool]) -> str:
    text = ""
    end = time.monotonic() + TIME_LIMIT_S
    while time.monotonic() < end and not enough(text):
        if select.select([leader], [], [], 0.1)[0]:
            try:
                chunk = os.read(leader, 1 << 16)
            except OSError:  # the program has closed its end
                break
            text += chunk.decode("utf-8", "replace")
    return text


def progress_fits(stoker: Stoker, num_columns: int, folder: Path) -> None:
    """Progress on a terminal of that width never reaches its last column."""
    leader, follower = pty.openpty()
    fcntl.ioctl(follower, termios.TIOCSWINSZ, struct.pack("HHHH", 24, num_columns, 0, 0))
    command = [str(stoker.program), "data", "make", "--out", str(folder), "--clips", str(MANY)]
    run = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=follower, env={"LANG": "C.UTF-8"})
    os.close(follower)
    text = read_terminal(leader, lambda seen: seen.count("\r\x1b[K") > 3)
    run.send_signal(signal.SIGINT)
    text += read_terminal(leader, lambda _: run.poll() is not None)
    run.wait(TIME_LIMIT_S)
    os.close(leader)
    lines = [line for line in re.split(r"\r\x1b\[K|\r?\n", text) if line.startswith("make ")]
    expect(len(lines) > 3, f"no progress at {num_columns} columns: {text!r}")
    for line in lines:
        expect(len(line) < num_columns, f"{len(line)} columns of {num_columns}: {line!r}")
        expect(" %" in line and " left" in line, f"how far and how long is not said: {line!r}")


def stopped(command: list[str], what: str, is_there: Callable[[], bool]) -> str:
    """What stderr holds after Ctrl-C, sent when the work has begun."""
    run = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    wait_for(what, is_there)
    run.send_signal(signal.SIGINT)
    said = run.communicate(timeout=TIME_LIMIT_S)[1]
    expect(run.returncode == 128 + signal.SIGINT, f"{command}: exit {run.returncode}\n{said}")
    expect(said.count("error[E-STOPPED]: stopped by Ctrl-C (SIGINT)\nhelp: ") == 1, f"{command} said {said!r}")
    return said.split("help: ")[1]


def stop_of_make(stoker: Stoker, folder: Path) -> None:
    command = [str(stoker.program), "data", "make", "--out", str(folder), "--clips", str(MANY)]
    said = stopped(command, "sound file", lambda: any(folder.glob("wavs/*.wav")))
    expect("run the same command with --overwrite" in said, said)
    again = [*command[:-1], "3", "--overwrite"]
    expect(subprocess.run(again, capture_output=True, check=False).returncode == 0, "--overwrite does not go on")


def stop_of_precompute(stoker: Stoker, data: Path) -> None:
    command = [str(stoker.program), "precompute", "--data", str(data), "--num-workers", "1"]
    said = stopped(command, "cache folder", lambda: any(data.glob(".stoker/*/lock")))
    expect("in the cache; run the same command again to go on" in said, said)


def stop_of_stream(stoker: Stoker) -> None:
    state = stoker.folder / "state"
    command = [str(stoker.program), "stream", "--data", str(stoker.data), "--device", "cpu", "--batches", "1000000"]
    said = stopped([*command, "--state-out", str(state)], "state", state.exists)
    expect(f"--state-in {state}" in said, said)
    again = [*command[:-1], "1", "--state-in", str(state)]
    done = subprocess.run(again, capture_output=True, text=True, check=False)
    expect(done.returncode == 0 and "1 batch, " in done.stderr, f"the state does not go on: {done.stderr}")


def counts_agree(stoker: Stoker) -> None:
    """One unit a line, and a speed only where something was built."""

    def lines(*arguments: str) -> str:
        command = [str(stoker.program), *arguments, "--data", str(stoker.data)]
        return subprocess.run(command, capture_output=True, text=True, check=False).stdout

    expect("40 utterances built (80 records), 0 reused; " in lines("precompute"), "first precompute")
    again = lines("precompute")
    expect("nothing to build: 40 utterances in the cache, " in again and "/s" not in again, again)
    expect("80 records of 40 utterances checked: 80 ok, " in lines("verify"), "verify")


def main() -> None:
    with stoker_of_command_line(__doc__, num_clips=40) as stoker:
        counts_agree(stoker)
        for num_columns in (40, 80):
            progress_fits(stoker, num_columns, stoker.folder / f"made-{num_columns}")
        stop_of_make(stoker, stoker.folder / "made")
        large = stoker.folder / "large"
        command = [str(stoker.program), "data", "make", "--out", str(large), "--clips", "600"]
        subprocess.run(command, capture_output=True, check=True)
        stop_of_precompute(stoker, large)
        stop_of_stream(stoker)


if __name__ == "__main__":
    main()
