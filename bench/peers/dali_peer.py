"""NVIDIA DALI with its CPU operators: file reader, audio decoder, spectrogram and mel bank, or the .npy reader."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import nvidia.dali as dali
from nvidia.dali import fn, types

from bench.peers import hifigan_mel
from bench.peers.protocol import BATCH_CLIPS, RESUME_BATCHES, Batch, Peer, Resumed, Task, Tolerance, run_peer

# Centred windows reflect 512 samples and HiFi-GAN 384: without 128 samples at each end there are as many windows, and
# every one that does not reach over an end is the same.
SKIPPED_SAMPLES = (hifigan_mel.FFT_SAMPLES - 2 * hifigan_mel.EDGE_SAMPLES) // 2


def mels_of_sound(encoded: Any) -> Any:
    samples, _ = fn.decoders.audio(encoded, dtype=types.FLOAT, downmix=True)
    spectrum = fn.spectrogram(
        samples[SKIPPED_SAMPLES:-SKIPPED_SAMPLES],
        nfft=hifigan_mel.FFT_SAMPLES,
        window_length=hifigan_mel.FFT_SAMPLES,
        window_step=hifigan_mel.HOP_SAMPLES,
        window_fn=hifigan_mel.hann_window().tolist(),
        power=1,
        layout="ft",
    )
    mel = fn.mel_filter_bank(
        spectrum,
        sample_rate=hifigan_mel.RATE_HZ,
        nfilter=hifigan_mel.BANDS,
        freq_high=hifigan_mel.HIGH_HZ,
        mel_formula="slaney",
        normalize=True,
    )
    natural = float(np.log(10.0))
    return fn.to_decibels(mel, multiplier=natural, reference=1.0, cutoff_db=hifigan_mel.LOG_FLOOR)


def mel_batches(task: Task) -> tuple[Any, Any]:
    files = task.sources()
    order = {"random_shuffle": task.shuffle, "initial_fill": len(files), "seed": task.seed, "name": "reader"}
    if task.path == "cached":
        mel = fn.readers.numpy(files=files, cache_header_information=True, **order)
    else:
        encoded, _ = fn.readers.file(files=files, **order)
        mel = fn.transpose(mels_of_sound(encoded), perm=[1, 0])
    frames = mel.shape()
    return fn.pad(mel, fill_value=hifigan_mel.LOG_FLOOR, axes=(0,)), frames


def build(task: Task, threads: int, **more: Any) -> Any:
    pipeline = dali.Pipeline(BATCH_CLIPS, threads, device_id=None, prefetch_queue_depth=2, **more)
    with pipeline:
        pipeline.set_outputs(*mel_batches(task))
    pipeline.build()
    return pipeline


def run_batches(pipeline: Any, count: int | None) -> Iterator[Batch]:
    done = 0
    while count is None or done < count:
        mel, shapes = pipeline.run()
        yield Batch(np.asarray(mel.as_tensor()), np.asarray(shapes.as_tensor())[:, 0])
        done += 1


def open_loader(task: Task) -> Iterator[Batch]:
    pipeline = build(task, task.setting["threads"])
    return run_batches(pipeline, None if task.endless else len(task.clips) // BATCH_CLIPS)


def resume(task: Task, other: dict[str, int]) -> Resumed:
    stopped = build(task, task.setting["threads"], enable_checkpointing=True)
    for _ in range(RESUME_BATCHES):
        stopped.run()
    state = stopped.checkpoint()
    resumed = build(task, other["threads"], enable_checkpointing=True, checkpoint=state)
    return Resumed(run_batches(resumed, None), len(state))


if __name__ == "__main__":
    # Neither the magnitude's 1e-9 nor HiFi-GAN's reflection can be asked for: quiet bands and end frames are left out.
    tolerance = Tolerance(edge_frames=2, quietest=-9.0, largest=2e-2)
    run_peer(Peer(dali.__version__, open_loader, resume, tolerance, gist=r"encountered:\s*(.*?)\s*C\+\+ context"))
