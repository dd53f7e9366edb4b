#!/usr/bin/env python3
"""Writes src/stoker/audio/mel/fft1024_generated-inl.h: the straight-line transforms of the 1024-point real FFT.

1024 = 32 x 32. Pass 1 is a real 32-point transform over every 32nd sample with the window in its loads and the
twiddle factors in its stores; pass 2 is a complex 32-point transform of each row k1 = 1..15 that hands its bins to a
sink (magnitude or power). Row 0 is real and row 16 needs only half a transform.

The transforms are conjugate-pair split radix. A pair of twiddles w, conj(w) is written with the tangent of its angle,
w*z = cos*(z.re + tan*z.im, z.im - tan*z.re), so that the cosine rides on the multiply-adds of the last butterfly:
16 instructions instead of 20. Equal expressions are computed once, unused ones not at all.

    tools/generate_fft.py            rewrites the file
    tools/generate_fft.py --check    fails when the file differs from what would be written
"""

import argparse
import math
import sys
from dataclasses import dataclass
from pathlib import Path

TARGET = Path(__file__).resolve().parent.parent / "src" / "stoker" / "audio" / "mel" / "fft1024_generated-inl.h"


@dataclass(frozen=True, eq=False)
class Node:
    """One real value: op is zero, load, neg, mul, add, sub, fma (a*b+c), fnma (c-a*b) or fms (a*b-c)."""

    op: str
    inputs: tuple["Node", ...] = ()
    text: str = ""


@dataclass(frozen=True)
class Complex:
    re: Node
    im: Node


class Graph:
    """Builds nodes so that equal ones are the same object and trivial ones vanish."""

    def __init__(self) -> None:
        self.known: dict[tuple[str, tuple[int, ...], str], Node] = {}
        self.order: list[Node] = []
        self.zero = self.make("zero")

    def make(self, op: str, inputs: tuple[Node, ...] = (), text: str = "") -> Node:
        key = (op, tuple(id(node) for node in inputs), text)
        if key not in self.known:
            self.known[key] = Node(op, inputs, text)
            self.order.append(self.known[key])
        return self.known[key]

    def load(self, text: str) -> Node:
        return self.make("load", text=text)

    def constant(self, value: float) -> Node:
        return self.load(f"Set(d, T({value:.17g}))")

    def neg(self, a: Node) -> Node:
        if a.op == "zero":
            return a
        return a.inputs[0] if a.op == "neg" else self.make("neg", (a,))

    def add(self, a: Node, b: Node) -> Node:
        if a.op == "zero":
            return b
        if b.op == "zero":
            return a
        if b.op == "neg":
            return self.sub(a, b.inputs[0])
        if a.op == "neg":
            return self.sub(b, a.inputs[0])
        if b.op == "mul":
            return self.make("fma", (*b.inputs, a))
        return self.make("add", (a, b))

    def sub(self, a: Node, b: Node) -> Node:
        if b.op == "zero":
            return a
        if a.op == "zero":
            return self.neg(b)
        if b.op == "neg":
            return self.add(a, b.inputs[0])
        if a.op == "neg":
            return self.neg(self.add(a.inputs[0], b))
        if b.op == "mul":
            return self.make("fnma", (*b.inputs, a))
        if a.op == "mul":
            return self.make("fms", (*a.inputs, b))
        return self.make("sub", (a, b))

    def mul(self, a: Node, factor: Node) -> Node:
        if a.op == "zero":
            return a
        if a.op == "neg":
            return self.neg(self.mul(a.inputs[0], factor))
        return self.make("mul", (a, factor))

    def cadd(self, a: Complex, b: Complex) -> Complex:
        return Complex(self.add(a.re, b.re), self.add(a.im, b.im))

    def csub(self, a: Complex, b: Complex) -> Complex:
        return Complex(self.sub(a.re, b.re), self.sub(a.im, b.im))

    def conj(self, a: Complex) -> Complex:
        return Complex(a.re, self.neg(a.im))

    def times_minus_i(self, a: Complex) -> Complex:
        return Complex(a.im, self.neg(a.re))

    def scale(self, a: Complex, factor: Node) -> Complex:
        return Complex(self.mul(a.re, factor), self.mul(a.im, factor))

    def twiddle(self, a: Complex, cos: Node, sin: Node) -> Complex:
        """a * (cos + i*sin)."""
        return Complex(
            self.sub(self.mul(a.re, cos), self.mul(a.im, sin)), self.add(self.mul(a.re, sin), self.mul(a.im, cos))
        )


