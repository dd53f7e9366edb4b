#!/usr/bin/env python3
"""Runs the Python examples, each in a virtual environment of its own, and prints a table of what came of it.

    tools/run_examples.py [--build build] [NAME...]

An environment has the pins of examples/python/requirements/NAME.txt; it is made under build/examples-env when it is
first needed and kept. The package is that of the build folder, so the interpreter is the one it was built for. The
types of each example are checked against its own framework. A framework that cannot be installed is named with the
reason; nothing is passed over in silence.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import sysconfig
import time
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
EXAMPLES = ROOT / "examples" / "python"
INSTALL_LIMIT_S = 1200
RUN_LIMIT_S = 600


@dataclass(frozen=True)
class Example:
    """A script, the environment that it runs in, and the words that its last line begins with."""

    script: str
    environment: str
    last_line: str


EXAMPLES_TO_RUN = {
    "torch": Example("examples/python/torch_loop.py", "torch", "torch: "),
    "lightning": Example("examples/python/lightning_train.py", "lightning", "lightning: "),
    "lightning-kill": Example("tests/e2e/lightning_kill_test.py", "lightning", "lightning_kill: "),
    "accelerate": Example("examples/python/accelerate_loop.py", "accelerate", "accelerate: "),
    "jax": Example("examples/python/jax_loop.py", "jax", "jax: "),
    "tensorflow": Example("examples/python/tensorflow_loop.py", "tensorflow", "tensorflow: "),
    "notebook": Example("examples/python/first_look.ipynb", "notebook", "notebook: "),
}
# A notebook prints into itself: its last output is passed on.
RUN_NOTEBOOK = """
import sys, nbformat, nbclient
book = nbformat.read(sys.argv[1], as_version=4)
nbclient.NotebookClient(book, timeout=300, kernel_name="python3").execute()
print(*(part.text for cell in book.cells if cell.cell_type == "code" for part in cell.outputs if "text" in part))
"""


class CannotRun(Exception):
    """Why an example was not run, or what went wrong with it."""


def module_suffix(build: Path) -> str:
    modules = list((build / "python" / "stoker").glob("_engine*.so"))
    if not modules:
        raise SystemExit(f"run_examples: no Python package in {build / 'python'}: run make first")
    return modules[0].name.removeprefix("_engine")


def interpreter_for(suffix: str) -> str:
    """An interpreter that can import modules with this suffix: this one, or pythonX.Y."""
    if sysconfig.get_config_var("EXT_SUFFIX") == suffix:
        return sys.executable
    digits = "".join(filter(str.isdigit, suffix.split("-")[1]))
    found = shutil.which(f"python{digits[0]}.{digits[1:]}")
    if found is None:
        raise SystemExit(f"run_examples: no Python {digits[0]}.{digits[1:]}, for which the package was built")
    return found


def pins(environment: str) -> list[str]:
    lines = (EXAMPLES / "requirements" / f"{environment}.txt").read_text(encoding="utf-8").splitlines()
    return [line for line in lines if line and not line.startswith("#")]


def make_environment(environment: str, folder: Path, interpreter: str) -> Path:
    """Its Python. The stamp is written last: an installation that was cut off has none, one of other pins another."""
    python, stamp = folder / environment / "bin" / "python", folder / environment / "pins.txt"
    wanted = [f"# {interpreter}", *pins(environment)]
    if stamp.is_file() and stamp.read_text(encoding="utf-8").splitlines() == wanted:
        return python
    print(f"run_examples: making an environment for {environment}: {', '.join(pins(environment))}", file=sys.stderr)
    subprocess.run([interpreter, "-m", "venv", "--clear", str(folder / environment)], check=True)
    command = [str(python), "-m", "pip", "install", "-q", "--disable-pip-version-check", *pins(environment)]
    try:
        done = subprocess.run(command, check=False, timeout=INSTALL_LIMIT_S, capture_output=True, text=True)
    except subprocess.TimeoutExpired:
        raise CannotRun(f"cannot be had: pip took more than {INSTALL_LIMIT_S} s") from None
    if done.returncode != 0:
        errors = [line for line in done.stderr.splitlines() if line.startswith("ERROR")]
        raise CannotRun(f"cannot be had: {(errors or ['pip failed'])[-1]}")
    stamp.write_text("\n".join(wanted) + "\n", encoding="utf-8")
    return python


def check_types(example: Example, python: Path, build: Path) -> None:
    """With the types of the framework itself, which the tests of every day do without."""
    if not example.script.startswith("examples/") or example.script.endswith(".ipynb"):
        return
    command = [sys.executable, "-m", "mypy", "--strict", "--python-executable", str(python), "--follow-imports=silent"]
    command += [example.script, "--cache-dir", str(build / "examples-env" / f"mypy-{example.environment}")]
    environment = dict(os.environ, MYPYPATH=f"{EXAMPLES}:{build / 'python'}")
    done = subprocess.run(command, cwd=ROOT, env=environment, check=False, capture_output=True, text=True)
    if done.returncode != 0:
        raise CannotRun(f"mypy --strict: {done.stdout.strip()[-1500:]}")


def run(example: Example, python: Path, build: Path) -> str:
    """The last line that it prints."""
    paths = f"{build / 'python'}:{EXAMPLES}"
    environment = dict(os.environ, PYTHONPATH=paths, PATH=f"{build}:{python.parent}:{os.environ['PATH']}")
    command = [str(python), "-c", RUN_NOTEBOOK] if example.script.endswith(".ipynb") else [str(python)]
    try:
        done = subprocess.run(
            [*command, str(ROOT / example.script)],
            env=environment,
            check=False,
            timeout=RUN_LIMIT_S,
            capture_output=True,
            text=True,
        )
    except subprocess.TimeoutExpired:
        raise CannotRun(f"did not end within {RUN_LIMIT_S} s") from None
    last = (done.stdout.strip().splitlines() or [""])[-1].strip()
    if done.returncode != 0:
        raise CannotRun(f"exit code {done.returncode}\n{done.stderr.strip()[-3000:]}")
    if not last.startswith(example.last_line):
        raise CannotRun(f"expected a last line that begins with {example.last_line!r}, found {last!r}")
    return last


def print_row(name: str, verdict: str, time_s: str, said: str) -> None:
    print(f"{name:<{max(map(len, EXAMPLES_TO_RUN))}}  {verdict:<6}  {time_s:>4}  {said}", flush=True)


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--build", type=Path, default=ROOT / "build")
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"of {', '.join(EXAMPLES_TO_RUN)}; all if none")
    options = parser.parse_args()
    if unknown := set(options.names) - set(EXAMPLES_TO_RUN):
        parser.error(f"no example {', '.join(sorted(unknown))}; there are {', '.join(EXAMPLES_TO_RUN)}")
    build = options.build.resolve()
    interpreter = interpreter_for(module_suffix(build))
    num_failed = 0
    print_row("example", "", "s", "last line, or why not")
    for name in options.names or EXAMPLES_TO_RUN:
        example, begin = EXAMPLES_TO_RUN[name], time.monotonic()
        try:
            python = make_environment(example.environment, build / "examples-env", interpreter)
            check_types(example, python, build)
            begin = time.monotonic()
            verdict, said = "ok", run(example, python, build)
        except CannotRun as reason:
            verdict, said, num_failed = "failed", str(reason), num_failed + 1
        print_row(name, verdict, f"{time.monotonic() - begin:.0f}", said)
    return 1 if num_failed else 0


if __name__ == "__main__":
    sys.exit(main())
