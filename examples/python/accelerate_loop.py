"""Hugging Face accelerate: prepare() takes the model and the optimizer; the feed shards by itself and is not prepared.

Several processes: torchrun --nproc-per-node 2 accelerate_loop.py DATA
"""

import tempfile

import torch
from accelerate import Accelerator
from accelerate.utils import broadcast_object_list
from small_data import data_folder

import stoker

accelerator = Accelerator()
rank, world_size = accelerator.process_index, accelerator.num_processes
feed = stoker.Feed(data_folder(), batch_frames=2000, device=accelerator.device, rank=rank, world_size=world_size)
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

with tempfile.TemporaryDirectory() as own:
    [folder] = broadcast_object_list([own])  # that of rank 0 for all
    accelerator.save_state(folder)
    accelerator.wait_for_everyone()
    feed.set_epoch(0)
    accelerator.load_state(folder)
    accelerator.wait_for_everyone()
where = f"rank {rank} of {world_size} on {accelerator.device}"
accelerator.print(f"accelerate: {where}, epoch {feed.epoch} is next, loss {loss.item():.2f}")
accelerator.end_training()