def pair(g: Graph, z: Complex, y: Complex, turn: float) -> tuple[Complex, Complex]:
    """w*z + conj(w)*y and w*z - conj(w)*y for w = exp(-2*pi*i*turn), 0 <= turn < 1/4."""
    angle = 2.0 * math.pi * turn
    if turn == 0.0:
        return g.cadd(z, y), g.csub(z, y)
    if turn <= 0.125:
        outer, inner = math.cos(angle), math.tan(angle)
        a = tangent(g, z, inner)
        b = g.conj(tangent(g, g.conj(y), inner))
    else:
        # Beyond 45 degrees the cotangent is the smaller factor: w*z = sin*(cot*z - i*z).
        outer, inner = math.sin(angle), 1.0 / math.tan(angle)
        a = g.times_minus_i(g.conj(tangent(g, g.conj(z), inner)))
        b = g.conj(g.times_minus_i(g.conj(tangent(g, y, inner))))
    factor = g.constant(outer)
    return g.scale(g.cadd(a, b), factor), g.scale(g.csub(a, b), factor)


def tangent(g: Graph, z: Complex, inner: float) -> Complex:
    """(z.re + inner*z.im, z.im - inner*z.re)."""
    if inner > 0.99999:
        return Complex(g.add(z.re, z.im), g.sub(z.im, z.re))
    factor = g.constant(inner)
    return Complex(g.add(z.re, g.mul(z.im, factor)), g.sub(z.im, g.mul(z.re, factor)))


