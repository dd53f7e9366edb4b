"""From runs to tables, pictures and pages: medians, ratios, escapes, and pages that follow their records."""

import argparse
import json
import re
import tempfile
import unittest
import xml.etree.ElementTree
from pathlib import Path
from typing import Any
from unittest import mock

from bench.peers import bar_chart, entrants, environments, feed, feed_report
from bench.peers.race_data import RaceData
from tools.pages import against_dataloader, hardware_limit, hardware_limit_fa, how_fast, how_fast_fa, results

LATIN = str.maketrans("۰۱۲۳۴۵۶۷۸۹٬٫", "0123456789,.")
FIGURES = re.compile(r"(?<=\| )[\d,.]+(?=(?: %|٪)? \|)")


def a_run(name: str, clips_per_s: float) -> dict[str, Any]:
    numbers = dict.fromkeys(feed_report.MEDIANS, 0.25)
    return {"name": name, "path": "cached", "setting": "threads=2", "clips_per_s": clips_per_s} | numbers


def a_report() -> dict[str, Any]:
    runs = [a_run("stoker native f32", speed) | {"stored": "f32"} for speed in (900.0, 1000.0, 1100.0)]
    runs += [a_run("dali", speed) for speed in (100.0, 80.0, 90.0)] + [a_run("grain", 50.0)]
    exact = {"name": "dali", "from": "threads=2", "to": "threads=1", "outcome": "exact", "state_bytes": 170}
    refused = {"name": "grain", "from": "processes=2", "to": "processes=1", "outcome": "refused", "said": "a|b"}
    wrong = {"name": "dali", "damage": "cut", "clips": 64, "delivered": 64, "delivered_wrong": 1, "said": None}
    return {
        "date": "2026-01-02",
        "machine": "A Machine",
        "cores": 2,
        "command": "the command",
        "complete": True,
        "clips": 2000,
        "batch_clips": 32,
        "rounds": 3,
        "disturbed_runs": 1,
        "rows": feed_report.summarise(runs),
        "tuning": [a_run("dali", 80.0), a_run("dali", 90.0) | {"setting": "threads=4"}],
        "resume": [exact, refused],
        "damage": [wrong | {"names_file": False}],
        "not_run": [],
    }


