"""WAV files that are wrong in one way each, as bytes, with the code and the byte offset a strict reader names."""

import struct
from dataclasses import dataclass

RATE_HZ = 22050
GUID_TAIL = bytes.fromhex("000000001000800000aa00389b71")


@dataclass(frozen=True)
class BadWav:
    """One bad file: `code` is what the row is rejected with, `at` where."""

    name: str
    content: bytes
    code: str
    at: int | None


@dataclass(frozen=True)
class Fmt:
    """Fields of a fmt chunk; None = as it should be."""

    code: int = 1
    channels: int = 1
    rate_hz: int = RATE_HZ
    bits: int = 16
    block: int | None = None

    def body(self) -> bytes:
        block = self.channels * self.bits // 8 if self.block is None else self.block
        byte_rate = self.rate_hz * block & 0xFFFFFFFF
        return struct.pack("<HHIIHH", self.code, self.channels, self.rate_hz, byte_rate, block & 0xFFFF, self.bits)


def chunk(name: bytes, body: bytes, size: int | None = None, pad: bool = True) -> bytes:
    """A chunk whose size may be wrong."""
    padding = b"\0" if pad and len(body) % 2 else b""
    return name + struct.pack("<I", len(body) if size is None else size) + body + padding


def riff(chunks: bytes, size: int | None = None) -> bytes:
    """The chunks inside a RIFF/WAVE frame."""
    return b"RIFF" + struct.pack("<I", len(chunks) + 4 if size is None else size) + b"WAVE" + chunks


def wave(num_samples: int = RATE_HZ, variant: int = 0) -> bytes:
    """Samples that are neither silent nor clipped; each variant sounds different."""
    values = ((i * (61 + variant)) % 20000 - 10000 for i in range(num_samples))
    return struct.pack(f"<{num_samples}h", *values)


def good(variant: int = 0, num_samples: int = RATE_HZ) -> bytes:
    """A plain mono PCM16 file."""
    return riff(chunk(b"fmt ", Fmt().body()) + chunk(b"data", wave(num_samples, variant)))


def with_fmt(fmt: Fmt) -> bytes:
    """Right but for its format."""
    return riff(chunk(b"fmt ", fmt.body()) + chunk(b"data", wave()))


def extensible(extension: int = 22, valid_bits: int = 16, code: int = 1, tail: bytes = GUID_TAIL) -> bytes:
    """A file in the extensible format."""
    body = Fmt(code=0xFFFE).body() + struct.pack("<HHIH", extension, valid_bits, 0, code) + tail
    body += bytes(max(0, extension - 22))
    return riff(chunk(b"fmt ", body) + chunk(b"data", wave()))


def floats(bad: float | None) -> bytes:
    """32-bit float samples, one of which may not be a number."""
    values = [((i * 61) % 200) / 400 for i in range(RATE_HZ)]
    if bad is not None:
        values[700] = bad
    data = struct.pack(f"<{RATE_HZ}f", *values)
    return riff(chunk(b"fmt ", Fmt(code=3, bits=32).body()) + chunk(b"data", data))


FMT = chunk(b"fmt ", Fmt().body())
DATA = chunk(b"data", wave())


