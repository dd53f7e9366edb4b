"""HiFi-GAN's log-mel by torch.stft, the fastest on a CPU that Python users have; for every peer without its own."""

import torch

from bench.peers import hifigan_mel


class TorchMel:
    """The operations of torchaudio's MelSpectrogram with HiFi-GAN's padding and compression."""

    def __init__(self) -> None:
        self.bank = torch.from_numpy(hifigan_mel.slaney_bank())
        self.window = torch.from_numpy(hifigan_mel.hann_window())

    def __call__(self, samples: torch.Tensor) -> torch.Tensor:
        edge = hifigan_mel.EDGE_SAMPLES
        padded = torch.nn.functional.pad(samples[None, None], (edge, edge), mode="reflect")[0, 0]
        spectrum = torch.stft(
            padded,
            hifigan_mel.FFT_SAMPLES,
            hifigan_mel.HOP_SAMPLES,
            window=self.window,
            center=False,
            return_complex=True,
        )
        magnitude = torch.sqrt(spectrum.real**2 + spectrum.imag**2 + hifigan_mel.EPSILON)
        return (magnitude.T @ self.bank).clamp(min=hifigan_mel.FLOOR).log()
