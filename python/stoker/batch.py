"""What Python does with a batch: torch tensors, copies, a line about it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple, Union

from stoker import _engine

if TYPE_CHECKING:
    from stoker._engine import Batch, Tensor

AnyBatch = Union["Batch", "BatchCopy"]


class Segments(NamedTuple):
    """Aligned random segments of every row: samples [rows, samples] and frames [rows, frames, bands]."""

    wav: Tensor
    mel: Tensor


class BatchCopy(Mapping[str, Any]):
    """A batch in memory of its own: no feed waits for it, and nothing has to be given back."""

    def __init__(self, parts: dict[str, Any], epoch: int, index: int, is_last: bool) -> None:
        self._all = parts
        self.epoch = epoch
        self.index = index
        self.is_last = is_last
        self.num_rows = len(parts["ids"])
        self.device: str = parts["mel"].device

    def __getitem__(self, name: str) -> Any:
        return self._all[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._all)

    def __len__(self) -> int:
        return len(self._all)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        if name in self._all:
            return self._all[name]
        if name in ("arrays", "segments"):
            return {} if name == "arrays" else segments(self)
        if name in _OPTIONAL:
            return None
        raise AttributeError(f"a batch has no {name!r}")

    def to_torch(self, *names: str, copy: bool = False) -> dict[str, Any]:
        """The parts named, or all, as torch tensors."""
        return to_torch(self, *names, copy=copy)

    def copy(self) -> BatchCopy:
        """Another copy."""
        return copy(self)

    def pin(self) -> BatchCopy:
        """A copy in page-locked host memory."""
        return pin(self)

    pin_memory = pin

    def release(self, stream: int | None = None) -> None:
        """Nothing: the memory is the copy's own."""

    def __repr__(self) -> str:
        return describe(self)


_OPTIONAL = ("audio", "audio_len", "reference_mel", "reference_len", "wav_segment", "mel_segment")


def segments(batch: AnyBatch) -> Segments | None:
    """The aligned segments, where they were asked for."""
    wav, mel = batch.get("wav_segment"), batch.get("mel_segment")
    return None if wav is None or mel is None else Segments(wav, mel)


def _made(parts: Iterable[tuple[str, Any]], make: Callable[[Tensor], Any]) -> dict[str, Any]:
    """Something made of every tensor; ids stay a tuple of names."""
    out: dict[str, Any] = {}
    for name, part in parts:
        if name == "arrays":
            out[name] = {key: make(value) for key, value in part.items()}
        else:
            out[name] = part if name == "ids" else make(part)
    return out


def _copied(batch: AnyBatch, where: str) -> BatchCopy:
    parts = _made(batch.items(), lambda part: _engine.copy_tensor(part, where))
    return BatchCopy(parts, batch.epoch, batch.index, batch.is_last)


def copy(batch: AnyBatch) -> BatchCopy:
    """The same parts in memory of their own, each on its device."""
    return _copied(batch, "same")


def pin(batch: AnyBatch) -> BatchCopy:
    """The same parts in page-locked host memory."""
    return _copied(batch, "pinned")


def to_torch(batch: AnyBatch, *names: str, copy: bool = False) -> dict[str, Any]:
    """Torch tensors over the batch's memory, on its device; ids stay a tuple of names.

    Without names these are all parts, except where padded rows begin, which their shape tells.
    """
    import torch
    from torch.utils.dlpack import from_dlpack

    device = torch.device(batch.device)
    stream = _current_stream(torch, device.index) if device.type == "cuda" else None

    def tensor(part: Tensor) -> Any:
        if part.device == "cpu":
            shared = from_dlpack(part)
            return shared.to(device) if stream is not None else shared.clone() if copy else shared
        shared = from_dlpack(part.__dlpack__(stream=stream, max_version=(1, 0)))
        return shared.clone() if copy else shared

    return _made([(name, batch[name]) for name in names] if names else _told_parts(batch), tensor)


def _current_stream(torch: Any, device: int) -> int:
    """The stream that reads the batch, as DLPack writes it: asked for once, and without an object where torch can."""
    ask = getattr(torch._C, "_cuda_getCurrentRawStream", None)
    handle: int = torch.cuda.current_stream(device).cuda_stream if ask is None else ask(device)
    return handle or 1


def _told_parts(batch: AnyBatch) -> list[tuple[str, Any]]:
    is_padded = batch.mel.shape[0] == batch.num_rows
    return [each for each in batch.items() if not (is_padded and each[0] in ("frame_begins", "token_begins"))]


def describe(batch: AnyBatch) -> str:
    """Epoch, place, shapes: one line."""
    if getattr(batch, "is_released", False):
        return "stoker.Batch(released)"
    mel, tokens = batch.mel, batch.tokens
    shapes = f"mel={tuple(mel.shape)} {mel.dtype}, tokens={tuple(tokens.shape)}"
    return f"stoker.Batch(epoch {batch.epoch}, batch {batch.index}, {shapes}, {batch.device})"
