# SPDX-License-Identifier: BSD-3-Clause
"""Training in PyTorch and on the runtime, batch for batch; a history is {epoch: {name of a mean: its value}}."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from pathlib import Path

import torch
from torch import Tensor
from torch.utils.data import DataLoader

from executorch.extension.training import (
    TrainingModule,
    _load_for_executorch_for_training,
    get_sgd_optimizer,
    save_checkpoint,
)
from executorch.extension.training.examples.CIFAR.model import ModelWithLoss

Batch = tuple[Tensor, Tensor]  # images and classes
History = dict[int, dict[str, float]]
Step = Callable[[Tensor, Tensor], tuple[Tensor, Tensor]]  # to the loss and predicted classes


def train_model(
    model: torch.nn.Module,
    train_loader: DataLoader,
    test_loader: DataLoader,
    epochs: int = 1,
    lr: float = 0.001,
    momentum: float = 0.9,
    save_path: str = "./best_cifar10_model.pth",
) -> tuple[torch.nn.Module, History]:
    """In PyTorch; `save_path` gets the state dict of the end."""
    steps = _eager_steps(model, lr, momentum)
    history = _history([train_loader] * epochs, test_loader, *steps)
    torch.save(model.state_dict(), save_path)
    return model, history


def train_both_models(
    pytorch_model: torch.nn.Module,
    et_model_path: str,
    train_loader: DataLoader,
    test_loader: DataLoader,
    epochs: int = 10,
    lr: float = 0.001,
    momentum: float = 0.9,
    pytorch_save_path: str = "./best_cifar10_model.pth",
    et_save_path: str = "./best_cifar10_et_model.pte",
) -> tuple[torch.nn.Module, TrainingModule, History, History]:
    """Both see the same batches. `et_model_path` is a program of export.py for batches of the loaders' size; its
    trained parameters go to the checkpoint beside `et_save_path`, with the suffix .ptd."""
    train = [list(train_loader) for _ in range(epochs)]
    test = list(test_loader)
    history = _history(train, test, *_eager_steps(pytorch_model, lr, momentum))
    torch.save(pytorch_model.state_dict(), pytorch_save_path)

    module = _load_for_executorch_for_training(et_model_path)
    et_history = _history(train, test, *_runtime_steps(module, lr, momentum))
    save_checkpoint(Path(et_save_path).with_suffix(".ptd"), module.named_parameters("forward"))
    return pytorch_model, module, history, et_history


def save_json(history: History, json_path: str) -> str:
    Path(json_path).write_text(json.dumps(history, indent=2))
    return json_path


def _eager_steps(model: torch.nn.Module, lr: float, momentum: float) -> tuple[Step, Step]:
    with_loss = ModelWithLoss(model, torch.nn.CrossEntropyLoss())
    optimizer = torch.optim.SGD(model.parameters(), lr=lr, momentum=momentum)

    def train(images: Tensor, classes: Tensor) -> tuple[Tensor, Tensor]:
        optimizer.zero_grad()
        loss, predicted = with_loss(images, classes)
        loss.backward()
        optimizer.step()
        return loss, predicted

    return train, torch.no_grad()(with_loss)


def _runtime_steps(module: TrainingModule, lr: float, momentum: float) -> tuple[Step, Step]:
    optimizer = get_sgd_optimizer(module.named_parameters("forward"), lr=lr, momentum=momentum)

    def test(images: Tensor, classes: Tensor) -> tuple[Tensor, Tensor]:
        loss, predicted = module.forward_backward("forward", (images, classes))
        return loss, predicted

    def train(images: Tensor, classes: Tensor) -> tuple[Tensor, Tensor]:
        results = test(images, classes)
        optimizer.step(module.named_gradients())
        return results

    return train, test


def _history(
    epochs: Iterable[Iterable[Batch]], tests: Iterable[Batch], train: Step, test: Step
) -> History:
    return {
        number: {**_means("train", batches, train), **_means("test", tests, test)}
        for number, batches in enumerate(epochs)
    }


def _means(kind: str, batches: Iterable[Batch], step: Step) -> dict[str, float]:
    losses, right, count = [], 0, 0
    for images, classes in batches:
        loss, predicted = step(images, classes)
        losses.append(loss.item())
        right += int((predicted == classes).sum())
        count += len(classes)
    return {f"{kind}_loss": sum(losses) / len(losses), f"{kind}_accuracy": right / count}
