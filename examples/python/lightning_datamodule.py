"""A LightningDataModule over the feed: the place in the data is in every checkpoint that Lightning writes.

lightning_train.py trains with it.
"""

from typing import Any

import lightning as L

import stoker


class SpeechData(L.LightningDataModule):
    """Batches of a folder on the device of each rank; the keywords are those of stoker.Feed."""

    def __init__(self, data: str, **settings: Any) -> None:
        super().__init__()
        self.data, self.settings = data, settings

    def setup(self, stage: str) -> None:
        trainer: Any = self.trainer
        rank, world_size, device = trainer.global_rank, trainer.world_size, trainer.strategy.root_device
        self.feed = stoker.Feed(self.data, rank=rank, world_size=world_size, device=device, **self.settings)

    def train_dataloader(self) -> stoker.Feed:
        return self.feed

    def state_dict(self) -> dict[str, Any]:
        return self.feed.state_dict()

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        self.feed.load_state_dict(state_dict)
