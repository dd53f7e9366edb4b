"""Monotonic alignment search for the model in PyTorch: one operator, which torch.compile takes as it is; a CUDA kernel
on a GPU, plain tensor operations on a CPU."""

from __future__ import annotations

import ctypes
import functools
import hashlib
import os
import shutil
import subprocess
import tempfile
from pathlib import Path

import torch
from torch import Tensor

# One block a row; threads own up to four states each and read the next frame's scores while they add this one's up.
SOURCE = r"""
#include <cstdint>
constexpr int kThreads = 512, kMost = 4;

__global__ void search(const float* score, const int64_t* num_states, const int64_t* num_frames, int64_t* path,
                       uint8_t* moved, int rows_frames, int rows_states) {
  extern __shared__ float best[];  // two frames of states
  const int row = blockIdx.x;
  const int states = int(num_states[row]), frames = int(num_frames[row]);
  score += size_t(row) * rows_frames * rows_states;
  moved += size_t(row) * rows_frames * rows_states;
  path += size_t(row) * rows_frames;
  const bool fits = states > 0 && frames >= states;
  for (int y = (fits ? frames : 0) + threadIdx.x; y < rows_frames; y += kThreads) path[y] = 0;
  if (!fits) return;
  float next[kMost];
#pragma unroll
  for (int k = 0; k < kMost; ++k) {
    const int x = threadIdx.x + k * kThreads;
    next[k] = x < states ? score[x] : 0.0f;
  }
  for (int y = 0; y < frames; ++y) {
    const float* before = best + (y & 1) * rows_states;
    float* now = best + ((y & 1) ^ 1) * rows_states;
    const int first = max(0, states - frames + y);
#pragma unroll
    for (int k = 0; k < kMost; ++k) {
      const int x = threadIdx.x + k * kThreads;
      if (x >= states) continue;
      const float value = next[k];
      if (y + 1 < frames) next[k] = score[size_t(y + 1) * rows_states + x];
      if (x < first || x > y) continue;
      const bool moves = x > 0 && (x == y || before[x - 1] > before[x]);
      now[x] = y == 0 ? value : value + (moves ? before[x - 1] : before[x]);
      moved[size_t(y) * rows_states + x] = moves;
    }
    __syncthreads();
  }
  // Back from the last state: a warp reads the flags that its next 32 frames can need.
  if (threadIdx.x >= 32) return;
  int x = states - 1;
  for (int last = frames - 1; last >= 0; last -= 32) {
    const int y = last - int(threadIdx.x);
    uint32_t flags = 0;  // bit j: of state x - j
    if (y >= 0)
      for (int j = 0; j < 32 && x - j >= 0; ++j)
        if (x - j <= y && moved[size_t(y) * rows_states + x - j]) flags |= 1u << j;
    int own = 0, gone = 0;
    for (int i = 0; i < 32; ++i) {
      if (threadIdx.x == i) own = x - gone;
      gone += (__shfl_sync(0xFFFFFFFFu, flags, i) >> gone) & 1u;
    }
    if (y >= 0) path[y] = own;
    x -= gone;
  }
}

extern "C" int search_paths(const void* score, const void* num_states, const void* num_frames, void* path, void* moved,
                            int rows, int frames, int states, void* stream) {
  if (states > kThreads * kMost) return 1;
  search<<<rows, kThreads, 2 * states * sizeof(float), static_cast<cudaStream_t>(stream)>>>(
      static_cast<const float*>(score), static_cast<const int64_t*>(num_states),
      static_cast<const int64_t*>(num_frames), static_cast<int64_t*>(path), static_cast<uint8_t*>(moved), frames,
      states);
  return int(cudaGetLastError());
}
"""


def nvcc() -> str:
    home = os.environ.get("CUDA_HOME", "/usr/local/cuda")
    found = shutil.which("nvcc") or shutil.which(str(Path(home) / "bin" / "nvcc"))
    if found is None:
        raise RuntimeError(
            f"expected nvcc on PATH or in {home}/bin, found none: the alignment search is compiled by it"
        )
    return found


