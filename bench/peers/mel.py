"""Log-mel on one core, programs in turn: stoker, torchaudio's operations, torch.stft, librosa and kaldi-native-fbank.

    python3 -m bench.peers.mel [--stoker build/stoker] [--rounds 5]          # about two minutes

The peers run in an environment with pinned versions (made when missing, in ~/.cache/stoker/peers). Each output is
compared with float64 before anything is timed, stoker's by `stoker bench mel` itself. Every round runs each program for
a short while, so that a busy machine slows all of them alike; speeds are clips per second of CPU time of the one thread
that works, so that waiting for a core that others hold is counted against no one. Ratios are of medians over the rounds
and of bests. Row "torchaudio" runs the operations of its MelSpectrogram, row "torch.stft" the fastest form of them that
we could write. Prints the table; writes peers-mel.json and .md into bench/results.
"""

import argparse
import datetime
import json
import os
import statistics
import subprocess
import sys
from pathlib import Path
from typing import Any

from bench.peers import environments
from bench.program import ended, run_stoker
from bench.record import processor

ROOT = Path(__file__).resolve().parent.parent.parent
PEERS = ("torchaudio", "torch.stft", "librosa", "kaldi-native-fbank")
Figures = dict[str, list[float]]


class PeerProcess:
    """The peers' process, which answers one line with one line."""

    def __init__(self) -> None:
        environments.make("mel")
        self.process = subprocess.Popen(
            [str(environments.python_of("mel")), "-m", "bench.peers.mel_peer"],
            cwd=ROOT,
            env={**os.environ, "PYTHONPATH": str(ROOT)},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        self.checked: dict[str, Any] = self.answer()
        if self.checked["wrong"]:
            sys.exit(f"wrong results, nothing is timed: {', '.join(self.checked['wrong'])}: {self.checked}")

    def answer(self) -> Any:
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        if not line:
            sys.exit(f"the peers' process ended with {self.process.wait()}")
        return json.loads(line)

    def clips_per_cpu_s(self, name: str, seconds: float) -> float:
        assert self.process.stdin is not None
        print(name, seconds, file=self.process.stdin, flush=True)
        return float(self.answer())


def stoker_rows(program: Path, seconds: float) -> list[dict[str, Any]]:
    report = run_stoker(program, "bench", "mel", "--threads", "1", "--seconds", str(seconds), tells=False)
    rows: list[dict[str, Any]] = report["rows"]
    return rows


def measure(options: argparse.Namespace, peers: PeerProcess) -> tuple[Figures, dict[str, float]]:
    """Clips per CPU second of each program in each round, and how far stoker is from float64."""
    figures: Figures = {}
    off: dict[str, float] = {}
    for _ in range(options.rounds):
        for row in stoker_rows(options.stoker, options.seconds):
            name = f"stoker {row['level']}"
            figures.setdefault(name, []).append(1000.0 / float(row["cpu_s_per_1000_clips"]))
            off[name] = max(float(row[key]) for key in ("max_difference_loud", "max_difference_quiet"))
        for name in PEERS:
            figures.setdefault(name, []).append(peers.clips_per_cpu_s(name, options.seconds))
    return figures, off


def table(figures: Figures, off: dict[str, float]) -> str:
    first = next(iter(figures))
    lines = [
        f"| program (one core, clips of 6.574 s) | median clips/CPU s | best | {first} is faster, medians (bests) "
        "| furthest from float64 |",
        "|---|---|---|---|---|",
    ]
    for name, values in figures.items():
        medians = statistics.median(figures[first]) / statistics.median(values)
        bests = max(figures[first]) / max(values)
        lines.append(
            f"| {name} | {statistics.median(values):,.0f} | {max(values):,.0f} | {medians:.1f} x ({bests:.1f} x) "
            f"| {off[name]:.1e} |"
        )
    return "\n".join(lines) + "\n"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--stoker", type=Path, default=ROOT / "build" / "stoker")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=1.5, help="of each program in each round")
    parser.add_argument("--results", type=Path, default=ROOT / "bench" / "results", help="where to write")
    options = parser.parse_args()
    peers = PeerProcess()
    figures, off = measure(options, peers)
    off.update(peers.checked["max_difference"])
    text = table(figures, off)
    print(text, end="")
    options.results.mkdir(parents=True, exist_ok=True)
    first = figures[next(iter(figures))]
    report = {
        "command": f"python3 -m bench.peers.mel --rounds {options.rounds} --seconds {options.seconds}",
        "date": datetime.date.today().isoformat(),
        "machine": processor(),
        "rounds": options.rounds,
        "seconds": options.seconds,
        "versions": peers.checked["versions"],
        "clips_per_cpu_s": figures,
        "max_difference_from_float64": off,
        "stoker_faster_by_medians": {
            name: statistics.median(first) / statistics.median(values) for name, values in figures.items()
        },
    }
    (options.results / "peers-mel.json").write_text(json.dumps(report, indent=1) + "\n", encoding="utf-8")
    versions = ", ".join(f"{name} {version}" for name, version in peers.checked["versions"].items())
    heading = f"{report['machine']}; {versions}; {options.rounds} rounds in turn\n\n"
    (options.results / "peers-mel.md").write_text(heading + text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(ended(main))
