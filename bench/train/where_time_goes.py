"""Where the time of a training step goes on a GPU: kernels by group, seen by PyTorch's profiler.

Loads the trainer's library into this process, beside the libtorch that torch itself brings, trains
with the settings given and profiles the steps after the warm-up.

    python3 -m bench.train.where_time_goes --stoker build/stoker --json out.json -- \
        --data voice --model-size normal --batch-frames 40000
"""

from __future__ import annotations

import argparse
import ctypes
import json
import subprocess
from collections import Counter
from pathlib import Path
from typing import Any

# The first word that occurs in a kernel's name decides.
GROUPS: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("attention", ("flash", "fmha", "turn_kernel", "join_kernel")),
    ("alignment", ("search_kernel",)),
    ("products", ("gemm", "nvjet", "cutlass", "splitk", "cublas")),
    ("norms", ("norm",)),
    ("activations", ("gelu", "column_sum", "silu")),
    ("optimiser", ("adam", "move_kernel", "norm_of_gradients", "decide_kernel")),
    ("losses and flow", ("flow", "square", "loss")),
    ("gathers", ("unfold", "repeat", "gather", "rearrange", "embed", "index", "pad_", "join_rows")),
    ("reductions", ("reduce", "sum")),
    ("copies and zeros", ("memcpy", "memset", "copy", "fill", "zero", "cat")),
)


class Call(ctypes.Structure):
    pass


EVENT = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.POINTER(ctypes.c_char), ctypes.c_size_t)
Call._fields_ = [
    ("request", ctypes.c_char_p),
    ("request_bytes", ctypes.c_size_t),
    ("on_event", EVENT),
    ("user", ctypes.c_void_p),
    ("cancel", ctypes.POINTER(ctypes.c_int32)),
]
WORK = ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.POINTER(Call))


class Door(ctypes.Structure):
    _fields_ = (
        ("version", ctypes.c_uint32),
        ("torch_version", ctypes.c_void_p),
        ("train", WORK),
    )


def torch_wait() -> None:
    import torch

    torch.cuda.synchronize()


def group_of(name: str) -> str:
    low = name.lower()
    for group, words in GROUPS:
        if any(word in low for word in words):
            return group
    return "elementwise"


def flattened(rows: dict[str, Any], prefix: str = "") -> dict[str, Any]:
    flat: dict[str, Any] = {}
    for name, row in rows.items():
        if set(row) == {"value", "source"}:
            flat[prefix + name] = row["value"]
        else:
            flat.update(flattened(row, f"{prefix}{name}."))
    return flat


def settings_of(program: str, flags: list[str]) -> dict[str, Any]:
    shown = subprocess.run([program, "config", "show", "--json", *flags], check=True, capture_output=True, text=True)
    return flattened(json.loads(shown.stdout)["settings"])


class Profiled:
    """Trains, and profiles from one step on."""

    def __init__(self, first_step: int, last_step: int) -> None:
        import torch

        self.first_step = first_step
        self.end_step = last_step
        self.num_steps = 0
        self.began_at = -1
        self.last_step = -1
        self.error = ""
        self.report: dict[str, Any] = {}
        self.profile = torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CUDA], acc_events=True)

    def hear(self, _user: object, text: Any, num_bytes: int) -> None:
        event = json.loads(ctypes.string_at(text, num_bytes))
        kind = event["kind"]
        if kind == "error":
            self.error = event["message"]
        elif kind == "result":
            self.report = event["report"]
        elif kind == "progress":
            self.last_step = event["step"]
            if self.began_at < 0 and event["step"] >= self.first_step:
                self.began_at = event["step"]
                self.profile.start()
            elif self.num_steps == 0 and self.began_at >= 0 and event["step"] >= self.end_step:
                self.num_steps = event["step"] - self.began_at
                torch_wait()
                self.profile.stop()
        elif kind in ("line", "warning"):
            print(event["text"])

    def train(self, library: Path, settings: dict[str, Any]) -> None:
        loaded = ctypes.CDLL(str(library))
        loaded.stoker_train_door.restype = ctypes.POINTER(Door)
        door = loaded.stoker_train_door().contents
        request = json.dumps({"settings": settings}).encode()
        hear = EVENT(self.hear)
        call = Call(request, len(request), hear, None, None)
        code = door.train(ctypes.byref(call))
        if code != 0 or self.error:
            raise SystemExit(f"training ended with {code}: {self.error}")


def table_of(events: Any, num_steps: int) -> dict[str, Any]:
    time_us: Counter[str] = Counter()
    count: Counter[str] = Counter()
    kernels: Counter[str] = Counter()
    for event in events:
        if event.device_time_total <= 0:
            continue
        group = group_of(event.key)
        time_us[group] += event.self_device_time_total
        count[group] += event.count
        kernels[event.key[:110]] += event.self_device_time_total
    total = sum(time_us.values())
    return {
        "steps": num_steps,
        "ms_per_step": round(total / 1e3 / num_steps, 3),
        "kernels_per_step": round(sum(count.values()) / num_steps, 1),
        "groups": {
            group: {
                "ms": round(us / 1e3 / num_steps, 3),
                "share": round(us / total, 4),
                "kernels": round(count[group] / num_steps, 1),
            }
            for group, us in time_us.most_common()
        },
        "longest": {name: round(us / 1e3 / num_steps, 4) for name, us in kernels.most_common(40)},
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--stoker", default="build/stoker")
    parser.add_argument("--json", default="")
    parser.add_argument("--first-step", type=int, default=40)
    parser.add_argument("--steps", type=int, default=400)
    parser.add_argument("flags", nargs="*")
    given = parser.parse_args()
    program = Path(given.stoker).resolve()
    settings = settings_of(str(program), given.flags)
    settings["training.steps"] = given.steps
    run = Profiled(given.first_step, given.steps - 20)
    run.train(program.parent / "lib/stoker/libstoker_train.so", settings)
    table = table_of(run.profile.key_averages(), max(1, run.num_steps))
    table["report"] = run.report
    text = json.dumps(table, indent=1)
    if given.json:
        Path(given.json).write_text(text + "\n")
    for group, row in table["groups"].items():
        print(f"{group:18} {row['ms']:8.3f} ms {100 * row['share']:5.1f} % {row['kernels']:7.1f} kernels")
    print(f"{'all':18} {table['ms_per_step']:8.3f} ms {'':7} {table['kernels_per_step']:7.1f} kernels")


if __name__ == "__main__":
    main()