class ReportTest(unittest.TestCase):
    def test_rows_hold_best_and_median_fastest_first(self) -> None:
        rows = a_report()["rows"]
        self.assertEqual([row["name"] for row in rows], ["stoker native f32", "dali", "grain"])
        self.assertEqual((rows[1]["clips_per_s"], rows[1]["median_clips_per_s"]), (100.0, 90.0))

    def test_ratios_are_against_the_best_peer(self) -> None:
        best, median = feed_report.ratios(a_report(), "cached")["stoker native f32"]
        self.assertAlmostEqual(best, 11.0)
        self.assertAlmostEqual(median, 1000.0 / 90.0)

    def test_rows_that_read_or_deliver_less_than_the_peers_are_not_compared(self) -> None:
        runs = [
            a_run("stoker native f16", 2000.0) | {"stored": "f16"},
            a_run("stoker native f32", 1000.0),  # a record that does not say what was stored: float16
            a_run("dali", 100.0),
        ]
        report = a_report() | {"rows": feed_report.summarise(runs)}
        self.assertEqual(feed_report.ratios(report, "cached"), {})
        self.assertIn("No ratio", feed_report.markdown(report))
        self.assertIn("stoker native f32, stored f16", feed_report.race_table(report, "cached"))

    def test_the_loop_in_python_is_ours_and_compared(self) -> None:
        runs = [a_run("stoker-python", 800.0) | {"stored": "f32"}, a_run("dali", 100.0)]
        report = a_report() | {"rows": feed_report.summarise(runs)}
        self.assertEqual(feed_report.ratio_lines(report, "cached")[0].partition(" times")[0], "- stoker (Python): 8.0")
        self.assertEqual(feed_report.ahead_lines(report, "cached"), [])  # there is no row to compare with

    def test_settings_that_were_tried_stand_best_first(self) -> None:
        self.assertIn("threads=4: 90; threads=2: 80", feed_report.tuning_table(a_report()))

    def test_a_bar_in_a_message_does_not_break_the_table(self) -> None:
        lines = feed_report.resume_table(a_report()).splitlines()
        self.assertIn("a\\|b", lines[-1])

    def test_every_peer_of_the_race_has_a_label(self) -> None:
        self.assertEqual([peer.name for peer in entrants.PEERS], list(feed_report.LABELS))

    def test_a_peer_without_figures_has_a_row_that_says_why(self) -> None:
        report = a_report() | {"not_run": [{"name": "torch", "path": "", "why": "no environment: disk full"}]}
        for path in ("cached", "files"):
            text = feed_report.race_table(report, path)
            for name, label in feed_report.LABELS.items():
                self.assertIn(f"| {label} |", text, name)
            self.assertIn("| torch DataLoader | no environment: disk full | – |", text)
            self.assertIn(f"| WebDataset | {feed_report.NOT_IN_RACE} | – |", text)

    def test_a_failure_on_one_path_is_not_told_of_the_other(self) -> None:
        report = a_report() | {"not_run": [{"name": "torch", "path": "files", "why": "out of memory"}]}
        self.assertIn("out of memory", feed_report.race_table(report, "files"))
        self.assertNotIn("out of memory", feed_report.race_table(report, "cached"))

    def test_a_record_that_is_older_than_a_column_has_no_figure_there(self) -> None:
        report = a_report()
        for row in report["rows"]:
            del row["paced_cv"], row["paced_stall"]
        text = feed_report.race_table(report, "cached")
        self.assertIn("| 0.25 | – | – | 250.0 |", text)
        self.assertFalse([line for line in feed_report.ahead_lines(report, "cached") if "90 %" in line])

    def test_a_peer_that_is_ahead_is_named_in_each_column(self) -> None:
        runs = [a_run("stoker native f32", 1000.0) | {"stored": "f32"}]
        runs += [a_run("dali", 1200.0) | {"interval_cv": 0.1}, a_run("grain", 50.0) | {"interval_cv": 0.2}]
        lines = feed_report.ahead_lines(a_report() | {"rows": feed_report.summarise(runs)}, "cached")
        self.assertEqual(
            lines,
            [
                "- ahead of stoker native f32 (1,000) in clips/s, best: DALI (CPU) 1,200",
                "- ahead of stoker native f32 (0.25) in interval CV: DALI (CPU) 0.10, Grain 0.20",
            ],
        )

    def test_where_no_peer_is_ahead_that_is_said(self) -> None:
        self.assertIn("No peer is ahead", "".join(feed_report.ahead_lines(a_report(), "cached")))

    def test_a_smaller_state_than_ours_is_named(self) -> None:
        own = {"name": "stoker", "from": "threads=2", "to": "threads=1", "outcome": "exact", "state_bytes": 171}
        report = a_report()
        self.assertEqual(feed_report.smaller_states_line(report), "")  # nothing to compare with
        report["resume"].append(own)
        self.assertIn("DALI (CPU) (170 bytes)", feed_report.smaller_states_line(report))

    def test_what_a_peer_cannot_do_stands_in_its_row(self) -> None:
        row = {"name": "spdl", "from": "threads=2", "to": "threads=1", "outcome": "cannot", "said": "it saves no state"}
        text = feed_report.resume_table(a_report() | {"resume": [row]})
        self.assertIn("| SPDL | threads=2 | threads=1 | cannot: it saves no state | – |", text)

    def test_an_incomplete_race_says_so(self) -> None:
        self.assertIn("Incomplete", feed_report.markdown(a_report() | {"complete": False}))
        self.assertNotIn("Incomplete", feed_report.markdown(a_report()))

    def test_the_picture_is_well_formed_and_its_bars_in_proportion(self) -> None:
        picture = xml.etree.ElementTree.fromstring(feed_report.chart(a_report()))
        widths = [float(bar.get("width", "0")) for bar in picture.iter("{http://www.w3.org/2000/svg}rect")]
        self.assertAlmostEqual(widths[0] / widths[1], 11.0, places=1)

    def test_the_picture_escapes_labels(self) -> None:
        text = bar_chart.bar_chart('a "b" <c>', [bar_chart.BarGroup("<&>", [bar_chart.Bar("<&>", 1.0)])])
        xml.etree.ElementTree.fromstring(text)


