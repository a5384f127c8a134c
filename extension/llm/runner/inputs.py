# SPDX-License-Identifier: BSD-3-Clause
"""Images and sound as inputs of a runner, from tensors."""

from __future__ import annotations

from typing import TYPE_CHECKING

from executorch.extension.llm.runner._llm_runner import Audio, Image, MultimodalInput, RawAudio

if TYPE_CHECKING:  # who runs a program does not wait for it
    import torch

_FLOAT_OR_BYTE = ("torch.float32", "torch.uint8")


def _check(what: str, tensor: torch.Tensor, dims: tuple[str, ...], dtypes: tuple[str, ...]) -> None:
    if tensor.dim() != len(dims) or str(tensor.dtype) not in dtypes:
        kinds = " or ".join(dtypes)
        raise RuntimeError(
            f"{what}: expected a tensor ({', '.join(dims)}) of {kinds}, got {tuple(tensor.shape)} of {tensor.dtype}"
        )


def make_image_input(image_tensor: torch.Tensor) -> MultimodalInput:
    """An image (channels, height, width) or (1, channels, height, width) of 3 or 4 channels, float32 or uint8."""
    if image_tensor.dim() == 4 and image_tensor.size(0) == 1:
        image_tensor = image_tensor.squeeze(0)
    _check("make_image_input", image_tensor, ("channels", "height", "width"), _FLOAT_OR_BYTE)
    channels, height, width = image_tensor.shape
    if channels not in (3, 4):
        raise RuntimeError(f"make_image_input: expected 3 or 4 channels, got {channels}")
    return MultimodalInput(Image(image_tensor.flatten().tolist(), width, height, channels))


def make_audio_input(audio_tensor: torch.Tensor) -> MultimodalInput:
    """Features (batch, bins, frames), float32 or uint8."""
    _check("make_audio_input", audio_tensor, ("batch", "bins", "frames"), _FLOAT_OR_BYTE)
    return MultimodalInput(Audio(audio_tensor.flatten().tolist(), *audio_tensor.shape))


def make_raw_audio_input(audio_tensor: torch.Tensor) -> MultimodalInput:
    """Samples (batch, channels, samples) of uint8."""
    _check("make_raw_audio_input", audio_tensor, ("batch", "channels", "samples"), ("torch.uint8",))
    return MultimodalInput(RawAudio(audio_tensor.flatten().tolist(), *audio_tensor.shape))
