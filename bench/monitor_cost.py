#!/usr/bin/env python3
"""Measures what watching costs a feed: the rate of a paced and of an unpaced consumer, alone and while it is watched.

    python3 -m bench.monitor_cost --build build --data FOLDER [--seconds 4] [--rounds 5] [--out F.json]

Arms are run in turn: `alone`; `monitor`, which samples once a second; `slow`, with 200 clients of its endpoint that
send one byte a second; `storm`, with 1,000 scrapes a second; `broken`, with 10,000 malformed requests. What clients
cost is theirs: these three are compared with the same clients at a server that only accepts and closes. The bar is 1 %
of the rate of a paced consumer; where the whole interval of the change is beyond it, the exit status is 1.
"""

import argparse
import contextlib
import datetime
import json
import random
import socket
import statistics
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from bench.program import ended, run_stoker
from bench.record import Json, processor

BAR = 0.01
NUM_SLOW, NUM_BROKEN, SCRAPES_PER_S = 200, 10_000, 1000
SCRAPE = b"GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n"


class NullServer:
    """Accepts and closes: what is left is the cost of the clients."""

    def __init__(self) -> None:
        self.listener = socket.create_server(("127.0.0.1", 0), backlog=256)
        self.port: int = self.listener.getsockname()[1]
        self.thread = threading.Thread(target=self.serve, daemon=True)
        self.thread.start()

    def serve(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                self.listener.accept()[0].close()


def connect(port: int) -> socket.socket | None:
    try:
        return socket.create_connection(("127.0.0.1", port), timeout=0.2)
    except OSError:
        return None


def exchange(port: int, request: bytes) -> None:
    client = connect(port)
    if client is None:
        return
    with client, contextlib.suppress(OSError):
        client.sendall(request)
        client.recv(1 << 16)


def slow_clients(port: int, is_over: threading.Event) -> None:
    clients = [connect(port) for _ in range(NUM_SLOW)]
    while not is_over.wait(1.0):
        for i, client in enumerate(clients):
            try:
                if client is None:
                    raise OSError
                client.send(b"G")
            except OSError:
                clients[i] = connect(port)
    for client in clients:
        if client is not None:
            client.close()


def scrape_storm(port: int, is_over: threading.Event) -> None:
    begun, count = time.monotonic(), 0
    while not is_over.is_set():
        exchange(port, SCRAPE)
        count += 1
        is_over.wait(max(0.0, begun + count / SCRAPES_PER_S - time.monotonic()))


def broken_clients(port: int, is_over: threading.Event) -> None:
    chance = random.Random(42)
    for _ in range(NUM_BROKEN):
        if is_over.is_set():
            return
        request = bytearray(SCRAPE)
        for _ in range(chance.randint(1, 6)):
            request[chance.randrange(len(request))] = chance.randrange(256)
        exchange(port, bytes(request))
        is_over.wait(0.001)


CLIENTS: dict[str, Callable[[int, threading.Event], None]] = {
    "slow": slow_clients,
    "storm": scrape_storm,
    "broken": broken_clients,
}


@contextlib.contextmanager
def monitor(program: str) -> Iterator[int]:
    """The port of a monitor's endpoint."""
    command = [program, "monitor", "--http", "127.0.0.1:0"]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True) as run:
        assert run.stderr is not None
        line = ""
        while "serving" not in line:
            line = run.stderr.readline()
        try:
            yield int(line.split("127.0.0.1:")[1].split("/")[0])
        finally:
            run.terminate()
            run.wait(10)


@contextlib.contextmanager
def clients_at(port: int, kind: str) -> Iterator[None]:
    is_over = threading.Event()
    thread = threading.Thread(target=CLIENTS[kind], args=(port, is_over))
    thread.start()
    try:
        yield
    finally:
        is_over.set()
        thread.join()


def rate(options: argparse.Namespace, pace: list[str]) -> float:
    words = ["bench", "feed", "--data", str(options.data), "--device", "cpu", "--repeat", "1"]
    words += ["--seconds", str(options.seconds), *pace]
    report = run_stoker(options.build / "stoker", *words, tells=False)
    row = report["rows"][0] if report.get("rows") else report
    return float(row["clips_per_s"])


def measure(options: argparse.Namespace, arm: str, pace: list[str]) -> float:
    program = str(options.build / "stoker")
    if arm == "alone":
        return rate(options, pace)
    kind = arm.removesuffix("-null")
    if arm.endswith("-null"):
        with clients_at(NullServer().port, kind):
            return rate(options, pace)
    with monitor(program) as port:
        if arm == "monitor":
            return rate(options, pace)
        with clients_at(port, kind):
            return rate(options, pace)


def changes(rates: dict[str, list[float]], arm: str) -> Json:
    """The change against its control, round by round: median, and an interval of two standard errors."""
    control = rates["alone" if arm == "monitor" else f"{arm}-null"]
    each = [watched / plain - 1 for watched, plain in zip(rates[arm], control, strict=True)]
    error = statistics.stdev(each) / len(each) ** 0.5 if len(each) > 1 else 0.0
    middle = statistics.median(each)
    return {"change": middle, "low": middle - 2 * error, "high": middle + 2 * error}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=Path, default=Path("build"))
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--seconds", type=float, default=4)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--step-ms", type=float, default=5)
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    arms = ["alone", "monitor", *(arm for kind in CLIENTS for arm in (f"{kind}-null", kind))]
    result: Json = {
        "at": datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
        "processor": processor(),
        "command": " ".join(sys.argv),
    }
    for name, pace in (("paced", ["--step-ms", str(options.step_ms)]), ("unpaced", list[str]())):
        rates: dict[str, list[float]] = {arm: [] for arm in arms}
        for number in range(options.rounds):
            for arm in arms if number % 2 == 0 else reversed(arms):
                rates[arm].append(measure(options, arm, pace))
        rows = {arm: changes(rates, arm) for arm in ("monitor", *CLIENTS)}
        for arm, row in rows.items():
            print(f"{name:8} {arm:8} {row['change']:+.2%} ({row['low']:+.2%} to {row['high']:+.2%})")
        result[name] = {"clips_per_s": rates, "changes": rows}
    result["ok"] = all(row["high"] >= -BAR for row in result["paced"]["changes"].values())
    if options.out:
        options.out.write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")
    return 0 if result["ok"] else 1


if __name__ == "__main__":
    sys.exit(ended(main))
