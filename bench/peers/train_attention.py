"""Attention of padded rows in the ways that PyTorch offers: a mask, cuDNN with that mask, or flash attention over rows
of any length. For the last each padded row is two sequences, what is true and what is padding, so no mask is needed and
shapes do not depend on lengths."""

from __future__ import annotations

import math
from typing import NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor
from torch.nn.attention import SDPBackend, sdpa_kernel

KINDS = ("mask", "cudnn", "varlen")
MASKED = -1e4


class Rows(NamedTuple):
    kind: str
    limits: Tensor  # mask, cudnn: f32 [B, 1, 1, T] to add to scores; varlen: i32 [2 B + 1], where sequences begin
    cos: Tensor  # f32 [T, 1, 1, d / 2]
    sin: Tensor


def key_bias(mask: Tensor) -> Tensor:
    return torch.zeros(mask.shape, device=mask.device).masked_fill(~mask, MASKED)[:, None, None]


def rows_of(kind: str, lengths: Tensor, length: int, head_width: int) -> Rows:
    """What all attentions over [B, length] share."""
    num_pairs = head_width // 2
    places = torch.arange(length, device=lengths.device)
    rate = torch.exp(torch.arange(num_pairs, device=lengths.device) * (-math.log(10000.0) / num_pairs))
    angle = (places[:, None] * rate)[:, None, None]
    if kind == "varlen":
        first = torch.arange(len(lengths), device=lengths.device) * length
        ends = torch.stack([first + lengths, first + length], 1).flatten()
        limits = F.pad(ends, (1, 0)).to(torch.int32)
    else:
        limits = key_bias(places[None] < lengths[:, None])
    return Rows(kind, limits, angle.cos(), angle.sin())


def turn(x: Tensor, rows: Rows) -> Tensor:
    """Rotary positions: pairs of channels of [B, T, N, H, d] are turned; f32 out."""
    even, odd = x.float().view(*x.shape[:-1], -1, 2).unbind(-1)
    return torch.stack([even * rows.cos - odd * rows.sin, odd * rows.cos + even * rows.sin], -1).flatten(-2)


def attend(query: Tensor, key: Tensor, value: Tensor, rows: Rows) -> Tensor:
    """[B, T, H, d] each"""
    if rows.kind == "varlen":
        flat = [x.flatten(0, 1) for x in (query, key, value)]
        return varlen(flat[0], flat[1], flat[2], rows.limits, query.shape[1]).view(query.shape)
    query, key, value = (x.transpose(1, 2) for x in (query, key, value))
    bias = rows.limits.to(query.dtype)
    if rows.kind == "cudnn":
        with sdpa_kernel([SDPBackend.CUDNN_ATTENTION]):
            mixed = F.scaled_dot_product_attention(query, key, value, bias)
    else:
        mixed = F.scaled_dot_product_attention(query, key, value, bias)
    return mixed.transpose(1, 2)


def varlen(query: Tensor, key: Tensor, value: Tensor, begins: Tensor, longest: int) -> Tensor:
    """[B * T, H, d] each; on a CPU, which has no such kernel, by a mask."""
    if not query.is_cuda:
        of_place = torch.bucketize(torch.arange(len(query)), begins[1:].long(), right=True)
        query, key, value = (x.transpose(0, 1) for x in (query, key, value))
        mask = of_place[:, None] == of_place[None]
        return F.scaled_dot_product_attention(query, key, value, mask).transpose(0, 1)
    from torch.nn.attention.varlen import varlen_attn

    found = varlen_attn(query.contiguous(), key.contiguous(), value.contiguous(), begins, begins, longest, longest)
    assert isinstance(found, Tensor)  # nothing beside it was asked for
    return found
