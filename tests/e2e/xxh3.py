"""XXH3-128 (seed 0) of more than 240 bytes, in NumPy: an implementation that shares nothing with stoker's."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

SECRET = bytes.fromhex(
    "b8fe6c3923a44bbe7c01812cf721ad1cded46de9839097db7240a4a4b7b3671f"
    "cb79e64eccc0e578825ad07dccff7221b8084674f743248ee03590e6813a264c"
    "3c2852bb91c300cb88d0658b1b532ea371644897a20df94e3819ef46a9deacd8"
    "a8fa763fe39c343ff9dcbbc7c70b4f1d8a51e04bcdb45931c89f7ec9d9787364"
    "eac5ac8334d3ebc3c581a0fffa1363eb170ddd51b7f0da49d316552629d4689e"
    "2b16be587d47a1fc8ff8b8d17ad031ce45cb3a8f95160428afd7fbcabb4b407e"
)
P32_1, P32_2, P32_3 = 0x9E3779B1, 0x85EBCA77, 0xC2B2AE3D
P64_1, P64_2, P64_3 = 0x9E3779B185EBCA87, 0xC2B2AE3D27D4EB4F, 0x165667B19E3779F9
P64_4, P64_5 = 0x85EBCA77C2B2AE63, 0x27D4EB2F165667C5
MASK = 0xFFFFFFFFFFFFFFFF
SWAP = np.array([1, 0, 3, 2, 5, 4, 7, 6])

Words = NDArray[np.uint64]


def words(data: bytes) -> Words:
    return np.frombuffer(data, dtype="<u8").copy()


# One row of eight keys for each of the sixteen stripes of a block.
STRIPE_KEYS = np.stack([words(SECRET[8 * n : 8 * n + 64]) for n in range(16)])
SCRAMBLE_KEY = words(SECRET[128:192])
LAST_KEY = words(SECRET[121:185])


def accumulate(acc: Words, stripes: Words, keys: Words) -> Words:
    keyed = stripes ^ keys
    products = (keyed & np.uint64(0xFFFFFFFF)) * (keyed >> np.uint64(32))
    swapped: Words = stripes.sum(axis=0, dtype=np.uint64)[SWAP]
    total: Words = acc + swapped + products.sum(axis=0, dtype=np.uint64)
    return total


def merge(acc: Words, secret: bytes, start: int) -> int:
    result = start
    for i in range(4):
        left = int(acc[2 * i]) ^ int.from_bytes(secret[16 * i : 16 * i + 8], "little")
        right = int(acc[2 * i + 1]) ^ int.from_bytes(secret[16 * i + 8 : 16 * i + 16], "little")
        product = left * right
        result += (product & MASK) ^ (product >> 64)
    result &= MASK
    result ^= result >> 37
    result = result * 0x165667919E3779F9 & MASK
    return result ^ (result >> 32)


def xxh3_128(data: bytes) -> str:
    """The digest as 32 hexadecimal digits, high half first."""
    if len(data) <= 240:
        raise ValueError("only for more than 240 bytes")
    acc = np.array([P32_3, P64_1, P64_2, P64_3, P64_4, P32_2, P64_5, P32_1], dtype=np.uint64)
    num_blocks = (len(data) - 1) // 1024
    for block in range(num_blocks):
        stripes = words(data[1024 * block : 1024 * (block + 1)]).reshape(16, 8)
        acc = accumulate(acc, stripes, STRIPE_KEYS)
        acc = ((acc ^ (acc >> np.uint64(47))) ^ SCRAMBLE_KEY) * np.uint64(P32_1)
    rest = data[1024 * num_blocks :]
    num_stripes = (len(rest) - 1) // 64
    if num_stripes > 0:
        stripes = words(rest[: 64 * num_stripes]).reshape(num_stripes, 8)
        acc = accumulate(acc, stripes, STRIPE_KEYS[:num_stripes])
    acc = accumulate(acc, words(data[-64:]).reshape(1, 8), LAST_KEY.reshape(1, 8))
    low = merge(acc, SECRET[11:], len(data) * P64_1 & MASK)
    high = merge(acc, SECRET[192 - 64 - 11 :], ~(len(data) * P64_2) & MASK)
    return f"{high:016x}{low:016x}"
