# SPDX-License-Identifier: BSD-3-Clause
"""Opens a checkpoint of any kind: a safetensors or GGUF file, a pickled state dict, or a folder of Hugging Face's."""

from __future__ import annotations

import json
import pickle
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import torch

from executorch.extension.llm.checkpoint.errors import CheckpointError
from executorch.extension.llm.checkpoint.gguf import GGUFFile
from executorch.extension.llm.checkpoint.safetensors import SafetensorsFile

_INDEX = ("model.safetensors.index.json", "pytorch_model.bin.index.json")
_WHOLE = ("model.safetensors", "pytorch_model.bin", "consolidated.00.pth")


@dataclass
class Checkpoint:
    """`names` are known without reading tensors; iterating gives (name, tensor), one at a time."""

    path: Path
    names: tuple[str, ...]
    files: tuple[SafetensorsFile | GGUFFile | PickledFile, ...]

    def __iter__(self) -> Iterator[tuple[str, torch.Tensor]]:
        for file in self.files:
            yield from file

    @property
    def gguf(self) -> GGUFFile | None:
        return next((file for file in self.files if isinstance(file, GGUFFile)), None)

    @property
    def config(self) -> Path | None:
        """Hugging Face's config.json beside the weights, where there is one."""
        folder = self.path if self.path.is_dir() else self.path.parent
        path = folder / "config.json"
        return path if path.is_file() and not self.gguf else None


class PickledFile:
    """A state dict written by torch.save, mapped: bytes are read when a tensor is used. Runs no code of the file."""

    def __init__(self, path: Path) -> None:
        self.path = path
        try:
            state = torch.load(path, map_location="cpu", mmap=True, weights_only=True)
        except (RuntimeError, pickle.UnpicklingError, EOFError, ValueError) as error:
            state = self._unmapped(error)
        if isinstance(state, dict) and isinstance(state.get("model"), dict):
            state = state["model"]
        if not isinstance(state, dict):
            raise CheckpointError(
                f"{path}: expected a dict of tensors, found {type(state).__name__}"
            )
        self.state = state

    def _unmapped(self, error: Exception) -> object:
        """Files of before PyTorch 1.6 cannot be mapped."""
        try:
            return torch.load(self.path, map_location="cpu", weights_only=True)
        except Exception as second:
            raise CheckpointError(
                f"{self.path}: not a state dict that torch.load(weights_only=True) reads: {second or error}"
            ) from error

    def __iter__(self) -> Iterator[tuple[str, torch.Tensor]]:
        for name, value in self.state.items():
            if not isinstance(value, torch.Tensor):
                raise CheckpointError(
                    f"{self.path}: {name!r}: expected a tensor, found {type(value).__name__}"
                )
            yield name, value


def is_gguf(path: Path) -> bool:
    """Whether a checkpoint, a file or a folder, is a GGUF file. Raises CheckpointError for a folder without weights."""
    if path.is_dir():
        return any(is_gguf(file) for file in _shards(path))
    if not path.is_file():
        return False
    with path.open("rb") as file:
        return file.read(4) == b"GGUF" or path.suffix == ".gguf"


def _open_file(path: Path) -> SafetensorsFile | GGUFFile | PickledFile:
    if is_gguf(path):
        return GGUFFile(path)
    if path.suffix == ".safetensors":
        return SafetensorsFile(path)
    return PickledFile(path)


def _names(file: SafetensorsFile | GGUFFile | PickledFile) -> tuple[str, ...]:
    if isinstance(file, SafetensorsFile):
        return tuple(file.entries)
    return tuple(file.tensors if isinstance(file, GGUFFile) else file.state)


def _shards(folder: Path) -> list[Path]:
    for name in _INDEX:
        index = folder / name
        if index.is_file():
            try:
                shards = sorted(set(json.loads(index.read_text())["weight_map"].values()))
            except (ValueError, KeyError, AttributeError) as error:
                raise CheckpointError(
                    f"{index}: expected JSON with a weight_map: {error}"
                ) from error
            missing = [shard for shard in shards if not (folder / shard).is_file()]
            if missing:
                raise CheckpointError(
                    f"{index}: files that it names are missing: {', '.join(missing)}"
                )
            return [folder / shard for shard in shards]
    for name in _WHOLE:
        if (folder / name).is_file():
            return [folder / name]
    found = sorted(folder.glob("*.gguf"))
    if len(found) == 1:
        return found
    raise CheckpointError(
        f"{folder}: expected one of {', '.join((*_INDEX, *_WHOLE))} or one .gguf file, found none"
    )


def open_checkpoint(path: str | Path) -> Checkpoint:
    """Raises CheckpointError, which names the file."""
    path = Path(path)
    if not path.exists():
        raise CheckpointError(f"base.checkpoint: no such file or folder: {path}")
    files = tuple(_open_file(p) for p in (_shards(path) if path.is_dir() else [path]))
    names = tuple(name for file in files for name in _names(file))
    if not names:
        raise CheckpointError(f"{path}: holds no tensors")
    return Checkpoint(path, names, files)
