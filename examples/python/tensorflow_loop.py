"""TensorFlow over the feed: as a plain iterator, and as a tf.data.Dataset."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import tensorflow as tf
from small_data import data_folder

import stoker

# Batches stay in host memory; TensorFlow moves them to its GPU where it has one.
feed = stoker.Feed(data_folder(), batch_frames=2000, device="cpu")


def parts() -> Iterator[tuple[Any, Any]]:
    for batch in feed:
        yield np.asarray(batch.mel), np.asarray(batch.tokens)


layer = tf.keras.layers.Dense(80)
optimizer = tf.keras.optimizers.Adam(1e-2)


def step(mel: Any) -> float:
    frames = tf.cast(mel, tf.float32)
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.abs(layer(frames[:, :-1]) - frames[:, 1:]))
    optimizer.apply_gradients(zip(tape.gradient(loss, layer.weights), layer.weights, strict=True))
    return float(loss)


losses = [step(np.asarray(batch.mel)) for batch in feed]
signature = (tf.TensorSpec((None, None, 80), tf.float16), tf.TensorSpec((None, None), tf.int32))
dataset = tf.data.Dataset.from_generator(parts, output_signature=signature).prefetch(2)
losses += [step(mel) for mel, tokens in dataset]
print(f"tensorflow: {len(losses)} steps in {feed.epoch} epochs, loss {losses[0]:.2f} -> {losses[-1]:.2f}")