class PagesTest(unittest.TestCase):
    def test_pages_follow_the_record(self) -> None:
        with mock.patch.object(results, "load", lambda name: a_report() if name == "peers-feed" else None):
            for page in (how_fast.english(), how_fast_fa.persian()):
                for part in ("2026-01-02", "A Machine", "the command", "DALI (CPU)"):
                    self.assertIn(part, page)

    def test_both_pages_say_who_is_missing_and_who_is_ahead(self) -> None:
        runs = [a_run("stoker native f32", 1000.0) | {"stored": "f32"}, a_run("dali", 1200.0)]
        report = a_report() | {"rows": feed_report.summarise(runs)}
        with mock.patch.object(results, "load", {"peers-feed": report}.get):
            english, persian = how_fast.english(), how_fast_fa.persian()
        self.assertIn("- ahead of stoker native f32 (1,000) in clips/s, best: DALI (CPU) 1,200", english)
        self.assertIn("(۱٬۰۰۰) در «کلیپ در ثانیه، بهترین»: DALI (CPU) ۱٬۲۰۰", persian)
        self.assertEqual(english.count(feed_report.NOT_IN_RACE), persian.count("در این مسابقه شرکت نکرد"))
        self.assertNotIn(feed_report.NOT_IN_RACE, persian)

    def test_a_page_says_that_its_race_is_incomplete(self) -> None:
        with mock.patch.object(results, "load", {"peers-feed": a_report() | {"complete": False}}.get):
            self.assertIn("This race is incomplete", how_fast.english())

    def test_without_a_record_no_figure_is_claimed(self) -> None:
        with mock.patch.object(results, "load", lambda name: None):
            self.assertIn(how_fast.NO_RACE, how_fast.english())
            self.assertNotIn("clips/s", how_fast.english())
            self.assertIn(how_fast_fa.NO_RACE, how_fast_fa.persian())

    def test_the_figure_beside_dataloader_follows_the_record(self) -> None:
        runs = [a_run("stoker native f32", 1000.0), a_run("torch", 50.0)]
        report = a_report() | {"rows": feed_report.summarise([run | {"path": "files"} for run in runs])}
        with mock.patch.object(results, "load", {"peers-feed": report}.get):
            self.assertIn("**20 times", against_dataloader.english())
            self.assertIn("**۲۰ برابر", against_dataloader.persian())
            self.assertIn("stoker 1,000", against_dataloader.chart())
        with mock.patch.object(results, "load", lambda name: None):
            self.assertEqual((against_dataloader.english(), against_dataloader.persian()), ("", ""))

    def test_both_languages_show_the_same_figures(self) -> None:
        for english, persian in (
            (how_fast.english(), how_fast_fa.persian().translate(LATIN)),
            (hardware_limit.english(), hardware_limit_fa.persian()),
        ):
            rows = [[line for line in page.splitlines() if line.startswith("|")] for page in (english, persian)]
            self.assertEqual(len(rows[0]), len(rows[1]))
            for own, twin in zip(*rows, strict=True):
                self.assertEqual(FIGURES.findall(own), FIGURES.findall(twin))

    def test_rows_are_named_by_what_differs(self) -> None:
        rows = [{"path": "cached", "threads": 1, "dtype": "f16"}, {"path": "cached", "threads": 2, "dtype": "f16"}]
        self.assertEqual([hardware_limit.row_name(row, rows) for row in rows], ["threads 1", "threads 2"])

    def test_each_batch_size_of_a_gpu_row_is_a_row(self) -> None:
        sizes = [{"batch": size, "clips_per_s": 10.0 * size, "share_of_memory": 0.5} for size in (16, 512)]
        record = {"date": "2026-01-02", "command": "c", "result": {"gpu": "A GPU", "rows": [{"batches": sizes}]}}
        with (
            mock.patch.object(results, "load", lambda name: record),
            mock.patch.object(results, "names_with_references", lambda: ["gpu-mel"]),
        ):
            page = hardware_limit.english()
        for part in ("A GPU", "| batch 16 | 160 |", "| batch 512 | 5,120 |", "50 %"):
            self.assertIn(part, page)

    def test_a_bar_that_was_missed_is_shown_as_missed(self) -> None:
        bars = [{"name": "stall", "found": 0.75, "bar": "<= 0.5", "ok": False}]
        record = {"date": "2026-01-02", "commands": ["stoker bench feed"], "bars": bars, "result": {"gap": 1}}
        with (
            mock.patch.object(results, "load", lambda name: record),
            mock.patch.object(results, "names_with_references", lambda: ["feed-demand"]),
        ):
            self.assertIn("| stall | 0.75 | <= 0.5 | **no** |", hardware_limit.english())

    def test_the_gpu_mel_is_compared_at_batches_that_both_ran(self) -> None:
        peer: dict[str, Any] = {
            "program": "torchaudio",
            "lengths": "ragged, padded",
            "clips_per_s": {"64": 9e4, "512": 1e5},
        }
        peer |= {"best_batch": 512, "best_clips_per_s": 1e5}
        sizes = [
            {"batch": 64, "clips_per_s": 8e5},
            {"batch": 512, "clips_per_s": 1e6},
            {"batch": 2048, "clips_per_s": 2e6},
        ]
        mel = {"gpu": "A GPU", "mean_s": 6.5, "stoker_kernel": "fast", "peers": [peer]}
        mel |= {"stoker": {"rows": [{"dtype": "f32", "batches": sizes}]}}
        with mock.patch.object(results, "load", {"gpu-mel": mel}.get):
            page = how_fast.english()
        self.assertIn("| 100,000 (batch 512) | 1,000,000 (batch 512) | 10.0 |", page)

    def test_the_gpu_feed_stands_beside_torch_way_by_way(self) -> None:
        trial = {"workers": 8, "pinned": True, "clips_per_s": 5000.0}
        way = {"title": "mel on the GPU", "stoker_clips_per_s": 105000.0, "torch": trial, "times_faster": 21.0}
        feed = {"gpu": "A GPU", "torch": "2", "batch_clips": 64, "ahead_batches": 16, "ways": {"files gpu": way}}
        with mock.patch.object(results, "load", {"gpu-feed-peers": feed}.get):
            page = how_fast.english()
        self.assertIn("| mel on the GPU | 8 workers, pinned | 5,000 | 105,000 | 21.0 |", page)

    def test_a_record_that_compared_unlike_things_is_not_shown(self) -> None:
        trial = {"workers": 8, "pinned": True, "clips_per_s": 5000.0}
        feed = {"gpu": "A GPU", "torch": "2", "best": {"files": trial}, "times_faster": {"files": 32.6}, "stoker": []}
        with mock.patch.object(results, "load", {"gpu-feed-peers": feed}.get):
            self.assertNotIn("32.6", how_fast.english())

    def test_no_share_is_called_one_of_a_limit(self) -> None:
        row = {"path": "cached", "clips_per_s": 132.0, "limit": "a copy", "share_of_limit": 1.32}
        record = {"date": "2026-01-02", "command": "c", "result": {"rows": [row]}}
        with (
            mock.patch.object(results, "load", lambda name: record),
            mock.patch.object(results, "names_with_references", lambda: ["feed-demand"]),
        ):
            page = hardware_limit.english()
        self.assertIn("Reference: a copy.", page)
        self.assertNotIn("imit", page.partition("\n")[2])


