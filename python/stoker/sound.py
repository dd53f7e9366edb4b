"""Log-mel frames of one sound, as every feed and cache has them."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, overload

from stoker import _engine
from stoker.settings import keywords_of

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Frames = NDArray[np.float32]


@overload
def features(
    sound: str | os.PathLike[str] | NDArray[Any],
    *,
    preset: str | None = None,
    sample_rate: int | None = None,
    config: str | os.PathLike[str] | None = None,
    **settings: Any,
) -> Frames: ...


@overload
def features(
    sound: Sequence[str | os.PathLike[str]],
    *,
    preset: str | None = None,
    sample_rate: None = None,
    config: str | os.PathLike[str] | None = None,
    **settings: Any,
) -> list[Frames]: ...


def features(
    sound: Any,
    *,
    preset: str | None = None,
    sample_rate: int | None = None,
    config: str | os.PathLike[str] | None = None,
    **settings: Any,
) -> Frames | list[Frames]:
    """The frames [frames, mels] of a sound file, of each file of a list, or of an array of samples.

    An array is one channel of float32 (full scale 1) or int16 samples; `sample_rate` is its rate, without it the
    recipe's. It gives what a WAV file with these samples gives. Every other keyword is a setting of the features.
    """
    maker = _engine.FeatureMaker(os.fspath(config or ""), keywords_of({"features.preset": preset, **settings}))
    if not hasattr(sound, "__array__") and sample_rate is not None:
        raise ValueError(
            "expected sample_rate only with an array: a file has its own, and features.sample_rate is the recipe's"
        )
    if isinstance(sound, str | os.PathLike):
        frames: Frames = maker.file(os.fspath(sound))
        return frames
    if hasattr(sound, "__array__"):
        return _of_array(maker, sound, sample_rate)
    return [maker.file(os.fspath(path)) for path in sound]


def _of_array(maker: Any, sound: Any, sample_rate: int | None) -> Frames:
    import numpy as np

    samples = np.asarray(sound)
    if samples.ndim != 1 or samples.dtype not in (np.dtype(np.float32), np.dtype(np.int16)):
        raise ValueError(
            f"expected one channel of float32 or int16 samples, found {samples.dtype} of shape {samples.shape}"
        )
    rate_hz = maker.rate_hz if sample_rate is None else sample_rate
    if not 0 < rate_hz < 2**32:
        raise ValueError(f"expected a rate above 0 Hz, found {rate_hz}")
    frames: Frames = maker.samples(np.ascontiguousarray(samples), int(rate_hz))
    return frames
