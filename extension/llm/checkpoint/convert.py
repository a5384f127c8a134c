# SPDX-License-Identifier: BSD-3-Clause
"""A folder of Hugging Face's as one file of tensors under the model's names, as Meta's checkpoints have them.

`base.checkpoint` takes the folder itself, so an export needs no conversion; other tools may."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterable
from dataclasses import fields
from importlib.resources import files
from pathlib import Path
from typing import Any

import torch

from executorch.exir.serde.compact import compact
from executorch.extension.llm.checkpoint.keys import Pair, to_model_names
from executorch.extension.llm.checkpoint.params import params_from_config
from executorch.extension.llm.checkpoint.reader import Checkpoint, open_checkpoint
from executorch.extension.llm.model.args import ModelArgs, read_params
from executorch.extension.llm.model.families import FAMILIES


def model_state(checkpoint: Checkpoint, model_class: str) -> dict[str, torch.Tensor]:
    """All tensors of the text model; the output layer is the embedding table where the file has none and the family
    ties them. The shape is config.json's beside the weights, else that of `model_class`."""
    shape = None if checkpoint.config is None else params_from_config(checkpoint.config)
    return _renamed(checkpoint, checkpoint.names, model_class, shape)


def _renamed(
    pairs: Iterable[Pair], names: Iterable[str], model_class: str, shape: dict[str, Any] | None
) -> dict[str, torch.Tensor]:
    family = FAMILIES[model_class]
    if shape is None:
        shape = read_params(Path(str(files("executorch"))) / family.params)
    known = {each.name for each in fields(ModelArgs)}
    args = ModelArgs(**{key: value for key, value in shape.items() if key in known})
    state = dict(to_model_names(pairs, names, family, args))
    if family.tied and "tok_embeddings.weight" in state:
        state.setdefault("output.weight", state["tok_embeddings.weight"])
    return state


def to_meta(model_class: str) -> Callable[[dict[str, torch.Tensor]], dict[str, torch.Tensor]]:
    """From tensors under Hugging Face's names to ours, for the shape of `model_class`."""

    def rename(state_dict: dict[str, torch.Tensor]) -> dict[str, torch.Tensor]:
        """Raises ValueError for a tensor that the text model has not."""
        kept = {key: value for key, value in state_dict.items() if not key.endswith("conv1d.bias")}
        try:
            return _renamed(kept.items(), kept, model_class, None)
        except Exception as error:
            raise ValueError(f"{model_class}: {error}") from error

    return rename


def load_checkpoint(input_dir: str) -> dict[str, torch.Tensor]:
    """The tensors of a folder under the names that they have there."""
    return dict(open_checkpoint(input_dir))


def converter(model_class: str) -> Callable[[str, str], None]:
    """`convert_weights(input_dir, output_file)` of a family; `model_class` is any row of it."""

    def convert_weights(input_dir: str, output_file: str) -> None:
        """Writes what torch.load reads. Raises CheckpointError: no checkpoint there, or one of another model."""
        torch.save(compact(model_state(open_checkpoint(input_dir), model_class)), output_file)

    return convert_weights


def main(convert_weights: Callable[[str, str], None]) -> None:
    parser = argparse.ArgumentParser(description="Hugging Face's weights to Meta's names.")
    parser.add_argument("input_dir", help="folder of Hugging Face's")
    parser.add_argument("output", help="file to write, e.g. model.pth")
    options = parser.parse_args(sys.argv[1:])
    convert_weights(options.input_dir, options.output)