class RaceTest(unittest.TestCase):
    def test_a_race_that_was_cut_short_leaves_a_complete_record_alone(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            out, data = Path(folder) / "results", RaceData(Path(folder) / "data", Path("none"))
            race = feed.Race(argparse.Namespace(out=out), data)
            self.assertEqual(feed.folder_for(race, complete=False), out)
            out.mkdir()
            for kept, cut_short in ((False, out), (True, data.folder)):
                (out / "peers-feed.json").write_text(json.dumps({"complete": kept}), encoding="utf-8")
                self.assertEqual(feed.folder_for(race, complete=False), cut_short)
                self.assertEqual(feed.folder_for(race, complete=True), out)


class EnvironmentTest(unittest.TestCase):
    def test_every_peer_is_pinned_to_exact_versions(self) -> None:
        for name in (peer.name for peer in entrants.PEERS):
            self.assertTrue(environments.pinned(name))
            for pin in environments.pinned(name):
                self.assertRegex(pin, r"^[\w.-]+==[\w.+]+$")

    def test_an_installation_that_was_cut_off_is_not_ready(self) -> None:
        with tempfile.TemporaryDirectory() as folder, mock.patch.object(environments, "CACHE", Path(folder)):
            (Path(folder) / "dali" / "bin").mkdir(parents=True)
            self.assertFalse(environments.is_ready("dali"))
            (Path(folder) / "dali" / "pins.txt").write_text("\n".join(environments.pinned("dali")), encoding="utf-8")
            self.assertTrue(environments.is_ready("dali"))


if __name__ == "__main__":
    unittest.main()
