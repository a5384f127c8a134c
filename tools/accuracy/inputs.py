# SPDX-License-Identifier: BSD-3-Clause
"""Real inputs: photographs and faces that scikit-image ships, and sentences spoken by eSpeak NG in several voices. The
first of each are for calibration, the others for what is measured."""

from __future__ import annotations

import ctypes
import functools
import math
import sys
from pathlib import Path
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor

RATE = 16000
Sentences = tuple[tuple[str, str], ...]  # a voice, and what it says
_PHOTOGRAPHS = (
    "chelsea", "coffee", "motorcycle_left", "retina", "ihc", "grass", "astronaut", "rocket", "hubble_deep_field",
    "brick",
)  # fmt: skip
SENTENCES = (
    ("en", "The quick brown fox jumps over the lazy dog near the bank of the river."),
    ("en-us", "She had your dark suit in greasy wash water all year."),
    ("de", "Die Sonne scheint heute, und morgen soll es wieder regnen."),
    ("fr", "Le petit chat noir dort sur le vieux mur de pierre."),
    ("en-gb-scotland", "Please call Stella, and ask her to bring these things from the store."),
    ("es", "Mañana vamos a caminar por la montaña con nuestros amigos."),
    ("it", "La mia casa si trova vicino al mare e al porto vecchio."),
    ("en", "Six spoons of fresh snow peas, five thick slabs of blue cheese."),
)


def photographs(packages: Path) -> Tensor:
    """[10, 3, 224, 224], normalised as ImageNet's networks want it: the middle square of each."""
    return normalised(torch.cat([squares(packages, name, 224)[:1] for name in _PHOTOGRAPHS]))


def normalised(pictures: Tensor) -> Tensor:
    mean = torch.tensor([0.485, 0.456, 0.406]).view(3, 1, 1)
    return (pictures - mean) / torch.tensor([0.229, 0.224, 0.225]).view(3, 1, 1)


def squares(packages: Path, name: str, size: int) -> Tensor:
    """[3, 3, size, size] from 0 to 1: the middle of a photograph, and mirrored its first and its last two thirds."""
    picture = _picture(next((packages / "skimage" / "data").glob(f"{name}.*")))
    side = min(picture.shape[1:])
    top, left = ((size - side) // 2 for size in picture.shape[1:])
    middle = picture[None, :, top : top + side, left : left + side]
    part = 2 * side // 3
    cut = [middle, middle[..., :part, :part].flip(-1), middle[..., -part:, -part:].flip(-1)]
    return torch.cat(
        [F.interpolate(each, (size, size), mode="bilinear", antialias=True) for each in cut]
    )


def _picture(path: Path) -> Tensor:
    """[3, height, width] from 0 to 1."""
    from PIL import Image

    data = np.asarray(Image.open(path).convert("RGB"))
    return torch.from_numpy(data.copy()).permute(2, 0, 1) / 255.0


def faces(packages: Path, size: int) -> Tensor:
    """[100, 3, size, size] from -1 to 1: faces of "Labeled Faces in the Wild"."""
    found = torch.from_numpy(
        np.load(packages / "skimage" / "data" / "lfw_subset.npy")[:100]
    ).float()
    grown = F.interpolate(found[:, None], (size, size), mode="bilinear")
    return (grown * 255 - 127.5).div(128).expand(-1, 3, -1, -1).contiguous()


@functools.cache
def speech(packages: Path, sentences: Sentences = SENTENCES) -> list[Tensor]:
    """Waveforms of 16 kHz, from -1 to 1, some seconds each."""
    folder = packages / "espeakng_loader"
    library = ctypes.CDLL(str(folder / "libespeak-ng.so"))
    callback_type = ctypes.CFUNCTYPE(
        ctypes.c_int, ctypes.POINTER(ctypes.c_short), ctypes.c_int, ctypes.c_void_p
    )
    samples: list[int] = []

    def receive(data: Any, count: int, _: Any) -> int:
        samples.extend(data[:count] if data else ())
        return 0

    callback = callback_type(receive)
    synchronous, by_character, utf8 = 2, 1, 1
    rate = library.espeak_Initialize(synchronous, 0, str(folder / "espeak-ng-data").encode(), 0)
    if rate <= 0:
        raise RuntimeError(f"eSpeak NG does not start with the voices in {folder}")
    library.espeak_SetSynthCallback(callback)
    waves = []
    for voice, sentence in sentences:
        samples.clear()
        library.espeak_SetVoiceByName(voice.encode())
        text = sentence.encode()
        library.espeak_Synth(text, len(text) + 1, 0, by_character, 0, utf8, None, None)
        wave = torch.tensor(samples, dtype=torch.float32)[None, None] / 32768
        length = int(wave.shape[-1] * RATE / rate)
        waves.append(F.interpolate(wave, length, mode="linear")[0, 0])
    return waves


def mel(wave: Tensor, bands: int, window: int, hop: int, to_decibel: bool) -> Tensor:
    """[frames, bands]: power in triangles on Slaney's scale, each of area one; or the log of the magnitude."""
    spectrum = torch.stft(
        wave, window, hop, window=torch.hann_window(window), return_complex=True
    ).abs()
    values = _triangles(bands, window) @ (spectrum if to_decibel else spectrum**2)
    return (values.clamp(min=1e-5).log() if to_decibel else values).T.contiguous()


def _triangles(bands: int, window: int) -> Tensor:
    top = 15 + math.log(RATE / 2 / 1000) * 27 / math.log(6.4)
    scale = torch.linspace(0, top, bands + 2)
    hertz = torch.where(
        scale < 15, scale * 200 / 3, 1000 * torch.exp((scale - 15) * math.log(6.4) / 27)
    )
    bins = torch.linspace(0, RATE / 2, window // 2 + 1)
    rising = (bins - hertz[:-2, None]) / (hertz[1:-1] - hertz[:-2])[:, None]
    falling = (hertz[2:, None] - bins) / (hertz[2:] - hertz[1:-1])[:, None]
    return torch.minimum(rising, falling).clamp(min=0) * (2 / (hertz[2:] - hertz[:-2]))[:, None]


def use(packages: Path) -> None:
    """Lets imports find the packages, after all others."""
    if str(packages) not in sys.path:
        sys.path.append(str(packages))
