"""Feeds beside each other, same data, same batches, one run: stoker, and the loaders that people use instead.

    python3 -m bench.peers.feed                 # the race, about 20 minutes on 2 cores
    python3 -m bench.peers.feed --quick         # does everything work? about five minutes

The peers are torch DataLoader, DALI, Grain, tf.data, SPDL, Lhotse, MosaicML Streaming and WebDataset. Each runs in an
environment of its own with pinned versions (made when missing, in ~/.cache/stoker/peers), reads 2,000 utterances of the
built-in voice from a warm page cache, in its own format where it has one, and delivers padded float32 batches of 32.
The loop over stoker's own Python package takes part like a peer. A first batch is compared with stoker's features
before it is timed. Settings are tuned first, then all take turns, at least five times; runs during which the machine
was disturbed are counted, and repeated while there is time. Afterwards each is stopped and resumed with another number
of workers, and given a damaged file. Writes peers-feed.json, .md and .svg; what is there when the time is over or
Ctrl-C is pressed is kept and marked incomplete.
"""

import argparse
import datetime
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from bench.peers import environments, race_data, trials
from bench.peers.calibration import calibrate
from bench.peers.entrants import PATHS, PEERS, ROOT, STOKER_RUNS, PeerEntry, race_peer, race_stoker
from bench.peers.feed_report import markdown, summarise, write_chart
from bench.program import RunFailed, ended
from bench.record import processor

DISTURBED = 1.10
ATTEMPTS = 2
TRIALS_S = 180.0  # of the time allowed are kept for the trials
OVERTIME_S = 300.0  # trials on a busy machine may take longer than planned
TUNING_S = 1.0


@dataclass
class Race:
    """A race under way."""

    options: argparse.Namespace
    data: race_data.RaceData
    deadline: float = 0.0  # of whatever follows the making of environments
    peers: list[PeerEntry] = field(default_factory=list)
    best_settings: dict[tuple[str, str], str] = field(default_factory=dict)
    runs: list[dict[str, Any]] = field(default_factory=list)
    tuning: list[dict[str, Any]] = field(default_factory=list)
    resumes: list[dict[str, Any]] = field(default_factory=list)
    damages: list[dict[str, Any]] = field(default_factory=list)
    not_run: list[dict[str, str]] = field(default_factory=list)
    last_failures: dict[tuple[str, str], str] = field(default_factory=dict)
    rounds_done: int = -1  # while the settings are tuned
    rounds_began: float = 0.0
    disturbed: int = 0
    calm_s: float = 1e9

    def left_s(self) -> float:
        return self.deadline - time.monotonic()

    def may_repeat(self) -> bool:
        """Whether the rounds still to come, each as long as those before, leave time to repeat a run."""
        done_s = time.monotonic() - self.rounds_began
        to_come = self.options.rounds - self.rounds_done
        return self.rounds_done > 0 and self.left_s() - TRIALS_S > 1.1 * to_come * done_s / self.rounds_done


def say(text: str) -> None:
    print(f"peers: {text}", file=sys.stderr, flush=True)


def undisturbed(race: Race, run: Callable[[], list[dict[str, Any]]]) -> list[dict[str, Any]]:
    """Runs between two looks at the machine; once more if it was busy elsewhere, and the better one counts."""
    rows: list[dict[str, Any]] = []
    for _ in range(ATTEMPTS):
        before = calibrate()
        found = run()
        after = calibrate()
        race.calm_s = min(race.calm_s, before, after)
        if not rows or found[0]["clips_per_s"] > rows[0]["clips_per_s"]:
            rows = found
        if max(before, after) <= DISTURBED * race.calm_s:
            break
        race.disturbed += 1
        if not race.may_repeat():
            break
    return rows


def timed(race: Race, peer: PeerEntry, path: str, setting: str) -> list[dict[str, Any]]:
    about = {"name": peer.name, "path": path, "setting": setting, "stored": "f32"}
    seconds = min(race.options.seconds, TUNING_S) if race.rounds_done < 0 else race.options.seconds
    return [about | race_peer(peer, race.data, path, setting, seconds)]


def attempt(race: Race, name: str, path: str, run: Callable[[], list[dict[str, Any]]]) -> list[dict[str, Any]]:
    """The rows of a run; a failure is written down and the race goes on."""
    try:
        rows = run() if race.rounds_done < 0 or race.options.quick else undisturbed(race, run)
    except RunFailed as error:
        say(f"{name} {path}: {error}")
        race.last_failures[name, path] = str(error)
        is_tuning = race.rounds_done < 0  # a setting that fails there is only not the best
        if not is_tuning and not any(entry["name"] == name and entry["path"] == path for entry in race.not_run):
            race.not_run.append({"name": name, "path": path, "why": str(error)})
        return []
    for row in rows:
        say(f"{row['name']:<20} {path:<7} {row['setting']:<24} {row['clips_per_s']:>10,.0f} clips/s")
    return rows


def prepare(race: Race) -> None:
    for peer in PEERS:
        if race.options.only and peer.name not in race.options.only:
            continue
        try:
            environments.make(peer.name)
            race.peers.append(peer)
        except (subprocess.SubprocessError, OSError) as error:
            race.not_run.append({"name": peer.name, "path": "", "why": f"no environment: {error}"})
            say(f"{peer.name}: no environment: {error}")


def tune(race: Race) -> None:
    """Each peer with each of its settings once, so that it races with the best."""
    say("tuning the peers")
    for peer in race.peers:
        for path in PATHS:
            rows: list[dict[str, Any]] = []
            for setting in peer.settings[-1:] if race.options.quick else peer.settings:
                rows += attempt(race, peer.name, path, partial(timed, race, peer, path, setting))
            race.tuning += rows
            if not rows:
                why = f"failed with every setting: {race.last_failures[peer.name, path]}"
                race.not_run.append({"name": peer.name, "path": path, "why": why})
            else:
                best = max(rows, key=lambda row: float(row["clips_per_s"]))
                race.best_settings[peer.name, path] = best["setting"]


