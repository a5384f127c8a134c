# SPDX-License-Identifier: BSD-3-Clause
"""CIFAR-10's binary version (https://www.cs.toronto.edu/~kriz/cifar.html): rows of one byte, the class, and 3 x 32 x 32
bytes, the image."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import torch
from torch.utils.data import DataLoader, TensorDataset

_ROW = 1 + 3 * 32 * 32
_CLASSES = 10


def get_data_loaders(
    batch_size: int = 4,
    num_workers: int = 2,
    data_dir: str = "./data",
    use_balanced_dataset: bool = True,
    images_per_class: int = 100,
) -> tuple[DataLoader, DataLoader]:
    """Training and test images, [-1, 1], in whole batches. A balanced set has the first `images_per_class` of each
    class."""
    folder = Path(data_dir) / "cifar-10-batches-bin"
    loaders = []
    for files, shuffle in (("data_batch_*.bin", True), ("test_batch.bin", False)):
        paths = sorted(folder.glob(files))
        if not paths:
            raise FileNotFoundError(
                f"expected {folder}/{files}: unpack https://www.cs.toronto.edu/~kriz/cifar-10-binary.tar.gz "
                f"in {data_dir}"
            )
        rows = np.concatenate([_rows(path) for path in paths])
        if use_balanced_dataset:
            rows = _balanced(rows, images_per_class)
        loaders.append(
            DataLoader(_images(rows), batch_size, shuffle, num_workers=num_workers, drop_last=True)
        )
    return loaders[0], loaders[1]


def _rows(path: Path) -> np.ndarray:
    data = np.fromfile(path, dtype=np.uint8)
    if len(data) % _ROW or (data[::_ROW] >= _CLASSES).any():
        raise ValueError(
            f"{path}: expected rows of {_ROW} bytes that begin with a class below {_CLASSES}, found {len(data)} bytes"
        )
    return data.reshape(-1, _ROW)


def _balanced(rows: np.ndarray, count: int) -> np.ndarray:
    return np.concatenate([rows[rows[:, 0] == label][:count] for label in range(_CLASSES)])


def _images(rows: np.ndarray) -> TensorDataset:
    pixels = torch.from_numpy(rows[:, 1:].reshape(-1, 3, 32, 32)).float()
    return TensorDataset(pixels / 127.5 - 1, torch.from_numpy(rows[:, 0].astype(np.int64)))