@functools.cache
def library() -> ctypes.CDLL:
    """Compiled once a user and source; processes that compile at the same time replace each other's equal file."""
    name = "stoker-peer-search-" + hashlib.sha256(SOURCE.encode()).hexdigest()[:16]
    target = Path(tempfile.gettempdir()) / f"{name}-{os.getuid()}.so"
    if not target.exists():
        with tempfile.TemporaryDirectory() as folder:
            source = Path(folder) / "search.cu"
            source.write_text(SOURCE, encoding="utf-8")
            made = Path(folder) / "search.so"
            major, minor = torch.cuda.get_device_capability()
            words = [
                nvcc(),
                "-O3",
                f"-arch=sm_{major}{minor}",
                "-shared",
                "-Xcompiler",
                "-fPIC",
                str(source),
                "-o",
                str(made),
            ]
            subprocess.run(words, check=True, capture_output=True, text=True)
            part = target.with_suffix(f".{os.getpid()}")
            shutil.copy(made, part)
            part.replace(target)
    loaded = ctypes.CDLL(str(target))
    pointer, number = ctypes.c_void_p, ctypes.c_int
    loaded.search_paths.argtypes = [pointer] * 5 + [number] * 3 + [pointer]
    return loaded


def search_on_cpu(score: Tensor, num_states: Tensor, num_frames: Tensor) -> Tensor:
    """All rows and states at once, frame after frame; of equal ways the one that stays longer."""
    rows, frames, states = score.shape
    least = torch.finfo(torch.float32).min / 4
    place = torch.arange(states)[None]
    best = torch.full((rows, states), least)
    moved = torch.zeros(rows, frames, states, dtype=torch.bool)
    for y in range(frames):
        before = torch.nn.functional.pad(best, (1, 0), value=least)[:, :-1]
        moved[:, y] = (before > best) | (place == y) if y > 0 else False
        come = torch.where(moved[:, y], before, best) if y > 0 else torch.zeros_like(best)
        reach = (place <= y) & (place >= (num_states - num_frames)[:, None] + y) & (place < num_states[:, None])
        best = torch.where(reach, come + score[:, y], torch.full_like(best, least))
    path = torch.zeros(rows, frames, dtype=torch.int64)
    fits = (num_states > 0) & (num_frames >= num_states)
    at = (num_states - 1).clamp_min(0)
    for y in range(frames - 1, -1, -1):
        live = (y < num_frames) & fits
        path[:, y] = torch.where(live, at, 0)
        goes = moved[:, y].gather(1, at[:, None])[:, 0] & (at > 0) & live
        at = at - goes.long()
    return path


@torch.library.custom_op("stoker_peer::search_path", mutates_args=())
def search_path(score: Tensor, num_states: Tensor, num_frames: Tensor) -> Tensor:
    """f32 [B, Y, S], i64 [B], i64 [B] -> state of every frame, i64 [B, Y]; 0 where a row has no path."""
    if not score.is_cuda:
        return search_on_cpu(score, num_states, num_frames)
    rows, frames, states = score.shape
    score, num_states, num_frames = (x.contiguous() for x in (score, num_states, num_frames))
    path = torch.empty(rows, frames, dtype=torch.int64, device=score.device)
    moved = torch.empty(rows, frames, states, dtype=torch.uint8, device=score.device)
    stream = torch.cuda.current_stream().cuda_stream
    pointers = [x.data_ptr() for x in (score, num_states, num_frames, path, moved)]
    code = library().search_paths(*pointers, rows, frames, states, stream)
    if code != 0:
        raise RuntimeError(f"the alignment search of {rows} rows with {states} states failed: CUDA error {code}")
    return path


@search_path.register_fake
def _(score: Tensor, num_states: Tensor, num_frames: Tensor) -> Tensor:
    return score.new_empty(score.shape[:2], dtype=torch.int64)
