"""The report of a feed in this process, and verdicts as a notebook shows them."""

from __future__ import annotations

import sys
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
from small_world import World

import stoker

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "base" / "report"))
from check_html import Checker


def faults_of(page: str) -> list[str]:
    checker = Checker()
    checker.feed(page)
    checker.close()
    return [*checker.faults, *checker.open]


class Frame(HTMLParser):
    """Finds the page that a frame holds."""

    page = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag == "iframe":
            self.page = dict(attrs)["srcdoc"] or ""


def test_a_feed_reports_on_itself(world: World, tmp_path: Path) -> None:
    with stoker.Feed(world.data, cache=world.cache, num_workers=1, batch_size=4) as feed:
        for _ in range(8):
            for _batch in feed:
                pass
        report = feed.report(tmp_path / "report.html")
        persian = feed.report(language="fa")
    assert (tmp_path / "report.html").read_text(encoding="utf-8") == report.html
    assert report.html.startswith("<!DOCTYPE html>")
    assert str(report) == report.sentence
    assert report.sentence
    assert faults_of(report.html) == faults_of(persian.html) == []
    assert '<html lang="fa" dir="rtl">' in persian.html
    frame = Frame()
    frame.feed(report._repr_html_())
    assert frame.page == report.html


def test_what_cannot_be_reported_is_said(world: World) -> None:
    off: dict[str, Any] = {"observe.records": False}
    with stoker.Feed(world.data, cache=world.cache, num_workers=1, **off) as feed:
        with pytest.raises(ValueError, match="records"):
            feed.report()
        with pytest.raises(ValueError, match="'en' or 'fa', found 'de'"):
            feed.report(language="de")


def test_verdicts_are_shown_in_notebooks() -> None:
    watched = stoker.watch([1, 2, 3], name="<b>loader</b>")
    for _ in watched:
        pass
    shown = watched._repr_html_()
    assert "&lt;b&gt;loader&lt;/b&gt;" in shown
    assert "<b>" not in shown
    monitor = stoker.PerformanceMonitor()
    monitor.log_step_timing(0.9, 0.1, 4)
    assert "Data loading is the bottleneck" in monitor._repr_html_()
    assert faults_of(shown) == faults_of(monitor._repr_html_()) == []
