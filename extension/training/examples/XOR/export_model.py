# SPDX-License-Identifier: BSD-3-Clause
"""Writes xor.pte, a program that trains a network on exclusive or.

python -m executorch.extension.training.examples.XOR.export_model --outdir . [--external]
"""

from __future__ import annotations

import argparse
from pathlib import Path

import torch
from torch.export import export
from torch.export.experimental import _export_forward_backward

from executorch.exir import ExecutorchBackendConfig, ExecutorchProgramManager, to_edge
from executorch.extension.training.examples.XOR.model import Net, TrainingNet


def export_xor(net: torch.nn.Module, external_mutable_weights: bool) -> ExecutorchProgramManager:
    example = (torch.randn(1, 2), torch.ones(1, dtype=torch.int64))
    joint = _export_forward_backward(export(TrainingNet(net), example, strict=True))
    config = ExecutorchBackendConfig(external_mutable_weights=external_mutable_weights)
    return to_edge(joint).to_executorch(config)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--outdir", type=Path, default=Path(), help="where the files go")
    parser.add_argument("--external", action="store_true", help="start weights in a .ptd file")
    arguments = parser.parse_args()
    torch.manual_seed(0)
    program = export_xor(Net(), arguments.external)
    arguments.outdir.mkdir(parents=True, exist_ok=True)
    program.save(arguments.outdir / "xor.pte")
    program.write_tensor_data_to_file(arguments.outdir)


if __name__ == "__main__":
    main()
