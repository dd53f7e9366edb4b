"""HiFi-GAN's log-mel by torch.stft: the fastest that Python users have, and what torchaudio does."""

import torch

from bench.peers import hifigan_mel


class TorchMel:
    """The fastest form we know; for every peer without a mel of its own."""

    def __init__(self, device: str = "cpu") -> None:
        self.bank = torch.from_numpy(hifigan_mel.slaney_bank()).to(device)
        self.window = torch.from_numpy(hifigan_mel.hann_window()).to(device)

    def spectrum(self, samples: torch.Tensor) -> torch.Tensor:
        edge = hifigan_mel.EDGE_SAMPLES
        rows = samples.reshape(1, -1, samples.shape[-1])  # torch reflects only where there are channels
        padded = torch.nn.functional.pad(rows, (edge, edge), mode="reflect").reshape(*samples.shape[:-1], -1)
        return torch.stft(
            padded,
            hifigan_mel.FFT_SAMPLES,
            hifigan_mel.HOP_SAMPLES,
            window=self.window,
            center=False,
            return_complex=True,
        )

    def __call__(self, samples: torch.Tensor) -> torch.Tensor:
        """[samples] or [rows, samples] in -1..1 to [..., frames, bands]."""
        spectrum = self.spectrum(samples)
        magnitude = torch.sqrt(spectrum.real**2 + spectrum.imag**2 + hifigan_mel.EPSILON)
        return (magnitude.transpose(-2, -1) @ self.bank).clamp(min=hifigan_mel.FLOOR).log()


class TorchaudioMel(TorchMel):
    """The operations of torchaudio 2.11's MelSpectrogram(power=1, center=False), which are torch's.

    Its wheels ask for another torch than the one here. spectrogram() is torch.stft and abs(), MelScale a matmul of the
    transposed magnitudes; nothing is left out or added but HiFi-GAN's padding and compression.
    """

    def __call__(self, samples: torch.Tensor) -> torch.Tensor:
        magnitude = self.spectrum(samples).abs()
        mel = torch.matmul(magnitude.transpose(-1, -2), self.bank).transpose(-1, -2)
        return torch.log(torch.clamp(mel, min=hifigan_mel.FLOOR)).transpose(-1, -2)
