"""Compares every layer, every loss and the whole model with PyTorch, values and gradients: parity_test.py PROGRAM."""

import json
import math
import struct
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

import reference_model as reference
import torch
from torch import Tensor

TOLERANCE = 1e-4
TOLERANCE_BF16 = 2e-2
DTYPES = {"F32": torch.float32, "I64": torch.int64, "BOOL": torch.bool}
TEXT_HEADS, DECODER_HEADS, REFERENCE_FRAMES = 2, 3, 12  # of the small model

Tensors = dict[str, Tensor]
Run = Callable[[Tensors, Tensors], Tensors]


def read_file(path: Path) -> Tensors:
    data = path.read_bytes()
    (size,) = struct.unpack("<Q", data[:8])
    found = {}
    for name, entry in json.loads(data[8 : 8 + size]).items():
        begin, end = (8 + size + offset for offset in entry["data_offsets"])
        tensor = torch.frombuffer(bytearray(data[begin:end]), dtype=DTYPES[entry["dtype"]])
        found[name] = tensor.reshape(entry["shape"])
    return found


def cases_of(tensors: Tensors) -> dict[str, dict[str, Tensors]]:
    """CASE -> in, parameter, out, weight, gradient -> NAME -> tensor"""
    cases: dict[str, dict[str, Tensors]] = {}
    for path, tensor in tensors.items():
        case, kind, name = path.split("/", 2)
        kinds = cases.setdefault(case, {k: {} for k in ("in", "parameter", "out", "weight", "gradient")})
        kinds[kind][name] = tensor
    return cases


def by_row(run: Callable[[int], Tensor], num_rows: int, length: int | None = None) -> Tensor:
    """Rows of any length, with zeros behind them."""
    rows = [run(row) for row in range(num_rows)]
    if length is not None:
        rows = [torch.cat([row, row.new_zeros(length - len(row), *row.shape[1:])]) for row in rows]
    return torch.stack(rows)


def one_input(run: Callable[[Tensors, Tensor], Tensor]) -> Run:
    return lambda p, x: {"values": by_row(lambda row: run(p, x["values"][row]), len(x["values"]))}


def run_rotary(_: Tensors, x: Tensors) -> Tensors:
    values = x["values"]
    turned = by_row(lambda row: reference.rotate(values[row].flatten(1, 2)), len(values))
    return {"values": turned.reshape(values.shape)}


def run_self_attention(p: Tensors, x: Tensors) -> Tensors:
    def row(i: int) -> Tensor:
        found: Tensor = reference.self_attention(p, "layer", x["values"][i], TEXT_HEADS, int(x["mask"][i].sum()))
        return found

    return {"values": by_row(row, 2)}


def run_cross_attention(p: Tensors, x: Tensors) -> Tensors:
    def row(i: int) -> Tensor:
        found: Tensor = reference.cross_attention(p, "layer", x["queries"][i], x["values"][i][x["mask"][i]], TEXT_HEADS)
        return found

    return {"values": by_row(row, 2)}


def run_text_block(p: Tensors, x: Tensors) -> Tensors:
    def row(i: int) -> Tensor:
        dropped = reference.Dropped(x["uniform_4"][i], x["uniform_5"][i], 0.25)
        found: Tensor = reference.text_block(p, "layer", x["values"][i], TEXT_HEADS, int(x["mask"][i].sum()), dropped)
        return found

    return {"values": by_row(row, 2)}


def run_reference_encoder(p: Tensors, x: Tensors) -> Tensors:
    voices = [
        reference.reference_encoder(p, mel[:length], TEXT_HEADS)
        for mel, length in zip(x["mel"], x["lengths"], strict=True)
    ]
    return {"latents": torch.stack([v[0] for v in voices]), "vector": torch.stack([v[1] for v in voices])}


def run_text_encoder(p: Tensors, x: Tensors) -> Tensors:
    rows = len(x["tokens"])
    length = x["tokens"].shape[1] + 2
    hidden = [
        reference.text_encoder(p, x["tokens"][i][: x["text_len"][i]], x["latents"][i], TEXT_HEADS) for i in range(rows)
    ]
    return {
        "hidden": by_row(lambda i: hidden[i], rows, length),
        "log_duration": by_row(lambda i: reference.log_durations(p, hidden[i]), rows, length),
    }


