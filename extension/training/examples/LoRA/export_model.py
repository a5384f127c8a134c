# SPDX-License-Identifier: BSD-3-Clause
"""Writes lora_train.pte, which trains the adapter of a language model, and lora.pte, which takes it from adapter.ptd.

python -m executorch.extension.training.examples.LoRA.export_model --outdir .
"""

from __future__ import annotations

import argparse
from pathlib import Path

import torch
from torch.export import export
from torch.export.experimental import _export_forward_backward

from executorch.exir import ExecutorchBackendConfig, ExecutorchProgramManager, to_edge
from executorch.extension.llm.model.transformer import Transformer
from executorch.extension.training.examples.LoRA.model import NextToken, small_language_model

TOKENS = 32


def training_program(model: Transformer) -> ExecutorchProgramManager:
    """forward(tokens [1, TOKENS + 1]) -> loss, gradients and values of the adapter alone."""
    tokens = torch.zeros(1, TOKENS + 1, dtype=torch.int64)
    joint = _export_forward_backward(export(NextToken(model), (tokens,), strict=True))
    return to_edge(joint).to_executorch()


def inference_program(model: Transformer) -> ExecutorchProgramManager:
    """forward(tokens [1, TOKENS]) -> logits; the adapter comes from a data file."""
    tokens = torch.zeros(1, TOKENS, dtype=torch.int64)
    config = ExecutorchBackendConfig(
        external_constants=lambda node: "adapter" if "lora_" in node.name else None
    )
    return to_edge(export(model, (tokens,), strict=True)).to_executorch(config)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--outdir", type=Path, default=Path(), help="where the files go")
    outdir = parser.parse_args().outdir
    outdir.mkdir(parents=True, exist_ok=True)
    model = small_language_model()
    training_program(model).save(outdir / "lora_train.pte")
    inference_program(model).save(outdir / "lora.pte")


if __name__ == "__main__":
    main()
