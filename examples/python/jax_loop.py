"""JAX takes batches by DLPack. It assumes that arrays never change, so each batch is copied out of the feed first."""

import jax
import jax.numpy as jnp
from small_data import data_folder

import stoker


def loss_of(weights: jax.Array, mel: jax.Array) -> jax.Array:
    frames = mel.astype(jnp.float32)
    return jnp.abs(frames[:, :-1] @ weights - frames[:, 1:]).mean()


@jax.jit
def step(weights: jax.Array, mel: jax.Array) -> tuple[jax.Array, jax.Array]:
    loss, gradient = jax.value_and_grad(loss_of)(weights, mel)
    return weights - 1e-3 * gradient, loss


device = "cuda:0" if jax.default_backend() == "gpu" else "cpu"
weights = jnp.zeros((80, 80))
losses = []
with stoker.Feed(data_folder(), batch_frames=2000, device=device) as feed:
    num_shapes = len(feed.shapes)  # one compilation each
    for _ in range(3):
        for batch in feed:
            mel = jax.dlpack.from_dlpack(batch.copy().mel)  # the copy lives as long as the array
            batch.release()
            weights, loss = step(weights, mel)
            losses.append(loss)
first, last = float(losses[0]), float(losses[-1])
print(f"jax: {len(losses)} steps on {device}, {num_shapes} shapes, loss {first:.2f} -> {last:.2f}")
