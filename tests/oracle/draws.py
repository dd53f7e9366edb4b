"""Keyed draws as docs/format/order.md defines them: Philox4x32-10 and unbiased bounds."""

from functools import cache

from tests.oracle.xxh3 import xxh3_64

MASK32 = 0xFFFFFFFF


def philox(counter: tuple[int, int, int, int], key: tuple[int, int]) -> list[int]:
    """Philox4x32 with ten rounds."""
    c0, c1, c2, c3 = counter
    k0, k1 = key
    for _ in range(10):
        p0, p1 = 0xD2511F53 * c0, 0xCD9E8D57 * c2
        c0, c1, c2, c3 = (p1 >> 32) ^ c1 ^ k0, p1 & MASK32, (p0 >> 32) ^ c3 ^ k1, p0 & MASK32
        k0, k1 = (k0 + 0x9E3779B9) & MASK32, (k1 + 0xBB67AE85) & MASK32
    return [c0, c1, c2, c3]


@cache
def hash_of(text: str) -> int:
    return xxh3_64(text.encode())


class Draws:
    """The stream of draws of (seed, stage, epoch, item)."""

    def __init__(self, seed: int, stage: str, epoch: int, item: int) -> None:
        mixed = seed ^ hash_of(stage)
        self.key = (mixed & MASK32, mixed >> 32)
        self.epoch, self.item, self.block = epoch, item, 0
        self.words: list[int] = []

    def u32(self) -> int:
        if not self.words:
            counter = (self.block, self.epoch & MASK32, self.item & MASK32, self.item >> 32)
            self.words = philox(counter, self.key)
            self.block += 1
        return self.words.pop(0)

    def u64(self) -> int:
        low = self.u32()
        return self.u32() << 32 | low

    def below(self, bound: int) -> int:
        refuse_below = 2**64 % bound
        while True:
            draw = self.u64()
            if draw >= refuse_below:
                return draw % bound

    def unit(self) -> float:
        """In [0, 1): the upper 53 bits of a 64-bit draw."""
        return (self.u64() >> 11) * 2.0**-53

    def between(self, low: float, high: float) -> float:
        return low + (high - low) * self.unit()


def fisher_yates(draws: Draws, items: list[int]) -> None:
    for i in range(len(items), 1, -1):
        j = draws.below(i)
        items[i - 1], items[j] = items[j], items[i - 1]
