# SPDX-License-Identifier: BSD-3-Clause
"""Trains a network on CIFAR-10 in PyTorch and on the runtime, and writes both histories.

python -m executorch.extension.training.examples.CIFAR.main --data_dir ./data --outdir .
"""

from __future__ import annotations

import argparse
from pathlib import Path

import torch

from executorch.extension.training.examples.CIFAR.data_utils import get_data_loaders
from executorch.extension.training.examples.CIFAR.export import get_pte_only, save_model
from executorch.extension.training.examples.CIFAR.model import CIFAR10Model
from executorch.extension.training.examples.CIFAR.train_utils import save_json, train_both_models


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data_dir", default="./data", help="of cifar-10-batches-bin")
    parser.add_argument("--outdir", type=Path, default=Path(), help="where the files go")
    parser.add_argument("--epochs", type=int, default=10)
    parser.add_argument("--batch_size", type=int, default=4)
    parser.add_argument("--images_per_class", type=int, default=100)
    given = parser.parse_args(arguments)
    given.outdir.mkdir(parents=True, exist_ok=True)
    loaders = get_data_loaders(
        given.batch_size, 0, given.data_dir, images_per_class=given.images_per_class
    )
    torch.manual_seed(0)
    net = CIFAR10Model()
    program = given.outdir / "cifar10.pte"
    save_model(get_pte_only(net, given.batch_size), str(program))
    *_, history, et_history = train_both_models(
        net,
        str(program),
        *loaders,
        epochs=given.epochs,
        pytorch_save_path=str(given.outdir / "cifar10.pth"),
        et_save_path=str(program),
    )
    for name, each in (("pytorch", history), ("executorch", et_history)):
        save_json(each, str(given.outdir / f"{name}_history.json"))
        print(name, each[given.epochs - 1])


if __name__ == "__main__":
    main()
