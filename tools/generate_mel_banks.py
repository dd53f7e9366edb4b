#!/usr/bin/env python3
"""Writes src/stoker/audio/mel/cuda/banks_generated.h: the mel filters of the 1024-point presets as constants.

The GPU's mel code is straight-line: every weight is part of its instruction. That needs the weights when the kernel is
compiled. The arithmetic is that of mel_filterbank.cc, step by step, so that both round to the same bits; a test
compares them, and a recipe whose filters differ in one bit runs with a table instead.

    tools/generate_mel_banks.py            rewrites the file
    tools/generate_mel_banks.py --check    fails when the file differs from what would be written
"""

import argparse
import math
import struct
import sys
from dataclasses import dataclass
from pathlib import Path

TARGET = Path(__file__).resolve().parent.parent / "src" / "stoker" / "audio" / "mel" / "cuda" / "banks_generated.h"
N_FFT = 1024
SLANEY_LOG_STEP = math.log(6.4) / 27.0
PER_LINE = 6


@dataclass(frozen=True)
class Bank:
    """The part of a recipe that decides its filters."""

    name: str
    used_by: str
    rate_hz: int
    num_mels: int
    fmax_hz: float
    htk: bool
    straight_in_mel: bool
    area_norm: bool


BANKS = (
    Bank("BankSlaney8000", "hifigan, tacotron2", 22050, 80, 8000.0, False, False, True),
    Bank("BankSlaney11025", "myxtts", 22050, 80, 11025.0, False, False, True),
    Bank("BankHtk11025", "myxtts_tf", 22050, 80, 11025.0, True, True, False),
    Bank("BankHtk12000", "vocos24", 24000, 100, 12000.0, True, False, False),
)


def hz_to_mel(bank: Bank, hz: float) -> float:
    if bank.htk:
        return 2595.0 * math.log10(1.0 + hz / 700.0)
    if hz < 1000.0:
        return hz / (200.0 / 3.0)
    return 15.0 + math.log(hz / 1000.0) / SLANEY_LOG_STEP


def mel_to_hz(bank: Bank, mel: float) -> float:
    if bank.htk:
        return float(700.0 * (math.pow(10.0, mel / 2595.0) - 1.0))
    if mel < 15.0:
        return mel * (200.0 / 3.0)
    return 1000.0 * math.exp(SLANEY_LOG_STEP * (mel - 15.0))


def f32(value: float) -> float:
    return float(struct.unpack("f", struct.pack("f", value))[0])


def filters(bank: Bank) -> list[list[float]]:
    """[mels][bins], the triangle rounded to f32 before and after the norm."""
    high = hz_to_mel(bank, bank.fmax_hz)
    step = high / float(bank.num_mels + 1)
    mels = [step * float(i) for i in range(bank.num_mels + 1)] + [high]
    hz = [mel_to_hz(bank, mel) for mel in mels]
    edges = mels if bank.straight_in_mel else hz
    bin_hz = 1.0 / (float(N_FFT) * (1.0 / float(bank.rate_hz)))
    rows = []
    for band in range(bank.num_mels):
        norm = 2.0 / (hz[band + 2] - hz[band]) if bank.area_norm else 1.0
        row = []
        for k in range(N_FFT // 2 + 1):
            f = float(k) * bin_hz
            at = hz_to_mel(bank, f) if bank.straight_in_mel else f
            rise = (at - edges[band]) / (edges[band + 1] - edges[band])
            fall = (edges[band + 2] - at) / (edges[band + 2] - edges[band + 1])
            row.append(f32(f32(max(0.0, min(rise, fall))) * norm))
        rows.append(row)
    return rows


def segments(bank: Bank) -> tuple[list[int], list[float], list[float]]:
    """First bin of each segment (and the end), then per bin the falling and the rising weight.

    The bin at half the rate is left out: its weight is nothing but rounding, and the kernels do not compute it.
    """
    rows = filters(bank)
    used = [k for k in range(N_FFT // 2) if any(row[k] != 0.0 for row in rows)]
    assert all(row[N_FFT // 2] < 1e-9 for row in rows)
    firsts = [used[0]]
    fall, rise = [], []
    segment = 0
    for k in range(used[0], used[-1] + 1):
        bands = {band for band, row in enumerate(rows) if row[k] != 0.0}
        while not bands <= {segment - 1, segment}:
            segment += 1
            firsts.append(k)
        fall.append(rows[segment - 1][k] if segment > 0 else 0.0)
        rise.append(rows[segment][k] if segment < bank.num_mels else 0.0)
    firsts += [used[-1] + 1] * (bank.num_mels + 2 - len(firsts))
    return firsts, fall, rise


def literal(value: float) -> str:
    text = f"{value:.9g}"
    return (text if "." in text or "e" in text else text + ".0") + "F"


def lines_of(items: list[str], per_line: int) -> str:
    rows = [items[i : i + per_line] for i in range(0, len(items), per_line)]
    return ",\n".join("      " + ", ".join(row) for row in rows)


def struct_of(bank: Bank) -> str:
    firsts, fall, rise = segments(bank)
    return f"""// {bank.used_by}: {bank.num_mels} bands to {bank.fmax_hz:g} Hz at {bank.rate_hz} Hz.
struct {bank.name} {{
  static constexpr int kNumMels = {bank.num_mels};
  static constexpr int kFirstBin = {firsts[0]};
  static constexpr int kEndBin = {firsts[-1]};
  static constexpr std::array<short, {len(firsts)}> kSegments{{
{lines_of([str(k) for k in firsts], 3 * PER_LINE)}}};
  static constexpr std::array<float, {len(fall)}> kFall{{
{lines_of([literal(w) for w in fall], PER_LINE)}}};
  static constexpr std::array<float, {len(rise)}> kRise{{
{lines_of([literal(w) for w in rise], PER_LINE)}}};
}};
"""


def file_text() -> str:
    head = """// The mel filters of the 1024-point presets as constants, for kernels with weights in their code.
// Written by tools/generate_mel_banks.py; do not edit.
#pragma once

#include <array>

namespace stoker::audio {

// Segment s holds bins kSegments[s] ... kSegments[s+1]-1: they fall in band s-1 and rise in band s.
// Weights count from bin kFirstBin.

// clang-format off
"""
    return head + "\n".join(struct_of(bank) for bank in BANKS) + "// clang-format on\n\n}  // namespace stoker::audio\n"


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--check", action="store_true", help="compare instead of writing")
    text = file_text()
    if not parser.parse_args().check:
        TARGET.write_text(text, encoding="utf-8")
        return 0
    if TARGET.read_text(encoding="utf-8") != text:
        print(f"{TARGET.name} is not what tools/generate_mel_banks.py writes; run it", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
