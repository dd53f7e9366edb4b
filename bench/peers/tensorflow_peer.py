"""tf.data: parallel map over paths, padded batches, prefetch."""

import os
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

import tensorflow as tf

from bench.peers import hifigan_mel
from bench.peers.protocol import BATCH_CLIPS, RESUME_BATCHES, Batch, Peer, Resumed, Task, numbered, run_peer

NPY_HEADER_BYTES = 10  # magic, version and the length of the text that follows


def read_npy(path: Any) -> Any:
    """tf.data has no .npy reader: the header's length is read, the rest is used as it is."""
    content = tf.io.read_file(path)
    text_bytes = tf.io.decode_raw(tf.strings.substr(content, 8, 2), tf.uint16)[0]
    begin = NPY_HEADER_BYTES + tf.cast(text_bytes, tf.int32)
    values = tf.io.decode_raw(tf.strings.substr(content, begin, -1), tf.float32)
    return tf.reshape(values, [-1, hifigan_mel.BANDS])


def mel_of_sound(path: Any, bank: Any) -> Any:
    samples, _ = tf.audio.decode_wav(tf.io.read_file(path), desired_channels=1)
    edge = hifigan_mel.EDGE_SAMPLES
    padded = tf.pad(samples[:, 0], [[edge, edge]], mode="REFLECT")
    spectrum = tf.signal.stft(padded, hifigan_mel.FFT_SAMPLES, hifigan_mel.HOP_SAMPLES)
    magnitude = tf.sqrt(tf.math.real(spectrum) ** 2 + tf.math.imag(spectrum) ** 2 + hifigan_mel.EPSILON)
    return tf.math.log(tf.maximum(magnitude @ bank, hifigan_mel.FLOOR))


def data_set(task: Task, setting: dict[str, int]) -> Any:
    threads = setting.get("threads", 0)  # 0: autotune
    bank = tf.constant(hifigan_mel.slaney_bank())

    def load(path: Any) -> tuple[Any, Any]:
        mel = read_npy(path) if task.path == "cached" else mel_of_sound(path, bank)
        return mel, tf.shape(mel)[0]

    paths = tf.data.Dataset.from_tensor_slices(task.sources())
    paths = paths.shuffle(len(task.clips), seed=task.seed) if task.shuffle else paths
    paths = paths.repeat() if task.endless else paths
    batches = paths.map(load, num_parallel_calls=threads or tf.data.AUTOTUNE).padded_batch(
        BATCH_CLIPS,
        padded_shapes=([None, hifigan_mel.BANDS], []),
        padding_values=(tf.constant(hifigan_mel.LOG_FLOOR), 0),
    )
    options = tf.data.Options()
    if threads:
        options.threading.private_threadpool_size = threads
    return batches.prefetch(4).with_options(options)


def open_loader(task: Task) -> Iterator[Batch]:
    return numbered(data_set(task, task.setting))


def resume(task: Task, other: dict[str, int]) -> Resumed:
    stopped = iter(data_set(task, task.setting))
    for _ in range(RESUME_BATCHES):
        next(stopped)
    with tempfile.TemporaryDirectory() as folder:
        saved = tf.train.Checkpoint(iterator=stopped).write(f"{folder}/state")
        state_bytes = sum(path.stat().st_size for path in Path(folder).iterdir())
        resumed = iter(data_set(task, other))
        tf.train.Checkpoint(iterator=resumed).read(saved).assert_consumed()
    return Resumed(numbered(resumed), state_bytes)


if __name__ == "__main__":
    run_peer(Peer(tf.__version__, open_loader, resume, gist=r"ParallelMapV2: (.*?)\s*(?:\[\[.*)?\[Op:"))
