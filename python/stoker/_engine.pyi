from collections.abc import Iterator, Sequence
from typing import Annotated, Any, overload

import numpy
import numpy.typing
from numpy.typing import NDArray

import stoker.batch


version: str = ...

def end_interpreter() -> None:
    """
    From here on no thread comes back from a wait; called when the interpreter ends.
    """

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

    def to_torch(self, *names: str, copy: bool = False) -> dict[str, Any]:
        """
        The parts named, or all, as torch tensors on the batch's device, without a copy unless asked for.
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
        """
        Where its tensors are; frame_begins and token_begins are in host memory.
        """

    @property
    def is_released(self) -> bool:
        """Whether release() was called."""

    def content_digest(self) -> str:
        """
        A digest of everything delivered, the same in every language and for any number of workers.
        """

    def release(self, stream: Any = None) -> None:
        """
        Gives the batch back; tensors taken from it before keep its memory. `stream` (a cudaStream_t or torch.cuda.Stream) is one more whose work so far is waited for.
        """

    def record_stream(self, stream: Any) -> None:
        """
        Says that work on this stream (a cudaStream_t or torch.cuda.Stream) reads the batch; its memory is used again only after that.
        """

def copy_tensor(tensor: Tensor, where: str) -> Tensor: ...

class Epoch:
    """A loop over one epoch of a feed."""

    def __iter__(self) -> Epoch: ...

    def __next__(self) -> Batch: ...

    def __length_hint__(self) -> int: ...

def num_cores() -> int:
    """Cores that this process may use, by its affinity and its quota."""

class Feed:
    def __init__(self, config: str, keywords: Sequence[tuple[str, str]], state: str | None = ...) -> None: ...

    def begin(self, timeout_s: float) -> Epoch: ...

    def close(self) -> None: ...

    @property
    def is_closed(self) -> bool: ...

    @property
    def is_forked(self) -> bool: ...

    def set_epoch(self, epoch: int) -> None: ...

    def state(self) -> str: ...

    def restore(self, state: str) -> None: ...

    def note(self, work: str, spent_s: float) -> None: ...

    @property
    def records(self) -> str: ...

    def report(self, language: str) -> tuple[str, str]: ...

    def num_batches(self) -> int: ...

    @property
    def position(self) -> tuple[int, int]: ...

    def stats(self) -> str: ...

    @property
    def num_rows(self) -> int: ...

    def set_core_share(self, num_cores: int) -> None: ...

    def shapes(self) -> list[tuple[int, int, int]]: ...

class PerformanceMonitor:
    """Times of a training loop, and how busy the machine is."""

    def __init__(self, history: int, sample_every_s: float, gpu: int) -> None: ...

    def log_operation(self, name: str, run_s: float) -> bool: ...

    def log_step_timing(self, data_loading_s: float, compute_s: float, batch_size: int) -> bool: ...

    def count_cache_hits(self, num_hits: int) -> None: ...

    def count_cache_misses(self, num_misses: int) -> None: ...

    def sample_now(self) -> None: ...

    def start_sampling(self) -> None: ...

    def stop_sampling(self) -> None: ...

    @property
    def is_sampling(self) -> bool: ...

    def report_json(self) -> str: ...

    def summary_report(self) -> str: ...

    def reset(self) -> None: ...

class FeatureMaker:
    def __init__(self, config: str, keywords: Sequence[tuple[str, str]]) -> None: ...

    @property
    def rate_hz(self) -> int: ...

    def file(self, path: str) -> Annotated[NDArray[numpy.float32], dict(shape=(None, None))]: ...

    @overload
    def samples(self, samples: Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu', writable=False)], rate_hz: int) -> Annotated[NDArray[numpy.float32], dict(shape=(None, None))]: ...

    @overload
    def samples(self, samples: Annotated[NDArray[numpy.int16], dict(shape=(None,), order='C', device='cpu', writable=False)], rate_hz: int) -> Annotated[NDArray[numpy.float32], dict(shape=(None, None))]: ...

def normalize(text: str, config: str, keywords: Sequence[tuple[str, str]]) -> str: ...

def tokenize(text: str, config: str, keywords: Sequence[tuple[str, str]]) -> list[int]: ...

class Cache:
    def __init__(self, call: str, config: str, keywords: Sequence[tuple[str, str]]) -> None: ...

    def folder(self) -> str: ...

    def info(self) -> str: ...

    def explain(self, id: str) -> str: ...

    def verify(self, fix: bool, sources: bool, on_progress: object | None) -> str: ...

    def precompute(self, overwrite: bool, break_lock: bool, wait: bool, on_progress: object | None) -> str: ...

class MakeCall:
    def __init__(self) -> None: ...

    @property
    def out(self) -> str: ...

    @out.setter
    def out(self, arg: str, /) -> None: ...

    @property
    def num_utterances(self) -> int: ...

    @num_utterances.setter
    def num_utterances(self, arg: int, /) -> None: ...

    @property
    def num_speakers(self) -> int: ...

    @num_speakers.setter
    def num_speakers(self, arg: int, /) -> None: ...

    @property
    def language(self) -> str: ...

    @language.setter
    def language(self, arg: str, /) -> None: ...

    @property
    def rate_hz(self) -> int: ...

    @rate_hz.setter
    def rate_hz(self, arg: int, /) -> None: ...

    @property
    def lengths(self) -> str: ...

    @lengths.setter
    def lengths(self, arg: str, /) -> None: ...

    @property
    def seed(self) -> int: ...

    @seed.setter
    def seed(self, arg: int, /) -> None: ...

    @property
    def num_workers(self) -> int | None: ...

    @num_workers.setter
    def num_workers(self, arg: int | None, /) -> None: ...

    @property
    def overwrite(self) -> bool: ...

    @overwrite.setter
    def overwrite(self, arg: bool, /) -> None: ...

def make_data(call: MakeCall, on_progress: object | None) -> str: ...

def check_data(config: str, keywords: Sequence[tuple[str, str]], on_progress: object | None) -> str: ...

class SynthesisCall:
    def __init__(self) -> None: ...

    @property
    def checkpoint(self) -> str: ...

    @checkpoint.setter
    def checkpoint(self, arg: str, /) -> None: ...

    @property
    def texts(self) -> list[str]: ...

    @texts.setter
    def texts(self, arg: Sequence[str], /) -> None: ...

    @property
    def out(self) -> list[str]: ...

    @out.setter
    def out(self, arg: Sequence[str], /) -> None: ...

    @property
    def save_mel(self) -> list[str]: ...

    @save_mel.setter
    def save_mel(self, arg: Sequence[str], /) -> None: ...

    @property
    def pictures(self) -> list[str]: ...

    @pictures.setter
    def pictures(self, arg: Sequence[str], /) -> None: ...

    @property
    def references(self) -> list[str]: ...

    @references.setter
    def references(self, arg: Sequence[str], /) -> None: ...

    @property
    def language(self) -> str | None: ...

    @language.setter
    def language(self, arg: str | None, /) -> None: ...

    @property
    def vocabulary(self) -> str | None: ...

    @vocabulary.setter
    def vocabulary(self, arg: str | None, /) -> None: ...

    @property
    def num_steps(self) -> int: ...

    @num_steps.setter
    def num_steps(self, arg: int, /) -> None: ...

    @property
    def speed(self) -> float: ...

    @speed.setter
    def speed(self, arg: float, /) -> None: ...

def numbered_files(path: str, num_texts: int) -> list[str]: ...

def train(folders: Sequence[str], config: str, keywords: Sequence[tuple[str, str]], on_event: object | None) -> str: ...

def synthesize(folders: Sequence[str], config: str, keywords: Sequence[tuple[str, str]], call: SynthesisCall, on_event: object | None) -> str: ...
