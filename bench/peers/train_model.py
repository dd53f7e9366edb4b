"""The trainer's model as a PyTorch user would write it: padded rows, modules, autograd. Names of parameters are those
of the trainer's checkpoints, losses are equal, and the benchmark of training races against it.

Rows may be of any length; what is behind their ends has no effect. With float32 weights the model runs under autocast;
`to_bf16` turns the weights of its products to bf16 instead, and sums along the way stay float32.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from bench.peers import train_attention as attention
from bench.peers.train_batches import Batch, Shape
from bench.peers.train_search import search_path

STATES = 3  # of a token
LEAST_NOISE = 1e-4  # that is left at time 1
FRAMES_FOR_STATES = 5  # a token needs as many on average, or it is aligned as a whole
FIRST_LOG_DURATION = 2.0


class Draws(NamedTuple):
    time: Tensor  # f32 [B], 0 … 1
    noise: Tensor  # f32 [B, Y, M], normal
    crop: Tensor  # f32 [B], 0 … 1


class Losses(NamedTuple):
    duration: Tensor
    prior: Tensor
    flow: Tensor
    alignment: Tensor
    num_frames: Tensor


def draw(mel: Tensor) -> Draws:
    rows = mel.shape[:1]
    return Draws(torch.rand(rows, device=mel.device), torch.randn_like(mel), torch.rand(rows, device=mel.device))


def gelu(x: Tensor) -> Tensor:
    return F.gelu(x, approximate="tanh")


def length_mask(lengths: Tensor, length: int) -> Tensor:
    return torch.arange(length, device=lengths.device)[None] < lengths[:, None]


def zero_behind(x: Tensor, mask: Tensor) -> Tensor:
    return x.masked_fill(~mask.unsqueeze(-1), 0.0)


def pick(x: Tensor, places: Tensor) -> Tensor:
    """[B, N, C] and [B, Y] -> [B, Y, C]"""
    return x.gather(1, places.unsqueeze(-1).expand(-1, -1, x.shape[2]))


class Linear(nn.Linear):
    def forward(self, x: Tensor) -> Tensor:
        return F.linear(x.to(self.weight.dtype), self.weight, self.bias)


class Norm(nn.LayerNorm):
    """Parameters and result are float32."""

    def forward(self, x: Tensor) -> Tensor:
        return super().forward(x.float())


class TimeConvolution(nn.Conv1d):
    """Along time, [B, T, C] in and out."""

    def __init__(self, width_in: int, width_out: int, kernel: int, stride: int = 1) -> None:
        super().__init__(width_in, width_out, kernel, stride=stride, padding=kernel // 2)

    def forward(self, x: Tensor) -> Tensor:
        return super().forward(x.to(self.weight.dtype).transpose(1, 2)).transpose(1, 2)


class FeedForward(nn.Module):
    def __init__(self, width: int) -> None:
        super().__init__()
        self.up, self.down = Linear(width, 4 * width), Linear(4 * width, width)

    def forward(self, x: Tensor) -> Tensor:
        found: Tensor = self.down(gelu(self.up(x)))
        return found


class SelfAttention(nn.Module):
    def __init__(self, width: int, num_heads: int) -> None:
        super().__init__()
        self.num_heads = num_heads
        self.query_key_value, self.out = Linear(width, 3 * width), Linear(width, width)

    def forward(self, x: Tensor, rows: attention.Rows) -> Tensor:
        parts = self.query_key_value(x).unflatten(2, (3, self.num_heads, -1))
        turned = attention.turn(parts[:, :, :2], rows).to(parts.dtype)
        mixed = attention.attend(turned[:, :, 0], turned[:, :, 1], parts[:, :, 2], rows)
        found: Tensor = self.out(mixed.flatten(2))
        return found


class CrossAttention(nn.Module):
    def __init__(self, width: int, num_heads: int) -> None:
        super().__init__()
        self.num_heads = num_heads
        self.query, self.key_value, self.out = Linear(width, width), Linear(width, 2 * width), Linear(width, width)

    def forward(self, queries: Tensor, x: Tensor, mask: Tensor) -> Tensor:
        query = self.query(queries).unflatten(2, (self.num_heads, -1)).transpose(1, 2)
        key, value = (part.unflatten(2, (self.num_heads, -1)).transpose(1, 2) for part in self.key_value(x).chunk(2, 2))
        bias = attention.key_bias(mask).to(query.dtype)
        mixed = F.scaled_dot_product_attention(query, key, value, bias)
        found: Tensor = self.out(mixed.transpose(1, 2).flatten(2))
        return found


class ReferenceEncoder(nn.Module):
    def __init__(self, shape: Shape) -> None:
        super().__init__()
        width = shape.text_width
        self.first, self.second = TimeConvolution(shape.num_mels, width, 5), TimeConvolution(width, width, 5, 2)
        self.norm = Norm(width)
        self.latents = nn.Parameter(0.02 * torch.randn(shape.num_latents, width))
        self.attention = CrossAttention(width, shape.text_heads)
        self.pooled = Linear(width, shape.decoder_width)

    def forward(self, mel: Tensor, lengths: Tensor) -> tuple[Tensor, Tensor]:
        mask = length_mask(lengths, mel.shape[1])
        near = gelu(self.first(zero_behind(mel, mask)))
        wide = self.norm(gelu(self.second(zero_behind(near, mask))))
        queries = self.latents.expand(len(mel), -1, -1)
        keys = length_mask((lengths + 1) // 2, wide.shape[1])
        latents = queries + self.attention(queries, wide, keys)
        return latents, self.pooled(latents.mean(1)).float()


class TextBlock(nn.Module):
    def __init__(self, width: int, num_heads: int, dropout: float) -> None:
        super().__init__()
        self.attention_norm, self.attention = Norm(width), SelfAttention(width, num_heads)
        self.feed_forward_norm, self.feed_forward = Norm(width), FeedForward(width)
        self.dropout = nn.Dropout(dropout)

    def forward(self, x: Tensor, rows: attention.Rows) -> Tensor:
        x = x + self.dropout(self.attention(self.attention_norm(x), rows))
        found: Tensor = x + self.dropout(self.feed_forward(self.feed_forward_norm(x)))
        return found


class TextEncoder(nn.Module):
    def __init__(self, shape: Shape, dropout: float) -> None:
        super().__init__()
        width = shape.text_width
        self.embedding = nn.Parameter(torch.randn(shape.num_tokens + 2, width))
        self.convolution = TimeConvolution(width, width, 5)
        self.num_layers, self.head_width = shape.text_layers, width // shape.text_heads
        for layer in range(shape.text_layers):
            self.add_module(str(layer), TextBlock(width, shape.text_heads, dropout))
        self.norm = Norm(width)

    def forward(self, ids: Tensor, mask: Tensor, latents: Tensor, kind: str) -> Tensor:
        embedded = zero_behind(F.embedding(ids, self.embedding), mask)
        tokens = embedded + gelu(self.convolution(embedded))
        num_latents = latents.shape[1]
        x = torch.cat([latents.float(), tokens.float()], 1)
        rows = attention.rows_of(kind, mask.sum(1) + num_latents, x.shape[1], self.head_width)
        for layer in range(self.num_layers):
            x = self.get_submodule(str(layer))(x, rows)
        found: Tensor = self.norm(x[:, num_latents:])
        return found


class DurationPredictor(nn.Module):
    def __init__(self, width: int, dropout: float) -> None:
        super().__init__()
        self.first, self.second = TimeConvolution(width, width, 3), TimeConvolution(width, width, 3)
        self.first_norm, self.second_norm = Norm(width), Norm(width)
        self.out = Linear(width, 1)
        self.dropout = nn.Dropout(dropout)

    def forward(self, hidden: Tensor, mask: Tensor) -> Tensor:
        x = self.dropout(self.first_norm(gelu(self.first(zero_behind(hidden.detach(), mask)))))
        x = self.dropout(self.second_norm(gelu(self.second(zero_behind(x, mask)))))
        found: Tensor = self.out(x).squeeze(2).float()
        return found


class DecoderBlock(nn.Module):
    def __init__(self, width: int, num_heads: int) -> None:
        super().__init__()
        self.attention, self.feed_forward = SelfAttention(width, num_heads), FeedForward(width)

    def forward(self, x: Tensor, changes: tuple[Tensor, ...], rows: attention.Rows) -> Tensor:
        scale1, shift1, gate1, scale2, shift2, gate2 = changes
        x = x + gate1 * self.attention(changed_norm(x, scale1, shift1), rows)
        found: Tensor = x + gate2 * self.feed_forward(changed_norm(x, scale2, shift2))
        return found


def changed_norm(x: Tensor, scale: Tensor, shift: Tensor) -> Tensor:
    return F.layer_norm(x, x.shape[-1:]) * (1 + scale) + shift


class TimeEmbedding(nn.Module):
    def __init__(self, width: int) -> None:
        super().__init__()
        self.width = width
        self.first, self.second = Linear(width, width), Linear(width, width)

    def forward(self, time: Tensor) -> Tensor:
        half = self.width // 2
        rate = torch.exp(torch.arange(half, device=time.device) * (-math.log(10000.0) / half))
        phase = 1000 * time[:, None] * rate
        found: Tensor = self.second(F.silu(self.first(torch.cat([phase.sin(), phase.cos()], 1))))
        return found


class Decoder(nn.Module):
    def __init__(self, shape: Shape) -> None:
        super().__init__()
        width, frames = shape.decoder_width, shape.decoder_frames
        self.num_frames, self.num_layers, self.width = frames, shape.decoder_layers, width
        self.head_width = width // shape.decoder_heads
        self.noisy = Linear(frames * shape.num_mels, width)
        self.mean = Linear(shape.num_mels, frames * width)
        self.hidden = Linear(shape.text_width, frames * width)
        self.time = TimeEmbedding(width)
        self.changes = Linear(width, (6 * shape.decoder_layers + 2) * width)
        for layer in range(shape.decoder_layers):
            self.add_module(str(layer), DecoderBlock(width, shape.decoder_heads))
        self.out = Linear(width, frames * shape.num_mels)

    def in_places(self, x: Tensor) -> Tensor:
        """[B, Y, C] -> [B, P, frames, C]"""
        missing = -x.shape[1] % self.num_frames
        return F.pad(x, (0, 0, 0, missing)).view(len(x), -1, self.num_frames, x.shape[2])

    def condition(self, mean: Tensor, hidden: Tensor, token_of_frame: Tensor, mask: Tensor) -> Tensor:
        """What the tokens of its frames give a place; made once a token."""
        parts = (self.mean(mean) + self.hidden(hidden)).float()
        if self.num_frames == 1:
            return pick(parts, token_of_frame)
        part = torch.arange(token_of_frame.shape[1], device=mean.device) % self.num_frames
        places = token_of_frame * self.num_frames + part
        frames = pick(parts.unflatten(2, (self.num_frames, self.width)).flatten(1, 2), places)
        return self.in_places(zero_behind(frames, mask)).sum(2)

    def forward(
        self, noisy: Tensor, condition: Tensor, time: Tensor, voice: Tensor, mel_len: Tensor, kind: str
    ) -> Tensor:
        num_frames = noisy.shape[1]
        with torch.autocast(noisy.device.type, enabled=False):
            changes = self.changes(F.silu(self.time(time) + voice)).unflatten(1, (-1, 1, self.width)).unbind(1)
        mask = length_mask(mel_len, num_frames)
        x = (self.noisy(self.in_places(zero_behind(noisy, mask)).flatten(2)) + condition).float()
        num_places = (mel_len + self.num_frames - 1) // self.num_frames
        rows = attention.rows_of(kind, num_places, x.shape[1], self.head_width)
        for layer in range(self.num_layers):
            x = self.get_submodule(str(layer))(x, changes[6 * layer : 6 * layer + 6], rows)
        out = self.out(changed_norm(x, changes[-2], changes[-1])).float()
        found: Tensor = out.unflatten(2, (self.num_frames, -1)).flatten(1, 2)[:, :num_frames]
        return found


def with_edges(tokens: Tensor, text_len: Tensor, num_tokens: int) -> tuple[Tensor, Tensor]:
    """Ids with an edge before and behind each text, and which of them are true."""
    places = torch.arange(tokens.shape[1] + 2, device=tokens.device)[None]
    last = text_len[:, None] + 1
    ids = F.pad(F.pad(tokens, (1, 0), value=num_tokens), (0, 1))
    return ids.masked_fill(places > last, 0).masked_fill(places == last, num_tokens + 1), places <= last


def alignment_target(mel: Tensor, mask: Tensor) -> Tensor:
    """Of every band the harmonic mean of three frames' magnitudes, to a small power."""
    inverse = F.pad(zero_behind(torch.exp(-3 * mel.clamp(-8, 8)), mask), (0, 0, 1, 1))
    weight = F.pad(mask.float(), (1, 1))
    length = mel.shape[1]
    total = sum(w * inverse[:, j : j + length] for j, w in enumerate((0.25, 0.5, 0.25)))
    whole = sum(w * weight[:, j : j + length] for j, w in enumerate((0.25, 0.5, 0.25)))
    assert isinstance(total, Tensor) and isinstance(whole, Tensor)
    return zero_behind(((total / whole.unsqueeze(2)) ** -0.15 - 1) / 0.46, mask)