def run_decoder(frames_a_place: int) -> Run:
    def run(p: Tensors, x: Tensors) -> Tensors:
        def row(i: int) -> Tensor:
            frames = x["mask"][i]
            inputs = reference.DecoderRow(
                x["mean"][i], x["hidden"][i], x["noisy"][i][frames], x["voice"][i], x["time"][i],
                x["token_of_frame"][i][frames],
            )  # fmt: skip
            found: Tensor = reference.decoder(p, inputs, DECODER_HEADS, frames_a_place)
            return found

        return {"velocity": by_row(row, 2, x["noisy"].shape[1])}

    return run


def run_duration_loss(_: Tensors, x: Tensors) -> Tensors:
    return {"loss": ((x["log_duration"] - torch.log(x["count"]))[x["mask"]] ** 2).mean()}


def run_masked_square(_: Tensors, x: Tensors) -> Tensors:
    return {"loss": (x["difference"][x["mask"]] ** 2).mean()}


def flow_way(mel: Tensor, noise: Tensor, time: Tensor) -> tuple[Tensor, Tensor]:
    sigma = reference.SIGMA
    return (1 - (1 - sigma) * time) * noise + time * mel, mel - (1 - sigma) * noise


def run_flow_target(_: Tensors, x: Tensors) -> Tensors:
    noisy, velocity = flow_way(x["mel"], x["noise"], x["time"][:, None, None])
    return {"noisy": noisy, "velocity": velocity}


def run_states(_: Tensors, x: Tensors) -> Tensors:
    length = x["mel"].shape[1]
    targets = [reference.alignment_target(mel[:n]) for mel, n in zip(x["mel"], x["mel_len"], strict=True)]
    found = [reference.aligned(x["states"][i], target, 40.0) for i, target in enumerate(targets)]
    return {
        "target": by_row(lambda i: targets[i], 2, length),
        "token_of_frame": by_row(lambda i: found[i][0].float(), 2, length),
        "chosen": by_row(lambda i: found[i][1], 2, length),
    }


def run_model(frames_a_place: int, is_bf16: bool) -> Run:
    def run(p: Tensors, x: Tensors) -> Tensors:
        sums: dict[str, list[Tensor]] = {k: [] for k in ("duration", "prior", "flow", "alignment")}
        for i in range(len(x["tokens"])):
            num_tokens, num_frames = int(x["text_len"][i]), int(x["mel_len"][i])
            if num_tokens > 0 and num_frames >= num_tokens + 2:
                model_row(p, x, i, (frames_a_place, is_bf16), sums)
        means = {name: torch.cat(parts).mean() for name, parts in sums.items()}
        means["num_frames"] = torch.tensor(float(sum(len(part) for part in sums["flow"])))
        return means

    return run


