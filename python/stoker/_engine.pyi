from collections.abc import Iterator, Sequence
from typing import Any

import numpy.typing

import stoker.batch


version: str = ...

def pass_on_log() -> None:
    """Hands what the library said to Python's logging."""

def declared_settings() -> list[dict[str, str]]:
    """Every setting: path, name, kind, unit, sentence and default."""

def effective_settings(config: str, keywords: Sequence[tuple[str, str]]) -> str:
    """Every setting by its path, as JSON."""

class Tensor:
    """An array of a batch; keeps the batch's memory for as long as it lives."""

    @property
    def shape(self) -> tuple[int, ...]:
        """Length of each axis."""

    @property
    def dtype(self) -> str:
        """float16, bfloat16, float32, int32 …"""

    @property
    def device(self) -> str:
        """cpu or cuda:N."""

    @property
    def ndim(self) -> int:
        """Number of axes."""

    @property
    def size(self) -> int:
        """Number of values."""

    @property
    def nbytes(self) -> int:
        """Size in bytes."""

    @property
    def is_pinned(self) -> bool:
        """Whether it is a copy in page-locked host memory."""

    def numpy(self) -> numpy.typing.NDArray[Any]:
        """
        A NumPy array: a view of host memory, a copy of what is on a GPU; bfloat16 as float32.
        """

    def tolist(self) -> list[Any]:
        """The values as lists."""

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any: ...

    def __len__(self) -> int: ...

    def __repr__(self) -> str: ...

    def __dlpack__(self, *, stream: int | None = None, max_version: tuple[int, int] | None = None, dl_device: tuple[int, int] | None = None, copy: bool | None = None) -> Any: ...

    def __dlpack_device__(self) -> tuple[int, int]: ...

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]: ...

class Batch:
    """
    One batch, leased from the feed until it is released or collected and no tensor of it is left.
    """

    @property
    def mel(self) -> Tensor:
        """Log-mel frames [rows, frames, bands]."""

    @property
    def tokens(self) -> Tensor:
        """Text tokens [rows, tokens], 0 behind each row's length."""

    @property
    def text_len(self) -> Tensor:
        """Tokens of each row."""

    @property
    def mel_len(self) -> Tensor:
        """Frames of each row."""

    @property
    def speaker(self) -> Tensor:
        """Speaker number of each row."""

    @property
    def language(self) -> Tensor:
        """Language number of each row."""

    @property
    def frame_begins(self) -> Tensor | None:
        """Where each row begins in mel, counted over the whole batch."""

    @property
    def token_begins(self) -> Tensor | None:
        """Where each row begins in tokens, counted over the whole batch."""

    @property
    def audio(self) -> Tensor | None:
        """Samples [rows, samples]; None unless data.with_audio is set."""

    @property
    def audio_len(self) -> Tensor | None:
        """Samples of each row."""

    @property
    def reference_mel(self) -> Tensor | None:
        """A crop of the voice [rows, frames, bands]; None unless asked for."""

    @property
    def reference_len(self) -> Tensor | None:
        """Frames of each crop."""

    @property
    def wav_segment(self) -> Tensor | None:
        """Samples of a random segment of each row; None unless asked for."""

    @property
    def mel_segment(self) -> Tensor | None:
        """Frames of the same segment; None unless asked for."""

    def __getitem__(self, name: str) -> Any: ...

    def get(self, name: str, default: Any = None) -> Any: ...

    def __contains__(self, arg: str, /) -> bool: ...

    def __len__(self) -> int: ...

    def __iter__(self) -> Iterator[str]: ...

    def keys(self) -> list[str]:
        """The names of what the batch has."""

    def values(self) -> list[Any]:
        """What the batch has."""

    def items(self) -> list[tuple[str, Any]]:
        """Names and parts."""

    def to_torch(self, copy: bool = False) -> dict[str, Any]:
        """
        The parts as torch tensors on the batch's device, without a copy unless asked for.
        """

    def copy(self) -> stoker.batch.BatchCopy:
        """The same parts in memory of their own, on the same device."""

    def pin(self) -> stoker.batch.BatchCopy:
        """
        The same parts in page-locked host memory, from where copies to a GPU run beside work.
        """

    def pin_memory(self) -> stoker.batch.BatchCopy:
        """As pin()."""

    def __repr__(self) -> str: ...

    @property
    def segments(self) -> stoker.batch.Segments | None:
        """Aligned random segments (wav, mel) of each row; None unless asked for."""

    @property
    def ids(self) -> tuple[str, ...]:
        """The utterances' names; empty for rows that fill up."""

    @property
    def arrays(self) -> dict[str, Tensor]:
        """The arrays asked for by name, each with NAME_len."""

    @property
    def epoch(self) -> int:
        """Its epoch."""

    @property
    def index(self) -> int:
        """Its place in the epoch."""

    @property
    def num_rows(self) -> int:
        """Rows, those that fill up included."""

    @property
    def is_last(self) -> bool:
        """Whether the epoch ends with it."""

    @property
    def device(self) -> str:
        """Where mel and tokens are."""

    @property
    def is_released(self) -> bool:
        """Whether release() was called."""

    def content_digest(self) -> str:
        """
        A digest of everything delivered, the same in every language and for any number of workers.
        """

    def release(self, stream: int | None = None) -> None:
        """
        Gives the batch back; tensors taken from it before keep its memory. `stream` (a cudaStream_t) is one more whose work so far is waited for.
        """

    def record_stream(self, stream: int) -> None:
        """
        Says that work on this stream (a cudaStream_t) reads the batch; its memory is used again only after that.
        """

def copy_tensor(tensor: Tensor, where: str) -> Tensor: ...

class Epoch:
    """A loop over one epoch of a feed."""

    def __iter__(self) -> Epoch: ...

    def __next__(self) -> Batch: ...

    def __length_hint__(self) -> int: ...

class Feed:
    def __init__(self, config: str, keywords: Sequence[tuple[str, str]], state: str | None = ...) -> None: ...

    def begin(self, timeout_s: float) -> Epoch: ...

    def close(self) -> None: ...

    @property
    def is_closed(self) -> bool: ...

    def set_epoch(self, epoch: int) -> None: ...

    def state(self) -> str: ...

    def restore(self, state: str) -> None: ...

    def num_batches(self) -> int: ...

    @property
    def position(self) -> tuple[int, int]: ...

    def stats(self) -> str: ...

    def debug(self) -> str: ...

    def mode(self) -> list[str]: ...

    @property
    def num_rows(self) -> int: ...

    def set_core_share(self, num_cores: int) -> None: ...

    def set_num_workers(self, num_workers: int) -> None: ...

    def shapes(self) -> list[tuple[int, int, int]]: ...
