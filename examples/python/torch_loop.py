"""A plain PyTorch loop that can stop at any step: its checkpoint holds the model, the optimizer and the feed."""

import tempfile
from itertools import islice
from pathlib import Path
from typing import Any

import torch
from small_data import data_folder
from torch.utils.dlpack import from_dlpack

import stoker


def train(data: str, checkpoint: Path, num_steps: int) -> str:
    device = "cuda:0" if torch.cuda.is_available() else "cpu"
    model, step = torch.nn.Linear(80, 80).to(device), 0
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
    feed = stoker.Feed(data, batch_frames=2000, device=device)
    parts: dict[str, Any] = {"model": model, "optimizer": optimizer, "feed": feed}
    if checkpoint.exists():
        saved = torch.load(checkpoint, weights_only=True)
        for name, part in parts.items():
            part.load_state_dict(saved[name])  # the feed continues after the last batch that it gave
        step = saved["step"]
    while step < num_steps:
        for batch in islice(feed, num_steps - step):  # one epoch, or the rest of it
            mel = from_dlpack(batch.mel).float()  # no copy until float()
            loss = (model(mel[:, :-1]) - mel[:, 1:]).abs().mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            step += 1
    torch.save({"step": step, **{name: part.state_dict() for name, part in parts.items()}}, checkpoint)
    return f"loss {loss.item():.2f} at step {step} on {device}"


with tempfile.TemporaryDirectory() as folder:
    data, path = data_folder(), Path(folder, "checkpoint.pt")
    print(f"torch: {train(data, path, 7)}; {train(data, path, 40)}, resumed")