def one_round(race: Race) -> None:
    """Every entrant once: stoker in between the peers, so that nobody has the calm minutes for itself."""
    for path in PATHS:
        for run in (run for run in STOKER_RUNS if run[1] == path):
            own = partial(race_stoker, race.data, run, race.options.seconds)
            race.runs += attempt(race, f"stoker {run[0]}", path, own)
        for peer in race.peers:
            setting = race.best_settings.get((peer.name, path))
            if setting is not None:
                race.runs += attempt(race, peer.name, path, partial(timed, race, peer, path, setting))


def try_all(race: Race) -> None:
    """Resume and damage, as long as there is time."""
    say("resuming with another number of workers, and reading a damaged file")
    for change in trials.STOKER_RESUMES:
        tried(race, race.resumes, partial(trials.stoker_resume, race.data, change))
    for peer in race.peers:
        for resume in peer.resumes:
            tried(race, race.resumes, partial(trials.peer_resume, peer, race.data, resume))
    for how in race_data.DAMAGES:
        tried(race, race.damages, partial(trials.stoker_damage, race.data, how))
        for peer in race.peers:
            tried(race, race.damages, partial(trials.peer_damage, peer, race.data, how))


def tried(race: Race, rows: list[dict[str, Any]], trial: Callable[[], dict[str, Any]]) -> None:
    if race.left_s() > -OVERTIME_S:
        rows.append(trial())
    elif not any(entry["name"] == "trials" for entry in race.not_run):
        race.not_run.append({"name": "trials", "path": "", "why": "not all of them: the time was over"})


def command_line(options: argparse.Namespace) -> str:
    """What to type for the same race; paths of this machine are left out."""
    command = f"python3 -m bench.peers.feed --rounds {options.rounds} --seconds {options.seconds:g}"
    return command + (" --quick" if options.quick else "")


def report_of(race: Race, complete: bool) -> dict[str, Any]:
    return {
        "date": datetime.date.today().isoformat(),
        "machine": processor(),
        "cores": len(os.sched_getaffinity(0)),
        "command": command_line(race.options),
        "complete": complete,
        "clips": race.options.clips,
        "batch_clips": 32,
        "rounds": race.rounds_done,
        "seconds": race.options.seconds,
        "disturbed_runs": race.disturbed,
        "pins": {peer.name: environments.pinned(peer.name) for peer in race.peers},
        "rows": summarise(race.runs),
        "tuning": [{key: row[key] for key in ("name", "path", "setting", "clips_per_s")} for row in race.tuning],
        "resume": race.resumes,
        "damage": race.damages,
        "not_run": race.not_run,
    }


def is_complete(record: Path) -> bool:
    return record.exists() and bool(json.loads(record.read_text(encoding="utf-8"))["complete"])


def folder_for(race: Race, complete: bool) -> Path:
    """Where the figures go: beside the data those of a race that is not complete, where a complete one is kept."""
    out: Path = race.options.out
    return out if complete or not is_complete(out / "peers-feed.json") else race.data.folder


def write(race: Race, complete: bool) -> Path:
    report = report_of(race, complete)
    out = folder_for(race, complete)
    out.mkdir(parents=True, exist_ok=True)
    (out / "peers-feed.json").write_text(json.dumps(report, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    (out / "peers-feed.md").write_text(markdown(report), encoding="utf-8")
    write_chart(report, out / "peers-feed.svg")
    return out


def run_race(race: Race) -> tuple[bool, Path]:
    """Whether every stage was done, and where its figures are. What is measured is written after every round."""
    complete = False
    try:
        prepare(race)
        race.deadline = time.monotonic() + race.options.limit_s
        tune(race)
        race.rounds_done = 0
        race.rounds_began = time.monotonic()
        while race.rounds_done < race.options.rounds and race.left_s() > TRIALS_S:
            say(f"round {race.rounds_done + 1} of {race.options.rounds}")
            one_round(race)
            race.rounds_done += 1
            write(race, complete=False)
        try_all(race)
        complete = race.rounds_done == race.options.rounds and not race.not_run
    except KeyboardInterrupt:
        say("stopped; what was measured is kept")
    return complete, write(race, complete)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--stoker", type=Path, default=ROOT / "build" / "stoker")
    parser.add_argument("--work", type=Path, default=environments.CACHE / "data", help="folder for the clips (4 GB)")
    parser.add_argument("--out", type=Path, help="folder for the results (bench/results; with --quick in --work)")
    parser.add_argument("--only", nargs="*", default=[], choices=[peer.name for peer in PEERS])
    parser.add_argument("--clips", type=int, default=2000)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=1.5, help="of each run")
    limit_help = "no further round is begun after this; making environments is not counted"
    parser.add_argument("--limit-s", type=float, default=1200.0, help=limit_help)
    parser.add_argument("--quick", action="store_true", help="one round, 416 clips, no tuning: a smoke test")
    options = parser.parse_args()
    if options.quick:
        options.clips, options.rounds, options.seconds = 416, 1, 0.3
    if options.out is None:
        options.out = options.work / "quick" if options.quick else ROOT / "bench" / "results"
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    data = race_data.make(options.stoker.resolve(), options.work, options.clips)
    complete, out = run_race(Race(options, data))
    print((out / "peers-feed.md").read_text(encoding="utf-8"), end="")
    say(f"{'done' if complete else 'INCOMPLETE'}: {out}/peers-feed.json, .md, .svg")
    return 0 if complete else 1


if __name__ == "__main__":
    sys.exit(ended(main))
