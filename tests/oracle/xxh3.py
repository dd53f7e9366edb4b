"""XXH3-64 and XXH3-128 (seed 0), in NumPy: an implementation that shares nothing with stoker's."""

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


def avalanche(value: int) -> int:
    value ^= value >> 37
    value = value * 0x165667919E3779F9 & MASK
    return value ^ (value >> 32)


def merge(acc: Words, secret: bytes, start: int) -> int:
    result = start
    for i in range(4):
        left = int(acc[2 * i]) ^ int.from_bytes(secret[16 * i : 16 * i + 8], "little")
        right = int(acc[2 * i + 1]) ^ int.from_bytes(secret[16 * i + 8 : 16 * i + 16], "little")
        product = left * right
        result += (product & MASK) ^ (product >> 64)
    return avalanche(result & MASK)


def long_accumulators(data: bytes) -> Words:
    """What both digests of more than 240 bytes are merged from."""
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
    return accumulate(acc, words(data[-64:]).reshape(1, 8), LAST_KEY.reshape(1, 8))


def le(data: bytes, at: int, size: int) -> int:
    return int.from_bytes(data[at : at + size], "little")


def key64(at: int) -> int:
    return le(SECRET, at, 8)


def folded(left: int, right: int) -> int:
    product = left * right
    return (product & MASK) ^ (product >> 64)


def swapped(value: int, size: int) -> int:
    return int.from_bytes(value.to_bytes(size, "little"), "big")


def xxh64_avalanche(value: int) -> int:
    value = (value ^ (value >> 33)) * P64_2 & MASK
    value = (value ^ (value >> 29)) * P64_3 & MASK
    return value ^ (value >> 32)


def mix16(data: bytes, at: int, key_at: int) -> int:
    return folded(le(data, at, 8) ^ key64(key_at), le(data, at + 8, 8) ^ key64(key_at + 8))


def short_bytes(data: bytes) -> int:
    """One to three bytes and their number as 32 bits."""
    size = len(data)
    return data[0] << 16 | data[size >> 1] << 24 | data[size - 1] | size << 8


def hash64_up_to_16(data: bytes) -> int:
    size = len(data)
    if size == 0:
        return xxh64_avalanche(key64(56) ^ key64(64))
    if size <= 3:
        return xxh64_avalanche(short_bytes(data) ^ le(SECRET, 0, 4) ^ le(SECRET, 4, 4))
    if size <= 8:
        value = le(data, size - 4, 4) + (le(data, 0, 4) << 32) ^ key64(8) ^ key64(16)
        rotated = [(value << by | value >> (64 - by)) & MASK for by in (49, 24)]
        value = (value ^ rotated[0] ^ rotated[1]) * 0x9FB21C651E98DF25 & MASK
        value = (value ^ ((value >> 35) + size)) * 0x9FB21C651E98DF25 & MASK
        return value ^ (value >> 28)
    low = le(data, 0, 8) ^ key64(24) ^ key64(32)
    high = le(data, size - 8, 8) ^ key64(40) ^ key64(48)
    return avalanche((size + swapped(low, 8) + high + folded(low, high)) & MASK)


def xxh3_64(data: bytes) -> int:
    size = len(data)
    if size <= 16:
        return hash64_up_to_16(data)
    result = size * P64_1 & MASK
    if size <= 128:
        for i in range((size - 1) // 32, -1, -1):
            result += mix16(data, 16 * i, 32 * i) + mix16(data, size - 16 * (i + 1), 32 * i + 16)
        return avalanche(result & MASK)
    if size <= 240:
        result = avalanche((result + sum(mix16(data, 16 * i, 16 * i) for i in range(8))) & MASK)
        result += sum(mix16(data, 16 * i, 16 * (i - 8) + 3) for i in range(8, size // 16))
        return avalanche((result + mix16(data, size - 16, 136 - 17)) & MASK)
    return merge(long_accumulators(data), SECRET[11:], result)


Pair = tuple[int, int]


def hash128_up_to_16(data: bytes) -> Pair:
    """Low and high half."""
    size = len(data)
    if size == 0:
        return xxh64_avalanche(key64(64) ^ key64(72)), xxh64_avalanche(key64(80) ^ key64(88))
    if size <= 3:
        low = short_bytes(data)
        high = swapped(low, 4)
        high = (high << 13 | high >> 19) & 0xFFFFFFFF
        low ^= le(SECRET, 0, 4) ^ le(SECRET, 4, 4)
        return xxh64_avalanche(low), xxh64_avalanche(high ^ le(SECRET, 8, 4) ^ le(SECRET, 12, 4))
    if size <= 8:
        keyed = le(data, 0, 4) + (le(data, size - 4, 4) << 32) ^ key64(16) ^ key64(24)
        product = keyed * (P64_1 + (size << 2) & MASK)
        low, high = product & MASK, product >> 64
        high = (high + (low << 1)) & MASK
        low ^= high >> 3
        low = (low ^ (low >> 35)) * 0x9FB21C651E98DF25 & MASK
        return low ^ (low >> 28), avalanche(high)
    first, last = le(data, 0, 8), le(data, size - 8, 8)
    product = (first ^ last ^ key64(32) ^ key64(40)) * P64_1
    low, high = (product + ((size - 1) << 54)) & MASK, product >> 64
    last ^= key64(48) ^ key64(56)
    high = (high + last + (last & 0xFFFFFFFF) * (P32_2 - 1)) & MASK
    low ^= swapped(high, 8)
    product = low * P64_2
    return avalanche(product & MASK), avalanche((product >> 64) + high * P64_2 & MASK)


def mix32(acc: Pair, data: bytes, first: int, second: int, key_at: int) -> Pair:
    low, high = acc
    low = (low + mix16(data, first, key_at) & MASK) ^ (le(data, second, 8) + le(data, second + 8, 8) & MASK)
    high = (high + mix16(data, second, key_at + 16) & MASK) ^ (le(data, first, 8) + le(data, first + 8, 8) & MASK)
    return low, high


def hash128_up_to_240(data: bytes) -> Pair:
    size = len(data)
    acc = (size * P64_1 & MASK, 0)
    if size <= 128:
        for i in range((size - 1) // 32, -1, -1):
            acc = mix32(acc, data, 16 * i, size - 16 * (i + 1), 32 * i)
    else:
        for at in range(0, 128, 32):
            acc = mix32(acc, data, at, at + 16, at)
        acc = (avalanche(acc[0]), avalanche(acc[1]))
        for at in range(128, size // 32 * 32, 32):
            acc = mix32(acc, data, at, at + 16, 3 + at - 128)
        acc = mix32(acc, data, size - 16, size - 32, 136 - 17 - 16)
    low = avalanche((acc[0] + acc[1]) & MASK)
    high = avalanche((acc[0] * P64_1 + acc[1] * P64_4 + size * P64_2) & MASK)
    return low, -high & MASK


def xxh3_128(data: bytes) -> str:
    """The digest as 32 hexadecimal digits, high half first."""
    size = len(data)
    if size <= 240:
        low, high = hash128_up_to_16(data) if size <= 16 else hash128_up_to_240(data)
    else:
        acc = long_accumulators(data)
        low = merge(acc, SECRET[11:], size * P64_1 & MASK)
        high = merge(acc, SECRET[192 - 64 - 11 :], ~(size * P64_2) & MASK)
    return f"{high:016x}{low:016x}"
