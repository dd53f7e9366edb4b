"""Trains with Lightning, saves in the middle of an epoch and continues from there."""

import tempfile

import lightning as L
import torch
from lightning_datamodule import SpeechData
from small_data import data_folder

import stoker


class NextFrame(L.LightningModule):
    def __init__(self) -> None:
        super().__init__()
        self.layer = torch.nn.Linear(80, 80)
        self.seen: list[str] = []

    def training_step(self, batch: stoker.Batch, batch_index: int) -> torch.Tensor:
        self.seen.append(f"{batch.epoch}.{batch.index}")
        mel = batch.to_torch()["mel"].float()
        loss: torch.Tensor = (self.layer(mel[:, :-1]) - mel[:, 1:]).abs().mean()
        return loss

    def configure_optimizers(self) -> torch.optim.Optimizer:
        return torch.optim.Adam(self.parameters(), lr=1e-2)


if __name__ == "__main__":
    data, runs = data_folder(), []
    with tempfile.TemporaryDirectory() as folder:
        for num_steps, checkpoint in ((3, None), (8, f"{folder}/last.ckpt")):
            model = NextFrame()
            trainer = L.Trainer(max_steps=num_steps, logger=False, enable_progress_bar=False, default_root_dir=folder)
            trainer.fit(model, SpeechData(data, batch_frames=2000), ckpt_path=checkpoint)
            trainer.save_checkpoint(f"{folder}/last.ckpt")
            runs.append(model.seen)
    print(f"lightning: epoch.batch {' '.join(runs[0])}, then from the checkpoint {' '.join(runs[1])}")
