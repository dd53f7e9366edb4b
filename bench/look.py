#!/usr/bin/env python3
"""Does everything that a person looks at work on this machine while a model trains on it?

    python3 -m bench.look --stoker build/stoker --out FOLDER [--device cuda] [--train-s 25] [--keep-json F]

Trains on the built-in voice and looks at the run as its owner would: at terminals of 80x24 and 200x50, by the address
that it serves, with a table, a trace, a verdict and a report; then asks for settings and for the self-test. What was
seen stays in FOLDER, so that it can be looked at: screen-*.txt (the last whole picture of each terminal, with its
colours; `cat` shows it), live.html, metrics.txt, monitor.csv, *.pftrace, report.html, settings.yaml. Fails where a
command failed or its output lacks what the machine has, such as the figures of a GPU that trains.
"""

from __future__ import annotations

import argparse
import csv
import re
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from bench.program import STATUS_STARVED, RunFailed, ended, run_stoker
from bench.record import Bars, Json, finish

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests" / "e2e"))
from feed_run import Stoker
from monitor_run import Terminal

CLIPS, SPEAKERS = 400, 4
SCREENS = ((80, 24), (200, 50))
SCREEN_S, TABLE_S = 4.0, 4.0
SERVED = re.compile(r"serving (\S+)")
GPU_METRIC = re.compile(r"^stoker_gpu_utilization_ratio\{.*\} ([0-9.e+-]+)$", re.MULTILINE)
LIMIT_S = 120.0


@contextmanager
def training(asked: argparse.Namespace, run: Path) -> Iterator[str]:
    """The address that a training serves, while it runs."""
    words = [str(asked.stoker), "train", "--data", str(asked.out / "voice"), "--checkpoint-dir", str(run)]
    words += ["--model-size", asked.model_size, "--device", asked.device, "--steps", "1000000", "--epochs", "1000000"]
    words += ["--seconds", str(asked.train_s), "--metrics", "127.0.0.1:0", "--report", str(asked.out / "report.html")]
    with (asked.out / "train.log").open("wb") as log:
        learner = subprocess.Popen(words, stdout=log, stderr=log)
    try:
        yield address_of(asked.out / "train.log", learner)
        if learner.wait(asked.train_s + LIMIT_S) != 0:
            raise RunFailed(f"the training ended with {learner.returncode}: see {asked.out / 'train.log'}")
    finally:
        learner.kill()


def address_of(log: Path, learner: subprocess.Popen[bytes]) -> str:
    end = time.monotonic() + LIMIT_S
    while time.monotonic() < end and learner.poll() is None:
        if found := SERVED.search(log.read_text(encoding="utf-8", errors="replace")):
            return found.group(1)
        time.sleep(0.05)
    raise RunFailed(f"the training serves no address: see {log}")


def screen(asked: argparse.Namespace, run: Path, columns: int, rows: int) -> int:
    """How many rows the last whole picture has that a terminal of this size shows."""
    terminal = Terminal(Stoker(asked.stoker.resolve(), asked.out.resolve()), columns, rows, "--run", str(run))
    end = time.monotonic() + SCREEN_S
    terminal.read_until(lambda: time.monotonic() > end)
    terminal.end("q")
    (asked.out / f"screen-{columns}x{rows}.txt").write_text(terminal.pictures()[-1].replace("\r", ""), encoding="utf-8")
    return sum(bool(row.strip()) for row in terminal.frames()[-1])


def fetch(url: str, target: Path) -> str:
    with urllib.request.urlopen(url, timeout=LIMIT_S) as answer:
        text: str = answer.read().decode("utf-8")
    target.write_text(text, encoding="utf-8")
    return text


def watch(asked: argparse.Namespace, run: Path, bars: Bars, address: str) -> None:
    """What can be seen only while it trains."""
    time.sleep(asked.warm_s)
    for columns, rows in SCREENS:
        bars.at_least(f"rows on a terminal of {columns}x{rows}", screen(asked, run, columns, rows), 8)
    page = fetch(address, asked.out / "live.html")
    bars.at_least("live page says how fast the feed is", float("batches" in page), 1)
    metrics = fetch(address + "metrics", asked.out / "metrics.txt")
    bars.at_least("metrics of the feed", metrics.count("\nstoker_feed_"), 5)
    table = asked.out / "monitor.csv"
    sampled = ["--interval", "0.5", "--duration", str(TABLE_S), "--csv", str(table)]
    run_stoker(asked.stoker, "monitor", "--run", str(run), *sampled)
    if asked.device == "cpu":
        return
    busy = [float(found) for found in GPU_METRIC.findall(metrics)]
    bars.at_least("GPU in use, by the metrics", max(busy, default=0.0), 0.01)
    with table.open(encoding="utf-8") as lines:
        used = [float(row["utilization"] or 0) for row in csv.DictReader(lines)]
    bars.at_least("GPU in use, by the table", max(used, default=0.0), 1)


def ask_after(asked: argparse.Namespace, run: Path, bars: Bars) -> Json:
    """What is asked of a run that has ended, and of the machine."""
    data = ["--data", str(asked.out / "voice"), "--device", asked.device]
    said: Json = {}
    trace = str(asked.out / "run.pftrace")
    said["profile_run"] = run_stoker(asked.stoker, "profile", "--run", str(run), "--trace", trace)
    trace = str(asked.out / "feed.pftrace")
    paced = ["--seconds", "3", "--step-ms", "5", "--trace", trace]
    said["profile"] = run_stoker(asked.stoker, "profile", *data, *paced)
    said["diagnose_run"] = run_stoker(asked.stoker, "diagnose", "--run", str(run), statuses=(0, STATUS_STARVED))
    run_stoker(asked.stoker, "report", str(run), "--report", str(asked.out / "report-later.html"))
    run_stoker(asked.stoker, "report", str(run), "--report", str(asked.out / "report-fa.html"), "--language", "fa")
    said["recommend"] = run_stoker(
        asked.stoker, "config", "recommend", *data, "--budget-s", "15", "--out", str(asked.out / "settings.yaml")
    )
    run_stoker(asked.stoker, "config", "check", str(asked.out / "settings.yaml"))
    checks = run_stoker(asked.stoker, "selftest", *(["--gpu"] if asked.device != "cpu" else []))["checks"]
    bars.at_least("checks of the self-test that hold", sum(check["ok"] for check in checks) / len(checks), 1)
    for name in ("report.html", "report-later.html", "report-fa.html"):
        bars.at_most(f"bytes of {name}", (asked.out / name).stat().st_size, 1_000_000)
    for name in ("run.pftrace", "feed.pftrace"):
        bars.at_least(f"bytes of {name}", (asked.out / name).stat().st_size, 10_000)
    return said | {"selftest": checks}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--stoker", type=Path, default=Path("build/stoker"))
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--model-size", default="small")
    parser.add_argument("--train-s", type=float, default=25.0)
    parser.add_argument("--warm-s", type=float, default=5.0, help="of training, before the first look")
    parser.add_argument("--keep-json", type=Path)
    asked = parser.parse_args()
    asked.out.mkdir(parents=True, exist_ok=True)
    voice = str(asked.out / "voice")
    run_stoker(asked.stoker, "data", "make", "--out", voice, "--clips", str(CLIPS), "--speakers", str(SPEAKERS))
    bars, run = Bars(), asked.out / "run"
    with training(asked, run) as address:
        watch(asked, run, bars, address)
    return finish("look", {"said": ask_after(asked, run, bars)}, bars, asked.keep_json)


if __name__ == "__main__":
    sys.exit(ended(main))
