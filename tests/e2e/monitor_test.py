"""`stoker monitor` as people use it: on terminals of two sizes, as lines, CSV and JSON, for Prometheus and Grafana."""

from __future__ import annotations

import csv
import io
import json
import re
import signal
import subprocess
import sys
import unicodedata
from pathlib import Path

from prometheus_client.parser import text_string_to_metric_families

sys.path.insert(0, str(Path(__file__).parent))
from feed_run import Stoker, expect, stoker_of_command_line
from monitor_run import TIME_LIMIT_S, Endpoint, Terminal, environment, feed_process, wait_for, with_cards

DASHBOARD = Path(__file__).resolve().parents[2] / "examples" / "grafana" / "stoker.json"
COLUMNS = "timestamp,gpu_id,utilization,memory_used_gb,memory_total_gb,memory_util_pct,temp_c,power_w,fan_pct"


def run(stoker: Stoker, *arguments: str, **more: str) -> subprocess.CompletedProcess[str]:
    command = [str(stoker.program), "monitor", *arguments]
    return subprocess.run(
        command, capture_output=True, text=True, timeout=TIME_LIMIT_S, check=False, env=environment(stoker, **more)
    )


def width(row: str) -> int:
    return sum(0 if unicodedata.combining(c) else 2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in row)


def view_fits(stoker: Stoker, columns: int, rows: int) -> None:
    """The view of a running feed, whole within its window, and the terminal as it was afterwards."""
    terminal = Terminal(stoker, columns, rows)
    terminal.read_until(lambda: any("Verdict" in row for frame in terminal.frames() for row in frame))
    expect(terminal.end("q") == 0, "q does not end the view")
    expect(terminal.text.startswith("\x1b[?1049h\x1b[?25l"), f"no screen of its own: {terminal.text[:40]!r}")
    expect(terminal.text.rstrip().endswith("\x1b[?25h\x1b[?1049l"), f"not given back: {terminal.text[-200:]!r}")
    for frame in terminal.frames():
        expect(len(frame) <= rows, f"{len(frame)} rows of {rows}")
        for row in frame:
            expect(width(row) <= columns, f"{width(row)} columns of {columns}: {row!r}")
    shown = "\n".join(terminal.frames()[-1])
    for part in ("CPU", "Memory", "Disk", "no GPU: ", "batches/s", "clips/s", "Stall", "Ready", "Verdict"):
        expect(part in shown, f"no {part} at {columns}x{rows}:\n{shown}")


def view_follows_the_window(stoker: Stoker) -> None:
    terminal = Terminal(stoker, 60, 12, NO_COLOR="1", LANG="C", **with_cards(stoker))
    terminal.read_until(lambda: bool(terminal.frames()))
    terminal.resize(160, 40)
    terminal.read_until(lambda: any(len(row) > 100 for frame in terminal.frames() for row in frame))
    expect(terminal.end(signal.SIGINT) == 130, "Ctrl-C")
    frames = terminal.text.split("\x1b[?1049l")[0]
    expect(re.search(r"\x1b\[[0-9;]*m", frames) is None, "colours despite NO_COLOR")
    expect(frames.isascii(), "not ASCII in a locale without UTF-8")
    expect("GPU 0" in frames and "GPU 1" in frames, "not every card has its row")
    expect("error[E-STOPPED]" in terminal.text.split("\x1b[?1049l")[1], "the end is said on the other screen")


def lines_and_json(stoker: Stoker) -> None:
    done = run(stoker, "--interval", "0.1", "--duration", "0.5")
    expect(done.returncode == 0 and "\x1b" not in done.stdout, done.stderr)
    lines = done.stdout.splitlines()
    expect(len(lines) >= 2 and all(re.match(r"\d\d:\d\d:\d\d  cpu ", line) for line in lines), done.stdout)
    expect("no GPU: " in done.stderr and "no feed is watched" in done.stderr, done.stderr)
    done = run(stoker, "--interval", "0.1", "--duration", "0.5", "--json", **with_cards(stoker))
    report = json.loads(done.stdout)
    expect(report["command"] == "monitor" and report["ok"] and report["samples"] >= 2, done.stdout)
    expect([card["utilization"] for card in report["means"]["gpus"]] == [40.0, 41.0], done.stdout)
    expect(report["last"]["feed"]["state"] == "none", done.stdout)


