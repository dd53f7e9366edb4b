"""A plain PyTorch loop that can stop at any step: its checkpoint holds the model, the optimizer and the feed."""

import tempfile
from pathlib import Path

import torch
from small_data import data_folder

import stoker

DEVICE = "cuda:0" if torch.cuda.is_available() else "cpu"


def train(data: str, checkpoint: Path, num_steps: int) -> str:
    model = torch.nn.Linear(80, 80).to(DEVICE)
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
    feed = stoker.Feed(data, batch_frames=2000, device=DEVICE)
    parts = {"model": model, "optimizer": optimizer, "feed": feed}
    step = first_step = 0
    if checkpoint.exists():
        saved = torch.load(checkpoint, weights_only=True)
        for name, part in parts.items():
            part.load_state_dict(saved[name])  # the feed continues with the batch after the last one it gave
        step = first_step = saved["step"]
    while step < num_steps:
        for step, batch in enumerate(feed, step + 1):  # one epoch
            mel = torch.from_dlpack(batch.mel).float()  # no copy until float()
            loss = (model(mel[:, :-1]) - mel[:, 1:]).abs().mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            if step == num_steps:
                break
    torch.save({"step": step, **{name: part.state_dict() for name, part in parts.items()}}, checkpoint)
    return f"steps {first_step} to {step}, loss {loss.item():.2f}"


with tempfile.TemporaryDirectory() as folder:
    data, path = data_folder(), Path(folder, "checkpoint.pt")
    print(f"torch: {train(data, path, 5)}; {train(data, path, 40)} on {DEVICE}")