def bad_wavs() -> list[BadWav]:
    """Every row of the catalogue's section B that a file alone can show."""
    nan, inf = float("nan"), float("inf")
    many = chunk(b"junk", b"") * 2000
    return [
        BadWav("b01_half_missing", riff(FMT + chunk(b"data", wave(100), 400)), "E-WAV-TRUNC", 40),
        BadWav("b02_size_fffffff0", riff(FMT + chunk(b"data", wave(), 0xFFFFFFF0)), "E-WAV-TRUNC", 40),
        BadWav("b02_size_open", riff(FMT + chunk(b"data", wave(), 0xFFFFFFFF), 0xFFFFFFFF), "E-WAV-STREAMED", 40),
        BadWav("b02_size_zero", riff(FMT + chunk(b"data", wave(), 0)), "E-WAV-EMPTY", 40),
        BadWav("b04_block_0", with_fmt(Fmt(block=0)), "E-WAV-BLOCK", 32),
        BadWav("b04_block_3", with_fmt(Fmt(block=3)), "E-WAV-BLOCK", 32),
        BadWav("b05_bits_0", with_fmt(Fmt(bits=0)), "E-WAV-BITS", 34),
        BadWav("b05_bits_12", with_fmt(Fmt(bits=12)), "E-WAV-BITS", 34),
        BadWav("b05_bits_20", with_fmt(Fmt(bits=20)), "E-WAV-BITS", 34),
        BadWav("b05_bits_64", with_fmt(Fmt(bits=64)), "E-WAV-BITS", 34),
        BadWav("b05_valid_bits", extensible(valid_bits=24), "E-WAV-BITS", 38),
        BadWav("b06_channels_0", with_fmt(Fmt(channels=0)), "E-WAV-CHANNELS", 22),
        BadWav("b06_channels_65535", with_fmt(Fmt(channels=65535)), "E-WAV-CHANNELS", 22),
        BadWav("b07_rate_0", with_fmt(Fmt(rate_hz=0)), "E-WAV-RATE", 24),
        BadWav("b07_rate_largest", with_fmt(Fmt(rate_hz=0xFFFFFFFF)), "E-WAV-RATE", 24),
        BadWav("b08_guid", extensible(tail=b"strange guid.."), "E-WAV-GUID", 44),
        BadWav("b08_no_extension", with_fmt(Fmt(code=0xFFFE)), "E-WAV-FMT", 36),
        BadWav("b08_short_extension", extensible(extension=20), "E-WAV-FMT", 36),
        BadWav("b09_adpcm", with_fmt(Fmt(code=2, bits=4, block=256)), "E-WAV-CODEC", 20),
        BadWav("b09_mu_law", with_fmt(Fmt(code=7, bits=8)), "E-WAV-CODEC", 20),
        BadWav("b09_mp3", with_fmt(Fmt(code=0x55, bits=0)), "E-WAV-CODEC", 20),
        BadWav(
            "b10_two_fmt", riff(FMT + chunk(b"fmt ", Fmt(channels=2, rate_hz=44100).body()) + DATA), "E-WAV-DUPFMT", 36
        ),
        BadWav("b10_fmt_after_data", riff(DATA + FMT), "E-WAV-ORDER", 12 + len(DATA)),
        BadWav("b10_no_fmt", riff(DATA), "E-WAV-NOFMT", 12),
        BadWav("b10_no_data", riff(FMT + chunk(b"LIST", b"abcdefgh")), "E-WAV-NODATA", 52),
        BadWav("b10_two_data", riff(FMT + DATA + DATA), "E-WAV-DUPDATA", 36 + len(DATA)),
        BadWav("b11_no_pad", riff(FMT + chunk(b"LIST", b"abc", pad=False) + b"zzzz" + DATA), "E-WAV-PAD", 47),
        BadWav("b12_chunk_past_end", riff(FMT + chunk(b"JUNK", b"abcd", 1 << 31) + DATA), "E-WAV-CHUNK", 36),
        BadWav("b12_many_chunks", riff(many + FMT + DATA), "E-WAV-CHUNKS", 12 + 1024 * 8),
        BadWav("b13_rifx", b"RIFX" + good()[4:], "E-WAV-KIND", 0),
        BadWav("b13_rf64", b"RF64" + good()[4:], "E-WAV-KIND", 0),
        BadWav("b13_w64", b"riff\x2e\x91\xcf\x11" + bytes(200), "E-WAV-KIND", 0),
        BadWav("b13_aiff", b"FORM\0\0\1\0AIFF" + bytes(200), "E-WAV-KIND", 0),
        BadWav("b13_html", b"<!DOCTYPE html><html><body>404 Not Found</body></html>" * 4, "E-WAV-KIND", 0),
        BadWav("b14_no_byte", b"", "E-WAV-EMPTY", 0),
        BadWav("b14_20_bytes", good()[:20], "E-WAV-EMPTY", 0),
        BadWav("b14_header_only", riff(FMT + chunk(b"data", b"")), "E-WAV-EMPTY", 40),
        BadWav("b15_nan", floats(nan), "E-WAV-NONFINITE", 44 + 4 * 700),
        BadWav("b15_inf", floats(inf), "E-WAV-NONFINITE", 44 + 4 * 700),
        BadWav("b15_minus_inf", floats(-inf), "E-WAV-NONFINITE", 44 + 4 * 700),
        BadWav("b17_one_sample", good(num_samples=1), "E-DATA-SHORT", None),
        BadWav("b17_255_samples", good(num_samples=255), "E-DATA-SHORT", None),
    ]


def odd_wavs() -> list[BadWav]:
    """Files that are used although something about them is odd; the code is the warning's."""
    silent = riff(FMT + chunk(b"data", bytes(2 * RATE_HZ)))
    constant = riff(FMT + chunk(b"data", struct.pack("<h", 77) * RATE_HZ))
    square = struct.pack("<40h", *([-32768] * 20 + [32767] * 20))
    return [
        BadWav("b03_riff_size", riff(FMT + chunk(b"data", wave(variant=301)), 4), "E-WAV-RIFFSIZE", None),
        BadWav("b03_trailing", good(302) + bytes(64), "E-WAV-TRAILING", None),
        BadWav(
            "b06_stereo",
            riff(chunk(b"fmt ", Fmt(channels=2).body()) + chunk(b"data", wave(2 * RATE_HZ, 303))),
            "E-DATA-MIXED",
            None,
        ),
        BadWav(
            "b07_44100",
            riff(chunk(b"fmt ", Fmt(rate_hz=44100).body()) + chunk(b"data", wave(44100, 304))),
            "E-DATA-RESAMPLED",
            None,
        ),
        BadWav(
            "b11_missing_pad",
            riff(FMT + chunk(b"LIST", b"abc", pad=False) + chunk(b"data", wave(variant=305))),
            "E-WAV-PAD",
            None,
        ),
        BadWav("b16_silent", silent, "E-DATA-SILENT", None),
        BadWav("b16_constant", constant, "E-DATA-CONSTANT", None),
        BadWav("b16_clipped", riff(FMT + chunk(b"data", square * 551)), "E-DATA-CLIPPED", None),
        BadWav("odd_bytes", riff(FMT + chunk(b"data", wave(variant=306) + b"x")), "E-WAV-ODDDATA", None),
    ]
