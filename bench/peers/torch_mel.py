"""HiFi-GAN's log-mel by torch.stft, the fastest that Python users have; for every peer without its own."""

import torch

from bench.peers import hifigan_mel


class TorchMel:
    """The operations of torchaudio's MelSpectrogram with HiFi-GAN's padding and compression."""

    def __init__(self, device: str = "cpu") -> None:
        self.bank = torch.from_numpy(hifigan_mel.slaney_bank()).to(device)
        self.window = torch.from_numpy(hifigan_mel.hann_window()).to(device)

    def __call__(self, samples: torch.Tensor) -> torch.Tensor:
        """[samples] or [rows, samples] in -1..1 to [..., frames, bands]."""
        edge = hifigan_mel.EDGE_SAMPLES
        rows = samples.reshape(1, -1, samples.shape[-1])  # torch reflects only where there are channels
        padded = torch.nn.functional.pad(rows, (edge, edge), mode="reflect").reshape(*samples.shape[:-1], -1)
        spectrum = torch.stft(
            padded,
            hifigan_mel.FFT_SAMPLES,
            hifigan_mel.HOP_SAMPLES,
            window=self.window,
            center=False,
            return_complex=True,
        )
        magnitude = torch.sqrt(spectrum.real**2 + spectrum.imag**2 + hifigan_mel.EPSILON)
        return (magnitude.transpose(-2, -1) @ self.bank).clamp(min=hifigan_mel.FLOOR).log()
