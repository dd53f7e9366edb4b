"""Hugging Face accelerate: prepare() takes the model and the optimizer; the feed shards by itself and is not prepared.

Several processes: accelerate launch --num_processes 2 accelerate_loop.py DATA
"""

import tempfile

import torch
from accelerate import Accelerator
from small_data import data_folder

import stoker

accelerator = Accelerator()
feed = stoker.Feed(
    data_folder(),
    batch_frames=2000,
    device=accelerator.device,
    rank=accelerator.process_index,
    world_size=accelerator.num_processes,
)
layer = torch.nn.Linear(80, 80)
model, optimizer = accelerator.prepare(layer, torch.optim.Adam(layer.parameters(), lr=1e-2))
accelerator.register_for_checkpointing(feed)  # save_state() and load_state() include its place in the data

for _ in range(2):
    for batch in feed:
        mel = batch.to_torch()["mel"].float()
        loss = (model(mel[:, :-1]) - mel[:, 1:]).abs().mean()
        optimizer.zero_grad()
        accelerator.backward(loss)
        optimizer.step()

with tempfile.TemporaryDirectory() as folder:
    accelerator.save_state(folder)
    feed.set_epoch(0)
    accelerator.load_state(folder)
where = f"rank 0 of {accelerator.num_processes} on {accelerator.device}"
accelerator.print(f"accelerate: {where}, epoch {feed.epoch} is next, loss {loss.item():.2f}")