def model_row(p: Tensors, x: Tensors, i: int, kind: tuple[int, bool], sums: dict[str, list[Tensor]]) -> None:
    """Adds one row's terms: a value a token, and a mean over bands a frame."""
    frames_a_place, is_bf16 = kind
    length = int(x["mel_len"][i])
    mel = x["mel"][i][:length]
    num_prompt = min(REFERENCE_FRAMES, length // 2)
    first = int((x["crop"][i] * (length - num_prompt + 1)).floor())
    latents, voice = reference.reference_encoder(p, mel[first : first + num_prompt], TEXT_HEADS)
    hidden = reference.text_encoder(p, x["tokens"][i][: x["text_len"][i]], latents, TEXT_HEADS)
    mean = reference.linear(p, "mean", hidden)
    states = reference.linear(p, "states", hidden).reshape(len(hidden), reference.STATES, -1)
    target = reference.alignment_target(mel)
    token, state = reference.aligned(states, target)
    if not torch.equal(token, x["token_of_frame"][i][:length]):
        # Rounding to bf16 may move a frame where two ways are nearly equal; fp32 must find the same.
        assert is_bf16, f"row {i} is aligned otherwise"
    count = torch.bincount(token, minlength=len(hidden))
    noisy, velocity = flow_way(mel, x["noise"][i][:length], x["time"][i])
    row = reference.DecoderRow(mean, hidden, noisy, voice, x["time"][i], token)
    found = reference.decoder(p, row, DECODER_HEADS, frames_a_place)
    outside = torch.ones(length, dtype=torch.bool)
    outside[first : first + num_prompt] = False
    sums["duration"].append((reference.log_durations(p, hidden) - torch.log(count.float())) ** 2)
    sums["prior"].append((0.5 * (mel - mean[token]) ** 2).mean(1)[outside])
    sums["flow"].append(((found - velocity) ** 2).mean(1)[outside])
    sums["alignment"].append((0.5 * (target - state) ** 2).mean(1))


RUNS: dict[str, Run] = {
    "linear": one_input(lambda p, x: reference.linear(p, "layer", x)),
    "layer_norm": one_input(lambda p, x: reference.layer_norm(p, "layer", x)),
    "convolution_1": one_input(lambda p, x: reference.convolution(p, "layer", x)),
    "convolution_2": one_input(lambda p, x: reference.convolution(p, "layer", x, stride=2)),
    "feed_forward": one_input(lambda p, x: reference.feed_forward(p, "layer", x)),
    "rotary": run_rotary,
    "self_attention": run_self_attention,
    "cross_attention": run_cross_attention,
    "text_block": run_text_block,
    "reference_encoder": run_reference_encoder,
    "text_encoder": run_text_encoder,
    "decoder_1": run_decoder(1),
    "decoder_2": run_decoder(2),
    "duration_loss": run_duration_loss,
    "masked_square": run_masked_square,
    "flow_target": run_flow_target,
    "states": run_states,
    "model_1": run_model(1, is_bf16=False),
    "model_2": run_model(2, is_bf16=False),
    "model_1.bf16": run_model(1, is_bf16=True),
    "model_2.bf16": run_model(2, is_bf16=True),
}


def difference(found: Tensor, expected: Tensor, scale: float, is_bf16: bool) -> float:
    """Largest difference over the largest value; values far below those of the whole case count as zero. Rounding to
    bf16 is noise in every value, so there it is the root of the mean square of both."""

    def size(tensor: Tensor) -> float:
        return float(tensor.square().mean().sqrt() if is_bf16 else tensor.abs().max())

    worst = size(found - expected) / max(size(expected), 1e-3 * scale, 1e-30)
    return worst if math.isfinite(worst) else math.inf


def differences(name: str, case: dict[str, Tensors]) -> dict[str, float]:
    parameters = {k: v.clone().requires_grad_() for k, v in case["parameter"].items()}
    inputs = {k: v.clone().requires_grad_(k in case["gradient"]) for k, v in case["in"].items()}
    outputs = (RUNS.get(name) or RUNS[name.removesuffix(".bf16")])(parameters, inputs)
    assert outputs.keys() == case["out"].keys(), name
    torch.autograd.backward(torch.stack([(outputs[k] * case["weight"][k]).sum() for k in outputs]).sum())
    leaves = {**parameters, **{k: v for k, v in inputs.items() if v.requires_grad}}
    assert leaves.keys() == case["gradient"].keys(), name
    is_bf16 = name.endswith(".bf16")
    scale = max(float(g.abs().max()) for g in case["gradient"].values())
    worst = {f"out {k}": difference(case["out"][k], v.detach(), 0.0, is_bf16) for k, v in outputs.items()}
    for key, leaf in leaves.items():
        expected = torch.zeros_like(leaf) if leaf.grad is None else leaf.grad
        worst[f"gradient {key}"] = difference(case["gradient"][key], expected, scale, is_bf16)
    return worst


def main() -> int:
    torch.set_num_threads(1)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "cases.safetensors"
        subprocess.run([sys.argv[1], str(path)], check=True)
        cases = cases_of(read_file(path))
    missing = RUNS.keys() - cases.keys()
    assert not missing, f"cases that the program did not write: {missing}"
    failures = 0
    for name, case in cases.items():
        tolerance = TOLERANCE_BF16 if name.endswith(".bf16") else TOLERANCE
        worst = differences(name, case)
        bad = {k: v for k, v in worst.items() if not v <= tolerance}
        failures += len(bad)
        print(f"{name}: {len(worst)} tensors, largest difference {max(worst.values()):.1e}")
        for key, value in sorted(bad.items(), key=lambda item: -item[1]):
            print(f"  {key}: {value:.1e} > {tolerance:.0e}")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