def tables(stoker: Stoker) -> None:
    path = stoker.folder / "gpu.csv"
    cards = with_cards(stoker)
    for _ in range(2):
        done = run(stoker, "--interval", "0.1", "--duration", "0.25", "--csv", str(path), **cards)
        expect(done.returncode == 0, done.stderr)
    rows = list(csv.DictReader(io.StringIO(path.read_text())))
    expect(path.read_text().splitlines()[0] == COLUMNS and path.read_text().count("timestamp") == 1, path.read_text())
    expect(len(rows) >= 8 and {row["gpu_id"] for row in rows} == {"0", "1"}, path.read_text())
    expect(rows[0]["utilization"] == "40" and rows[0]["fan_pct"] == "33" and rows[1]["fan_pct"] == "", str(rows[:2]))
    done = run(stoker, "--interval", "0.1", "--duration", "0.15", "--csv", "-", "--gpu", "1", **cards)
    expect(done.stdout.splitlines()[0] == COLUMNS and ",1,41," in done.stdout, done.stdout)
    expect(",0,40," not in done.stdout, "--gpu 1 shows the other card, too")
    done = subprocess.run(
        [str(stoker.program), "monitor", "--duration", "0.1", "--log-file"],
        cwd=stoker.folder,
        env=environment(stoker, **cards),
        capture_output=True,
        check=False,
        timeout=TIME_LIMIT_S,
        text=True,
    )
    expect(len(list(stoker.folder.glob("gpu_monitor_*_*.csv"))) == 1, done.stderr)


def counters(text: str) -> dict[tuple[str, tuple[tuple[str, str], ...]], float]:
    families = list(text_string_to_metric_families(text))
    expect(all(family.documentation and family.type in ("counter", "gauge") for family in families), "HELP or TYPE")
    samples = [sample for family in families if family.type == "counter" for sample in family.samples]
    return {(sample.name, tuple(sorted(sample.labels.items()))): sample.value for sample in samples}


def endpoint(stoker: Stoker) -> None:
    with feed_process(stoker) as feed:
        served = Endpoint(stoker, "--pid", str(feed.pid), **with_cards(stoker))
        wait_for("batch", lambda: counters(served.get("/metrics"))[("stoker_feed_batches_total", ())] > 0)
        before = counters(served.get("/metrics"))
        name = ("stoker_feed_batches_total", ())
        wait_for("further batch", lambda: counters(served.get("/metrics"))[name] > before[name])
        after = counters(served.get("/metrics"))
        for key, value in before.items():
            expect(after[key] >= value, f"{key} fell from {value} to {after[key]}")
        exported = {family for family in re.findall(r"^# TYPE (\w+)", served.get("/metrics"), re.MULTILINE)}
        page = served.get("/")
        expect("<script" not in page and 'http-equiv="refresh"' in page and "batches, " in page, page)
        expect(str(stoker.folder) not in page, "a path on the page")
        expect(served.get("/healthz") == "ok\n", "healthz")
    wait_for("end of the feed", lambda: 'stoker_feed_state{state="killed"} 1' in served.get("/metrics"))
    said = served.close()
    expect("error[E-STOPPED]" in said, said)
    dashboard_is_served(exported)


def dashboard_is_served(exported: set[str]) -> None:
    """Every name in the dashboard is one that the endpoint gives; fallbacks are known inside a training alone."""
    dashboard = json.loads(DASHBOARD.read_text(encoding="utf-8"))
    expressions = [target["expr"] for panel in dashboard["panels"] for target in panel["targets"]]
    named = set(re.findall(r"\bstoker_\w+", " ".join(expressions) + json.dumps(dashboard["templating"])))
    expect(len(named) > 20, f"the dashboard names only {named}")
    expect(not named - exported - {"stoker_fallback_total"}, f"not exported: {named - exported}")


def refusals(stoker: Stoker) -> None:
    served = Endpoint(stoker)
    port = served.url.rstrip("/").rsplit(":", 1)[1]
    for arguments, code in (
        (("--http", f"127.0.0.1:{port}"), "E-HTTP-PORT"),
        (("--http", "0.0.0.0:0"), "E-HTTP-REMOTE"),
        (("--http", "somewhere:80"), "E-HTTP-ADDRESS"),
        (("--gpu", "x"), "E-USAGE"),
        (("--csv", str(stoker.data / "metadata.csv")), "E-LIVE-CSV"),
    ):
        done = run(stoker, "--duration", "0.1", *arguments)
        expect(done.returncode != 0 and f"error[{code}]" in done.stderr, f"{arguments}: {done.stderr}")
    done = run(stoker, "--duration", "0.1", "--gpu", "7", **with_cards(stoker))
    expect(done.returncode == 6 and "error[E-LIVE-GPU]" in done.stderr, done.stderr)
    done = run(stoker, "--duration", "0.1", "--http", "0.0.0.0:0", "--http-remote")
    expect(done.returncode == 0 and "warning: other machines" in done.stderr, done.stderr)
    served.close()


def main() -> None:
    with stoker_of_command_line(__doc__, num_clips=24) as stoker:
        lines_and_json(stoker)
        tables(stoker)
        with feed_process(stoker):
            view_fits(stoker, 80, 24)
            view_fits(stoker, 200, 50)
        view_follows_the_window(stoker)
        done = run(stoker, "--duration", "0.1", "--http", "127.0.0.1:0")
        if "error[E-HTTP-LIBRARY]" in done.stderr:  # a build without libmicrohttpd
            expect(done.returncode == 2, done.stderr)
            return
        endpoint(stoker)
        refusals(stoker)


if __name__ == "__main__":
    main()
