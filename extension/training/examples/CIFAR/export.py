# SPDX-License-Identifier: BSD-3-Clause
"""Programs that train a network: one file, or one file and its weights."""

from __future__ import annotations

from pathlib import Path

import torch
from torch.export import export
from torch.export.experimental import _export_forward_backward

from executorch.exir import ExecutorchBackendConfig, ExecutorchProgramManager, to_edge
from executorch.extension.training.examples.CIFAR.model import ModelWithLoss

BATCH = 4


def get_pte_only(net: torch.nn.Module, batch_size: int = BATCH) -> ExecutorchProgramManager:
    """Start weights are part of the program."""
    return _program(net, batch_size, ExecutorchBackendConfig())


def get_pte_with_ptd(net: torch.nn.Module, batch_size: int = BATCH) -> ExecutorchProgramManager:
    """Start weights are a data file."""
    return _program(net, batch_size, ExecutorchBackendConfig(external_mutable_weights=True))


def save_model(ep: ExecutorchProgramManager, model_path: str) -> None:
    """The program alone."""
    ep.save(model_path)


def update_tensor_data_and_save(
    exported_program: ExecutorchProgramManager, ptd_model_path: str, pte_model_path: str
) -> None:
    """The program and its weights (`get_pte_with_ptd`), under names of their own."""
    (data,) = exported_program._tensor_data.values()
    Path(ptd_model_path).write_bytes(bytes(data))
    exported_program.save(pte_model_path)


def _program(
    net: torch.nn.Module, batch_size: int, config: ExecutorchBackendConfig
) -> ExecutorchProgramManager:
    example = (torch.randn(batch_size, 3, 32, 32), torch.zeros(batch_size, dtype=torch.int64))
    model = ModelWithLoss(net, torch.nn.CrossEntropyLoss())
    joint = _export_forward_backward(export(model, example, strict=True))
    return to_edge(joint).to_executorch(config)