class Alignment(NamedTuple):
    token_of_frame: Tensor  # i64 [B, Y]
    state_of_frame: Tensor  # i64 [B, Y]
    states: Tensor  # f32 [B, N * STATES, M], with gradient; of dense rows every state is their mean


def align(states: Tensor, target: Tensor, token_len: Tensor, mel_len: Tensor) -> Alignment:
    """[B, N, STATES, M] and [B, Y, M]. Rows of which a token has few frames have one state a token."""
    is_single = mel_len < token_len * FRAMES_FOR_STATES
    per_token = torch.where(is_single, 1, STATES)[:, None]
    used = torch.where(is_single[:, None, None, None], states.mean(2, keepdim=True), states).flatten(1, 2)
    kth = torch.arange(used.shape[1], device=states.device)[None]
    number = (kth // per_token * STATES + kth % per_token).clamp_max(used.shape[1] - 1)
    with torch.no_grad():
        in_order = pick(used.detach(), number)
        score = torch.baddbmm(-0.5 * in_order.square().sum(2)[:, None], target, in_order.transpose(1, 2))
        path = search_path(score, token_len * per_token[:, 0], mel_len)
    return Alignment(path // per_token, path // per_token * STATES + path % per_token, used)


def masked_square(difference: Tensor, mask: Tensor) -> Tensor:
    weight = mask.float()
    return (difference * weight.unsqueeze(2)).square().sum() / (weight.sum().clamp_min(1) * difference.shape[2])


class Tts(nn.Module):
    def __init__(self, shape: Shape, kind: str = "mask", dropout: float = 0.1) -> None:
        super().__init__()
        self.shape, self.kind = shape, kind
        self.reference = ReferenceEncoder(shape)
        self.text = TextEncoder(shape, dropout)
        self.mean = Linear(shape.text_width, shape.num_mels)
        self.states = Linear(shape.text_width, STATES * shape.num_mels)
        self.duration = DurationPredictor(shape.text_width, dropout)
        self.decoder = Decoder(shape)
        nn.init.constant_(self.duration.out.bias, FIRST_LOG_DURATION)

    def to_bf16(self) -> Tts:
        """The weights of all products but those that autocast would leave out, too."""
        left_out = {self.mean, self.states, self.decoder.changes, *self.decoder.time.modules()}
        for module in self.modules():
            if isinstance(module, Linear | TimeConvolution) and module not in left_out:
                module.to(torch.bfloat16)
        return self

    def prompt(self, batch: Batch, crop: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """A crop of each row and its length, and which frames are outside of it."""
        num_frames = batch.mel.shape[1]
        room = max(1, min(self.shape.reference_frames, num_frames // 2))
        lengths = (batch.mel_len // 2).clamp_max(room)
        num_places = batch.mel_len - lengths + 1
        first = torch.minimum((crop * num_places.float()).long(), num_places - 1)[:, None]
        places = (first + torch.arange(room, device=crop.device)[None]).clamp_max(num_frames - 1)
        frames = torch.arange(num_frames, device=crop.device)[None]
        outside = (frames < first) | (frames >= first + lengths[:, None])
        return pick(batch.mel, places), lengths, outside & (frames < batch.mel_len[:, None])

    def forward(self, given: Batch, draws: Draws) -> Losses:
        frame_mask = length_mask(given.mel_len, given.mel.shape[1])
        batch = given._replace(mel=zero_behind(given.mel, frame_mask))
        crop, crop_len, outside = self.prompt(batch, draws.crop)
        ids, text_mask = with_edges(batch.tokens, batch.text_len, self.shape.num_tokens)
        latents, voice = self.reference(crop, crop_len)
        hidden = self.text(ids, text_mask, latents, self.kind)
        log_duration = self.duration(hidden, text_mask)
        token_len = batch.text_len + 2
        usable = (batch.text_len > 0) & (batch.mel_len >= token_len)
        with torch.autocast(hidden.device.type, enabled=False):
            mean = self.mean(hidden)
            states = self.states(hidden).unflatten(2, (STATES, -1))
            target = alignment_target(batch.mel, frame_mask)
            found = align(states, target, token_len * usable, batch.mel_len)
        is_frame, is_loss = frame_mask & usable[:, None], outside & usable[:, None]
        count = torch.zeros_like(log_duration).scatter_add(1, found.token_of_frame, is_frame.float())
        time = draws.time[:, None, None]
        noisy = (1 - (1 - LEAST_NOISE) * time) * draws.noise + time * batch.mel
        condition = self.decoder.condition(mean, hidden, found.token_of_frame, frame_mask)
        velocity = self.decoder(noisy, condition, draws.time, voice, batch.mel_len, self.kind)
        weight = (text_mask & usable[:, None]).float()
        error = (log_duration - count.clamp_min(1).log()) * weight
        return Losses(
            error.square().sum() / weight.sum().clamp_min(1),
            0.5 * masked_square(batch.mel - pick(mean, found.token_of_frame), is_loss),
            masked_square(velocity - (batch.mel - (1 - LEAST_NOISE) * draws.noise), is_loss),
            0.5 * masked_square(target - pick(found.states, found.state_of_frame), is_frame),
            is_loss.sum().float(),
        )
