"""A training that is watched: by its own endpoint, by `stoker monitor --run` from before it begins to its resume."""

from __future__ import annotations

import json
import re
import signal
import subprocess
import sys
import urllib.request
from pathlib import Path

from prometheus_client.parser import text_string_to_metric_families

sys.path.insert(0, str(Path(__file__).parent))
from feed_run import Stoker, expect, stoker_of_command_line
from monitor_run import TIME_LIMIT_S, Endpoint, wait_for
from train_run import QUICK, has_trainer, run, train


def values(text: str) -> dict[str, float]:
    """The samples without labels."""
    families = text_string_to_metric_families(text)
    return {sample.name: sample.value for family in families for sample in family.samples if not sample.labels}


def state_of(text: str) -> str:
    found = re.search(r'stoker_feed_state\{state="(\w+)"\} 1', text)
    expect(found is not None, text)
    assert found is not None
    return found.group(1)


def start(stoker: Stoker, *arguments: str) -> subprocess.Popen[str]:
    command = [str(stoker.program), "train", "--train-data", str(stoker.data), "--checkpoint-dir", "run", *QUICK]
    return subprocess.Popen(
        [*command, *arguments], cwd=stoker.folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )


def stop(training: subprocess.Popen[str]) -> None:
    training.send_signal(signal.SIGINT)
    training.communicate(timeout=TIME_LIMIT_S)
    expect(training.returncode == 128 + signal.SIGINT, f"exit {training.returncode}")


def own_endpoint(stoker: Stoker) -> None:
    training = start(stoker, "--metrics", "127.0.0.1:0", "--set", "observe.sample_interval=0.1")
    assert training.stderr is not None
    said = ""
    while "serving " not in said:
        line = training.stderr.readline()
        expect(line != "", f"no endpoint: {said}")
        said += line
    url = said.split("serving ")[1].split()[0]

    def metrics() -> str:
        with urllib.request.urlopen(url + "metrics", timeout=TIME_LIMIT_S) as answer:
            text: str = answer.read().decode()
            return text

    wait_for("batches", lambda: values(metrics())["stoker_feed_batches_total"] > 2)
    expect(state_of(metrics()) == "running", metrics())
    expect(values(metrics())["stoker_feed_step_seconds_total"] > 0, metrics())
    stop(training)


def watched_from_outside(stoker: Stoker) -> None:
    """Each state of a run is seen by one and the same monitor."""
    served = Endpoint(stoker, "--run", str(stoker.folder / "later"))
    expect(state_of(served.get("/metrics")) == "not_begun", "before it begins")
    ended = train(stoker, "later", "--steps", "2", "--json")
    expect(ended.code == 0, ended.err)
    wait_for("end", lambda: state_of(served.get("/metrics")) == "ended")
    first = values(served.get("/metrics"))["stoker_feed_batches_total"]
    expect(first >= 2, f"{first} batches of 2 steps")
    ended = train(stoker, "later", "--steps", "4", "--resume", "--json")
    expect(ended.code == 0, ended.err)
    wait_for("resumed run", lambda: values(served.get("/metrics"))["stoker_feed_batches_total"] > first)
    served.close()


def by_process(stoker: Stoker) -> None:
    """A training's ring is in its run folder; its process has it mapped."""
    training = start(stoker, "--resume")
    wait_for("records", (stoker.folder / "run" / "records.ring").exists)
    command = [
        str(stoker.program),
        "monitor",
        "--pid",
        str(training.pid),
        "--interval",
        "0.1",
        "--duration",
        "1",
        "--json",
    ]

    def state() -> str:
        done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=TIME_LIMIT_S)
        found: str = json.loads(done.stdout)["last"]["feed"]["state"]
        return found

    wait_for("running feed", lambda: state() == "running")
    stop(training)


def refusals(stoker: Stoker) -> None:
    for address, code in (("0.0.0.0:0", "E-HTTP-REMOTE"), ("nowhere", "E-HTTP-ADDRESS")):
        ended = train(stoker, "refused", "--metrics", address, "--steps", "1")
        expect(ended.code == 2 and f"error[{code}]" in ended.err, f"{address}: {ended.err}")
    ended = train(stoker, "open", "--metrics", "0.0.0.0:0", "--metrics-remote", "--steps", "1")
    expect(ended.code == 0 and "other machines can read" in ended.err, ended.err)


def main() -> None:
    with stoker_of_command_line(__doc__, num_clips=24) as stoker:
        if not has_trainer(stoker):
            return
        if "E-HTTP-LIBRARY" in run(stoker, "monitor", "--duration", "0.1", "--http", "127.0.0.1:0").err:
            return  # a build without libmicrohttpd
        refusals(stoker)
        own_endpoint(stoker)
        watched_from_outside(stoker)
        by_process(stoker)


if __name__ == "__main__":
    main()
