"""The factors that a stream is tried with, their levels, and the pairs that cannot be met together, with the reason.

Everything is computed from this file: the cases of `make test`, those of `make torture`, and which pairs were met.
"""

from __future__ import annotations

FACTORS: dict[str, tuple[str, ...]] = {
    "data": ("ljspeech", "train_eval", "nested", "table", "jsonl", "jsonl_segments", "kaldi", "kaldi_segments"),
    "sources": ("one", "weighted"),
    "sound": ("wav8", "wav16", "wav24", "wav32", "float32", "float64", "flac", "stereo16", "other_rate"),
    "preset": (
        "hifigan", "tacotron2", "myxtts", "myxtts_tf", "librosa", "torchaudio", "whisper", "xtts", "kaldi", "vocos24",
    ),
    "prepare": ("as_is", "trim", "rms", "peak", "lufs"),
    "vocabulary": ("characters", "bytes", "myxtts", "phonemes"),
    "blank": ("off", "on"),
    "speakers": ("auto", "off", "on", "pattern"),
    "languages": ("one", "two", "recorded"),
    "batch": ("size_2", "size_5", "frames_short", "frames_long"),
    "layout": ("padded", "packed"),
    "shapes": ("static", "three", "many"),
    "order": ("shuffled", "file"),
    "drop_last": ("off", "on"),
    "seed": ("0", "42", "9007199254740993"),
    "world": ("alone", "first_of_2", "last_of_2", "last_of_3", "multiple_4_of_2"),
    "audio": ("off", "on"),
    "segments": ("none", "8", "70"),
    "reference": ("none", "same", "speaker"),
    "arrays": ("none", "one", "two"),
    "augment": ("none", "gain", "white_noise", "noise_folder"),
    "cache_dtype": ("f16", "f32", "bf16"),
    "batch_dtype": ("auto", "f32", "f16", "bf16"),
    "cache": ("none", "whole", "half", "stale", "damaged", "other_level", "half_other_level"),
    "content": ("mel", "pcm", "both"),
    "mode": ("auto", "runtime", "precompute"),
    "tier": ("disk", "ram"),
    "reading": ("map", "pread"),
    "loader": ("native", "naive", "no_overlap"),
    "workers": ("0", "1", "2", "3", "4"),
    "prefetch": ("1", "auto"),
    "resume": ("none", "state", "epoch_end", "from_batch"),
}  # fmt: skip

# Drawn besides with `--device cuda`. `mel_place: auto` is left out: it measures, so two runs may differ.
GPU_FACTORS: dict[str, tuple[str, ...]] = {
    "mel_place": ("cpu", "gpu"),
    "gpu_mode": ("buffered", "two_devices", "no_prefetch", "host"),
    "gpu_buffer": ("1", "3", "50"),
    "gpu_tier": ("as_cache", "gpu"),
    "copy_from_cache": ("true", "false"),
    "pin_memory": ("true", "false"),
}

# (factor, level, factor, level): why the two are never met.
EXCLUDED: dict[tuple[str, str, str, str], str] = {
    ("layout", "packed", "batch", "size_2"): "a packed batch is sized by frames alone",
    ("layout", "packed", "batch", "size_5"): "a packed batch is sized by frames alone",
}
EXCLUDED |= {("arrays", arrays, "cache", "none"): "named arrays are read from a cache" for arrays in ("one", "two")}
EXCLUDED |= {("arrays", arrays, "mode", "runtime"): "named arrays are read from a cache" for arrays in ("one", "two")}

EXCLUDED |= {
    ("arrays", arrays, "cache", cache): "utterances missing in a cache have no named arrays, and stale ones are refused"
    for arrays in ("one", "two")
    for cache in ("half", "half_other_level")
}
EXCLUDED |= {
    ("languages", "two", "data", data): "this layout names no languages"
    for data in ("ljspeech", "train_eval", "nested", "kaldi", "kaldi_segments")
}
EXCLUDED |= {
    ("languages", languages, "vocabulary", "characters"): "the letters of other languages are those that ICU lists"
    for languages in ("two", "recorded")
}

EXCLUDED |= {
    (
        "loader",
        "naive",
        "mode",
        "precompute",
    ): "the naive loader reads .npy files that `bench feed` writes, or the sound",
    ("loader", "naive", "arrays", "one"): "the naive loader reads no cache",
    ("loader", "naive", "arrays", "two"): "the naive loader reads no cache",
}

# Levels left out of the factors above: mp3, ogg and opus (decoders of other projects, not defined to the last bit), and
# a change of speed (the feed refuses it). Resampled sound is compared with an ideal resampler, so within a tolerance.

Case = dict[str, str]


def conflict(factor: str, level: str, other: str, other_level: str) -> str:
    """Why two levels cannot meet; empty when they can."""
    return EXCLUDED.get((factor, level, other, other_level), "") or EXCLUDED.get(
        (other, other_level, factor, level), ""
    )


def fits(case: Case, factor: str, level: str) -> bool:
    return not any(conflict(factor, level, other, case[other]) for other in case if other != factor)


def all_pairs() -> set[tuple[str, str, str, str]]:
    names = list(FACTORS)
    return {
        (a, level, b, other)
        for i, a in enumerate(names)
        for b in names[i + 1 :]
        for level in FACTORS[a]
        for other in FACTORS[b]
        if not conflict(a, level, b, other)
    }


def pairs_of(case: Case) -> set[tuple[str, str, str, str]]:
    names = list(FACTORS)
    return {(a, case[a], b, case[b]) for i, a in enumerate(names) for b in names[i + 1 :]}
