"""The report of a training: by `train --report` and `stoker report`, in both languages, of folders that miss parts."""

from __future__ import annotations

import shutil
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "base" / "report"))
from check_html import Checker
from feed_run import Stoker, expect, stoker_of_command_line
from train_run import has_trainer, run, trained

MOST_BYTES = 1_000_000


class Parts(HTMLParser):
    """Counts what a page is made of."""

    def __init__(self) -> None:
        super().__init__()
        self.counts: dict[str, int] = {}
        self.headings: list[str] = []
        self.is_heading = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        kind = dict(attrs).get("class") or ""
        for name in (tag, f"{tag}.{kind}"):
            self.counts[name] = self.counts.get(name, 0) + 1
        self.is_heading = tag == "h2"

    def handle_data(self, data: str) -> None:
        if self.is_heading:
            self.headings.append(data)
        self.is_heading = False


def parts_of(path: Path) -> Parts:
    page = path.read_text(encoding="utf-8")
    expect(len(page.encode()) <= MOST_BYTES, f"{path}: {len(page)} characters")
    checker = Checker()
    checker.feed(page)
    expect(not checker.faults and not checker.open, f"{path}: {checker.faults} {checker.open}")
    parts = Parts()
    parts.feed(page)
    charts = parts.counts.get("div.on-wide", 0)
    expect(parts.counts.get("details", 0) == charts, f"{path}: {charts} charts, {parts.counts}")
    expect("script" not in parts.counts, f"{path} has a script")
    return parts


def of_a_training(stoker: Stoker) -> None:
    report = trained(stoker, "run", "--steps", "12", "--log-step", "1", "--report", "end.html")
    expect(report["report"] == "end.html", f"{report}")
    ended = parts_of(stoker.folder / "end.html")
    expect(ended.headings[0] == "Verdict", f"{ended.headings}")
    expect("Loss and spoken samples" in ended.headings, f"{ended.headings}")
    # Two lines of metrics over 12 steps, four parts of the loss: every point is drawn, for both widths.
    expect(ended.counts["circle.dot s0"] >= 2 * 2 * 12, f"{ended.counts}")
    done = run(stoker, "report", "run", "--json")
    expect(done.code == 0 and done.report["status"] == "finished", f"{done}")
    expect(done.report["metrics_lines"] == 12 and done.report["records"] == 12, f"{done.report}")
    expect((stoker.folder / "run/report.html").stat().st_size == done.report["bytes"], f"{done.report}")
    persian = run(stoker, "report", "run", "--language", "fa", "--html", "fa.html")
    expect(persian.code == 0, f"{persian}")
    expect(parts_of(stoker.folder / "fa.html").headings[0] == "رأی", "a Persian page with English headings")
    expect('dir="rtl"' in (stoker.folder / "fa.html").read_text(encoding="utf-8"), "from left to right")
    expect(parts_of(stoker.folder / "run/report.html").counts["svg"] > 6, "few charts")


def of_parts(stoker: Stoker) -> None:
    for left in ("metrics.jsonl", "records.ring", "config.yaml"):
        folder = stoker.folder / f"only-{left}"
        folder.mkdir()
        shutil.copy(stoker.folder / "run" / left, folder)
        done = run(stoker, "report", folder.name, "--json")
        expect(done.code == 0, f"{left}: {done}")
        missing = {part["file"] for part in done.report["missing"]}
        expect(left not in missing and len(missing) >= 2, f"{left}: {missing}")
        expect("not in the report" in done.err, f"{done.err}")
        parts_of(folder / "report.html")
    (stoker.folder / "empty").mkdir()
    empty = run(stoker, "report", "empty")
    expect(empty.code == 2 and "E-REPORT-EMPTY" in empty.err, f"{empty}")
    expect(not (stoker.folder / "empty/report.html").exists(), "a report of nothing")
    expect(run(stoker, "report", "no-such-run").code == 4, "a run that is not there")
    expect(run(stoker, "report", "run", "--language", "de").code == 2, "a language that is not there")


def in_a_browser(stoker: Stoker) -> None:
    browser = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if browser is None:
        print("no Chromium: what a browser says of the page is not looked at")
        return
    flags = ["--headless=new", "--no-sandbox", "--disable-gpu", "--enable-logging=stderr", "--v=0", "--dump-dom"]
    home = ["--user-data-dir=" + str(stoker.folder / "browser")]
    for name in ("end.html", "fa.html"):
        page = (stoker.folder / name).as_uri()
        done = subprocess.run([browser, *flags, *home, page], capture_output=True, text=True, timeout=120, check=False)
        said = [line for line in done.stderr.splitlines() if "CONSOLE" in line]
        expect(done.returncode == 0 and "<h1>" in done.stdout, f"{name}: exit {done.returncode}\n{done.stderr}")
        expect(not said, f"{name}: {said}")


def main() -> None:
    with stoker_of_command_line(__doc__, num_clips=24) as stoker:
        if not has_trainer(stoker):
            print("skipped: this build has no libtorch")
            return
        of_a_training(stoker)
        of_parts(stoker)
        in_a_browser(stoker)


if __name__ == "__main__":
    main()
