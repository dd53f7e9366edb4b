"""The model a second time, from its formulas: one row at a time, cut to its length, so without any mask or padding."""

import math
from dataclasses import dataclass

import torch
from torch import Tensor

Parameters = dict[str, Tensor]

STATES = 3  # of a token
SIGMA = 1e-4  # noise that is left at time 1


def gelu(x: Tensor) -> Tensor:
    return 0.5 * x * (1 + torch.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3)))


def silu(x: Tensor) -> Tensor:
    return x / (1 + torch.exp(-x))


def standardise(x: Tensor) -> Tensor:
    mean = x.mean(-1, keepdim=True)
    return (x - mean) / torch.sqrt(((x - mean) ** 2).mean(-1, keepdim=True) + 1e-5)


def layer_norm(p: Parameters, name: str, x: Tensor) -> Tensor:
    return standardise(x) * p[f"{name}.weight"] + p[f"{name}.bias"]


def linear(p: Parameters, name: str, x: Tensor) -> Tensor:
    return x @ p[f"{name}.weight"].T + p[f"{name}.bias"]


def convolution(p: Parameters, name: str, x: Tensor, stride: int = 1) -> Tensor:
    """[T, C] with zeros at both ends."""
    weight = p[f"{name}.weight"]
    edge = x.new_zeros(weight.shape[2] // 2, x.shape[1])
    windows = torch.cat([edge, x, edge]).unfold(0, weight.shape[2], stride)
    return torch.einsum("tck,ock->to", windows, weight) + p[f"{name}.bias"]


def feed_forward(p: Parameters, name: str, x: Tensor) -> Tensor:
    return linear(p, f"{name}.down", gelu(linear(p, f"{name}.up", x)))


def rotate(x: Tensor) -> Tensor:
    """[T, H, d]: pair i of place t is turned by t / 10000^(2 i / d)."""
    places, _, width = x.shape
    rate = 10000.0 ** (-torch.arange(0, width, 2, dtype=torch.float64) / width)
    angle = torch.arange(places, dtype=torch.float64)[:, None, None] * rate
    cos, sin = torch.cos(angle).float(), torch.sin(angle).float()
    even, odd = x[..., 0::2], x[..., 1::2]
    return torch.stack([even * cos - odd * sin, odd * cos + even * sin], -1).flatten(-2)


def attend(query: Tensor, key: Tensor, value: Tensor) -> Tensor:
    """[Tq, H, d], [Tk, H, d], [Tk, H, d] -> [Tq, H * d]"""
    score = torch.einsum("qhd,khd->hqk", query, key) / math.sqrt(query.shape[-1])
    return torch.einsum("hqk,khd->qhd", torch.softmax(score, -1), value).flatten(1)


def self_attention(p: Parameters, name: str, x: Tensor, heads: int, num_keys: int | None = None) -> Tensor:
    width = x.shape[-1]
    all_three = linear(p, f"{name}.query_key_value", x)
    query, key, value = (
        all_three[:, i * width : (i + 1) * width].reshape(len(x), heads, width // heads) for i in range(3)
    )
    mixed = attend(rotate(query), rotate(key)[:num_keys], value[:num_keys])
    return linear(p, f"{name}.out", mixed)


def cross_attention(p: Parameters, name: str, queries: Tensor, x: Tensor, heads: int) -> Tensor:
    width = queries.shape[-1]
    shape = (-1, heads, width // heads)
    both = linear(p, f"{name}.key_value", x)
    query = linear(p, f"{name}.query", queries).reshape(shape)
    mixed = attend(query, both[:, :width].reshape(shape), both[:, width:].reshape(shape))
    return linear(p, f"{name}.out", mixed)


@dataclass
class Dropped:
    """Uniform draws of both places where a block drops values, and the share that is dropped."""

    attention: Tensor
    feed_forward: Tensor
    rate: float


def kept(x: Tensor, uniform: Tensor | None, rate: float) -> Tensor:
    return x if uniform is None else torch.where(uniform < rate, torch.zeros_like(x), x / (1 - rate))


def text_block(
    p: Parameters, name: str, x: Tensor, heads: int, num_keys: int | None = None, dropped: Dropped | None = None
) -> Tensor:
    first, second, rate = (dropped.attention, dropped.feed_forward, dropped.rate) if dropped else (None, None, 0.0)
    x = x + kept(self_attention(p, f"{name}.attention", layer_norm(p, f"{name}.attention_norm", x), heads, num_keys),
                 first, rate)  # fmt: skip
    return x + kept(
        feed_forward(p, f"{name}.feed_forward", layer_norm(p, f"{name}.feed_forward_norm", x)), second, rate
    )


def reference_encoder(p: Parameters, mel: Tensor, heads: int) -> tuple[Tensor, Tensor]:
    x = gelu(convolution(p, "reference.second", gelu(convolution(p, "reference.first", mel)), stride=2))
    latents = p["reference.latents"]
    latents = latents + cross_attention(p, "reference.attention", latents, layer_norm(p, "reference.norm", x), heads)
    return latents, linear(p, "reference.pooled", latents.mean(0))


def text_encoder(p: Parameters, tokens: Tensor, latents: Tensor, heads: int) -> Tensor:
    """Tokens of one text without edges; the two last ids of the embedding are the edges."""
    table = p["text.embedding"]
    edges = torch.tensor([len(table) - 2, len(table) - 1])
    embedded = table[torch.cat([edges[:1], tokens, edges[1:]])]
    x = torch.cat([latents, embedded + gelu(convolution(p, "text.convolution", embedded))])
    layer = 0
    while f"text.{layer}.attention.out.bias" in p:
        x = text_block(p, f"text.{layer}", x, heads)
        layer += 1
    return layer_norm(p, "text.norm", x[len(latents) :])


def log_durations(p: Parameters, hidden: Tensor) -> Tensor:
    x = layer_norm(p, "duration.first_norm", gelu(convolution(p, "duration.first", hidden.detach())))
    x = layer_norm(p, "duration.second_norm", gelu(convolution(p, "duration.second", x)))
    return linear(p, "duration.out", x)[:, 0]


def time_embedding(p: Parameters, time: Tensor, width: int) -> Tensor:
    rate = torch.exp(torch.arange(width // 2) * (-math.log(10000.0) / (width // 2)))
    phase = 1000 * time * rate
    x = linear(p, "decoder.time.first", torch.cat([torch.sin(phase), torch.cos(phase)]))
    return linear(p, "decoder.time.second", silu(x))


@dataclass
class DecoderRow:
    mean: Tensor  # [N, M]
    hidden: Tensor  # [N, d]
    noisy: Tensor  # [Y, M]
    voice: Tensor  # [D]
    time: Tensor
    token_of_frame: Tensor  # [Y]


def decoder_input(p: Parameters, row: DecoderRow, frames_a_place: int) -> Tensor:
    """The product with noisy and mean of all frames of a place, and with their tokens' hidden vectors."""
    width = p["decoder.noisy.bias"].shape[0]
    places = []
    for first in range(0, len(row.noisy), frames_a_place):
        noisy = row.noisy[first : first + frames_a_place].flatten()
        x = p["decoder.noisy.weight"][:, : len(noisy)] @ noisy + p["decoder.noisy.bias"]
        for part, token in enumerate(row.token_of_frame[first : first + frames_a_place]):
            of_part = slice(part * width, (part + 1) * width)
            for name, value in (("mean", row.mean), ("hidden", row.hidden)):
                x = x + p[f"decoder.{name}.weight"][of_part] @ value[token] + p[f"decoder.{name}.bias"][of_part]
        places.append(x)
    return torch.stack(places)


def decoder(p: Parameters, row: DecoderRow, heads: int, frames_a_place: int) -> Tensor:
    x = decoder_input(p, row, frames_a_place)
    width = x.shape[1]
    changes = linear(p, "decoder.changes", silu(time_embedding(p, row.time, width) + row.voice)).reshape(-1, width)
    num_blocks = (len(changes) - 2) // 6
    for block in range(num_blocks):
        scale1, shift1, gate1, scale2, shift2, gate2 = changes[6 * block : 6 * block + 6]
        name = f"decoder.{block}"
        x = x + gate1 * self_attention(p, f"{name}.attention", standardise(x) * (1 + scale1) + shift1, heads)
        x = x + gate2 * feed_forward(p, f"{name}.feed_forward", standardise(x) * (1 + scale2) + shift2)
    x = linear(p, "decoder.out", standardise(x) * (1 + changes[-2]) + changes[-1])
    return x.reshape(-1, row.noisy.shape[1])[: len(row.noisy)]


def alignment_target(mel: Tensor) -> Tensor:
    """Power 0.15 of the weighted harmonic mean of magnitudes exp(3 mel) of a frame and its neighbours, standardised."""
    weights = torch.tensor([1.0, 2, 1])
    frames = []
    for t in range(len(mel)):
        near = [(weights[j + 1], mel[t + j]) for j in range(-1, 2) if 0 <= t + j < len(mel)]
        total = torch.stack([weight for weight, _ in near]).sum()
        harmonic = total / torch.stack([weight / torch.exp(3 * frame) for weight, frame in near]).sum(0)
        frames.append((harmonic**0.15 - 1) / 0.46)
    return torch.stack(frames)


def best_path(states: Tensor, target: Tensor, pull: float) -> Tensor:
    """The state of every frame, by dynamic programming over frames; of equal ways the one that stays longer."""
    num_states, num_frames = len(states), len(target)
    score = -0.5 * ((states.double()[:, None] - target.double()[None]) ** 2).sum(-1)
    beside = ((torch.arange(num_states) + 0.5) / num_states)[:, None] - (torch.arange(num_frames) + 0.5) / num_frames
    score = score - pull * beside**2
    best = torch.full((num_states, num_frames), -math.inf, dtype=torch.float64)
    best[0, 0] = score[0, 0]
    for frame in range(1, num_frames):
        for state in range(num_states):
            before = best[state - 1, frame - 1] if state > 0 else torch.tensor(-math.inf)
            best[state, frame] = score[state, frame] + torch.maximum(best[state, frame - 1], before)
    path = [num_states - 1]
    for frame in range(num_frames - 1, 0, -1):
        state = path[-1]
        moved = state > 0 and bool(best[state - 1, frame - 1] > best[state, frame - 1])
        path.append(state - 1 if moved else state)
    return torch.tensor(path[::-1])


def aligned(states: Tensor, target: Tensor, pull: float = 0.0) -> tuple[Tensor, Tensor]:
    """[N, STATES, M] and [Y, M] -> token and state vector of every frame. Dense rows have one state a token."""
    if len(target) < 5 * len(states):
        states = states.mean(1, keepdim=True)
    path = best_path(states.detach().flatten(0, 1), target, pull)
    return path // states.shape[1], states.flatten(0, 1)[path]