def fft(g: Graph, x: list[Complex]) -> list[Complex]:
    """Forward transform of complex values."""
    n = len(x)
    if n == 1:
        return x
    if n == 2:
        return [g.cadd(x[0], x[1]), g.csub(x[0], x[1])]
    even = fft(g, x[0::2])
    after = fft(g, x[1::4])
    before = fft(g, [x[(4 * i - 1) % n] for i in range(n // 4)])
    out = [x[0]] * n
    for k in range(n // 4):
        total, difference = pair(g, after[k], before[k], k / n)
        turned = g.times_minus_i(difference)
        out[k] = g.cadd(even[k], total)
        out[k + n // 2] = g.csub(even[k], total)
        out[k + n // 4] = g.cadd(even[k + n // 4], turned)
        out[k + 3 * n // 4] = g.csub(even[k + n // 4], turned)
    return out


def real_fft(g: Graph, x: list[Node]) -> list[Complex]:
    """Bins 0..n/2 of real values."""
    n = len(x)
    if n == 1:
        return [Complex(x[0], g.zero)]
    if n == 2:
        return [Complex(g.add(x[0], x[1]), g.zero), Complex(g.sub(x[0], x[1]), g.zero)]
    even = real_fft(g, x[0::2])
    after = real_fft(g, x[1::4])
    before = real_fft(g, [x[(4 * i - 1) % n] for i in range(n // 4)])
    out: list[Complex] = [even[0]] * (n // 2 + 1)
    for k in range(n // 8 + 1):
        total, difference = pair(g, after[k], before[k], k / n)
        turned = g.times_minus_i(difference)
        upper = g.conj(even[n // 4 - k])
        # Where two of the four coincide (k = n/8), the later one, which needs only the sum, stays.
        out[n // 4 - k] = g.conj(g.csub(upper, turned))
        out[n // 4 + k] = g.cadd(upper, turned)
        out[n // 2 - k] = g.conj(g.csub(even[k], total))
        out[k] = g.cadd(even[k], total)
    return out


CALLS = {
    "neg": "Neg",
    "mul": "Mul",
    "add": "Add",
    "sub": "Sub",
    "fma": "MulAdd",
    "fnma": "NegMulAdd",
    "fms": "MulSub",
}


class Writer:
    """Turns what the sinks need into statements.

    Values are computed in the order in which the recursion makes them: a short transform is complete before the next
    begins, so that few values are alive at a time. Loads stand right before their first use, sinks right after their
    last input.
    """

    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        self.sinks: list[tuple[tuple[Node, ...], str]] = []
        self.names: dict[int, str] = {}
        self.lines: list[str] = []

    def put(self, values: tuple[Node, ...], statement: str) -> None:
        """Asks for `statement`, in which {0}, {1} stand for the values."""
        self.sinks.append((values, statement))

    def put_bin(self, value: Complex, place: str) -> None:
        """Hands a bin to the sink, which looks at magnitudes only: a sign is not worth an instruction."""
        re, im = (part.inputs[0] if part.op == "neg" else part for part in (value.re, value.im))
        self.put((re, im), f"sink({{0}}, {{1}}, {place});")

    def finish(self) -> list[str]:
        needed: set[int] = set()
        waiting = [value for values, _ in self.sinks for value in values]
        while waiting:
            node = waiting.pop()
            if id(node) not in needed:
                needed.add(id(node))
                waiting.extend(node.inputs)
        for node in self.graph.order:
            if id(node) in needed and node.op not in ("load", "zero"):
                self.place(node)
                self.place_sinks()
        return self.lines

    def place_sinks(self) -> None:
        ready = [sink for sink in self.sinks if all(id(value) in self.names or not value.inputs for value in sink[0])]
        for values, statement in ready:
            self.lines.append(statement.format(*(self.name(value) for value in values)))
        self.sinks = [sink for sink in self.sinks if sink not in ready]

    def name(self, node: Node) -> str:
        if node.op == "zero":
            return "Zero(d)"
        if node.text.startswith("Set("):
            return node.text
        if id(node) not in self.names:
            self.place(node)
        return self.names[id(node)]

    def place(self, node: Node) -> None:
        call = node.text or f"{CALLS[node.op]}({', '.join(self.name(child) for child in node.inputs)})"
        self.names[id(node)] = f"t{len(self.names)}"
        self.lines.append(f"const auto {self.names[id(node)]} = {call};")


def function(head: str, comment: str, lines: list[str]) -> str:
    body = "\n".join(f"  {line}" for line in lines)
    return f"{comment}\n{head} {{\n{body}\n}}\n"


def window_pass() -> str:
    g = Graph()
    w = Writer(g)
    samples = [g.load(f"Load(d, block{n // 8} + {n % 8} * kStep)") for n in range(32)]
    windowed = [g.mul(sample, g.load(f"Set(d, window[{n}])")) for n, sample in enumerate(samples)]
    bins = real_fft(g, windowed)
    w.put((bins[0].re,), "Store({0}, d, column);")
    w.put((bins[16].re,), "Store({0}, d, column + kWidth);")
    for k in range(1, 16):
        turned = g.twiddle(bins[k], g.load(f"Set(d, twiddle[{2 * k}])"), g.load(f"Set(d, twiddle[{2 * k + 1}])"))
        w.put((turned.re,), f"Store({{0}}, d, column + {k} * stride);")
        w.put((turned.im,), f"Store({{0}}, d, column + {k} * stride + kWidth);")
    blocks = ", ".join(f"const T* HWY_RESTRICT block{b}" for b in range(4))
    setup = ["constexpr size_t kWidth = MaxLanes(d);", "constexpr size_t kStep = 33 * kWidth;"]
    return function(
        f"template <class D, class T = TFromD<D> >\nHWY_NOINLINE void WindowedFft32(D d, {blocks},\n"
        "                                const T* HWY_RESTRICT window, const T* HWY_RESTRICT twiddle,\n"
        "                                T* HWY_RESTRICT column, size_t stride)",
        "// Pass 1, column n2: samples n2, n2+32, ... (eight in each block, a vector of padding after\n"
        "// each 32), window[n], twiddle[2*k1]. Row k1 goes to column[k1*stride]; rows 0 and 16 are real and\n"
        "// share a complex place.",
        setup + w.finish(),
    )


def row_load(g: Graph, n: int, part: int = 0) -> Node:
    """Column n of a row: two columns stand side by side, pairs of columns a stride apart."""
    return g.load(f"Load(d, row + {n // 2} * stride + {2 * (n % 2) + part} * kWidth)")


def emit_bins(w: Writer, bins: list[Complex], highest_bin: int) -> None:
    """Bin k1+32*k2, or its mirror if that is above the middle, goes to bins[k2]. 1 <= k1 <= 15."""
    for k2, value in enumerate(bins):
        mirrored = k2 >= 16
        lowest = 32 * (32 - k2) - 15 if mirrored else 32 * k2 + 1
        if lowest > highest_bin:
            continue
        w.put_bin(value, f"bins + {k2}")


def row_pass(name: str, highest_bin: int) -> str:
    g = Graph()
    w = Writer(g)
    row = [Complex(row_load(g, n), row_load(g, n, 1)) for n in range(32)]
    emit_bins(w, fft(g, row), highest_bin)
    return function(
        "template <class D, class Sink, class Bin, class T = TFromD<D> >\n"
        f"HWY_NOINLINE void {name}(D d, const T* HWY_RESTRICT row, size_t stride,\n"
        "                             Sink sink, const Bin* bins)",
        f"// Pass 2, rows 1..15, bins up to {highest_bin}.",
        ["constexpr size_t kWidth = MaxLanes(d);", *w.finish()],
    )


def row_zero(name: str, highest_bin: int) -> str:
    g = Graph()
    w = Writer(g)
    bins = real_fft(g, [row_load(g, n) for n in range(32)])
    for k2, value in enumerate(bins):
        if 32 * k2 <= highest_bin:
            w.put_bin(value, f"bins + {k2}")
    return function(
        "template <class D, class Sink, class Bin, class T = TFromD<D> >\n"
        f"HWY_NOINLINE void {name}(D d, const T* HWY_RESTRICT row, size_t stride,\n"
        "                          Sink sink, const Bin* bins)",
        f"// Pass 2, row 0: real values, bins 0, 32, ... up to {highest_bin}.",
        ["constexpr size_t kWidth = MaxLanes(d);", *w.finish()],
    )


def row_sixteen(name: str, highest_bin: int) -> str:
    g = Graph()
    w = Writer(g)
    x = [row_load(g, n, 1) for n in range(32)]
    halves = []
    for n in range(16):
        value = Complex(x[n], g.neg(x[n + 16]))
        angle = -math.pi * n / 32.0
        if n:
            value = g.twiddle(value, g.constant(math.cos(angle)), g.constant(math.sin(angle)))
        halves.append(value)
    for m, value in enumerate(fft(g, halves)):
        # Odd bins are the conjugates of even ones: y[31-k] = conj(y[k]).
        k2 = 2 * m if m < 8 else 31 - 2 * m
        if 32 * k2 + 16 <= highest_bin:
            w.put_bin(value, f"bins + {k2}")
    return function(
        "template <class D, class Sink, class Bin, class T = TFromD<D> >\n"
        f"HWY_NOINLINE void {name}(D d, const T* HWY_RESTRICT row, size_t stride,\n"
        "                             Sink sink, const Bin* bins)",
        f"// Pass 2, row 16: real values at half-odd frequencies, bins 16, 48, ... up to {highest_bin}.",
        ["constexpr size_t kWidth = MaxLanes(d);", *w.finish()],
    )


def generated() -> str:
    guard = "STOKER_AUDIO_FFT1024_GENERATED_INL_H_"
    parts = [window_pass()]
    for suffix, highest_bin in (("", 512), ("To383", 383)):
        parts.append(row_zero(f"RowZero{suffix}", highest_bin))
        parts.append(row_pass(f"Fft32Row{suffix}", highest_bin))
        parts.append(row_sixteen(f"RowSixteen{suffix}", highest_bin))
    parts.append(row_pass("Fft32RowTo368", 368))
    return (
        "// Straight-line parts of the 1024-point real FFT, written by tools/generate_fft.py: change that instead.\n"
        "// clang-format off\n"
        f"#if defined({guard}) == defined(HWY_TARGET_TOGGLE)\n#ifdef {guard}\n#undef {guard}\n#else\n"
        f"#define {guard}\n#endif\n\n#include <hwy/highway.h>\n\n"
        "HWY_BEFORE_NAMESPACE();\nnamespace stoker::audio::HWY_NAMESPACE {\nusing namespace hwy::HWY_NAMESPACE;\n\n"
        + "\n".join(parts)
        + "\n}  // namespace stoker::audio::HWY_NAMESPACE\nHWY_AFTER_NAMESPACE();\n\n"
        + "#endif  // per-target include guard\n"
    )


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true")
    options = parser.parse_args()
    text = generated()
    if not options.check:
        TARGET.write_text(text, encoding="utf-8")
        return 0
    if TARGET.read_text(encoding="utf-8") == text:
        return 0
    print(f"{TARGET.name} differs from what tools/generate_fft.py writes; run it", file=sys.stderr)
    return 1


if __name__ == "__main__":
    sys.exit(main())
