# SPDX-License-Identifier: BSD-3-Clause
"""Puts a checkpoint's tensors into a model, one after the other, and says what is missing or of the wrong shape."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import torch
from torch import nn

from executorch.extension.llm.checkpoint.errors import CheckpointError
from executorch.extension.llm.checkpoint.keys import Pair, to_model_names
from executorch.extension.llm.checkpoint.prequantized import Prequantized, quantized_pairs
from executorch.extension.llm.checkpoint.reader import Checkpoint
from executorch.extension.llm.model.args import ModelArgs
from executorch.extension.llm.model.families import Family
from executorch.extension.llm.model.lora import LoRALinear

_LISTED = 5


def owner_of(model: nn.Module, name: str) -> tuple[nn.Module, str]:
    """The module that holds `name`, and the name there; layers with adapters hold `weight` one deeper."""
    path, _, last = name.rpartition(".")
    module = model.get_submodule(path)
    if isinstance(module, LoRALinear) and last in ("weight", "bias"):
        return module.linear, last
    return module, last


def assign(model: nn.Module, name: str, value: torch.Tensor, where: str) -> bool:
    """Sets a parameter or buffer instead of the one there; false where the model has none of that name."""
    try:
        module, last = owner_of(model, name)
    except AttributeError:
        return False
    there = module._parameters.get(last, module._buffers.get(last))
    if there is None:
        return False
    if there.shape != value.shape:
        raise CheckpointError(
            f"{where}: tensor {name!r}: expected shape {list(there.shape)}, found {list(value.shape)}; "
            "are base.params and base.model_class those of this checkpoint?"
        )
    if last in module._parameters:
        value = nn.Parameter(value, requires_grad=False)
        module._parameters[last] = value
    else:
        module._buffers[last] = value
    return True


def load_pairs(
    model: nn.Module, pairs: Iterable[Pair], where: str, dtype: torch.dtype | None
) -> tuple[set[str], list[str]]:
    """Assigns what the model has; returns the names assigned, and those that it has not. Floats become `dtype`, where
    one is given."""
    loaded, foreign = set(), []
    for name, value in pairs:
        if dtype is not None and value.is_floating_point():
            value = value.to(dtype)
        if assign(model, name, value.detach(), where):
            loaded.add(name)
        else:
            foreign.append(name)
    return loaded, foreign


def pruned_pairs(pairs: Iterable[Pair], args: ModelArgs, tied: bool) -> Iterator[Pair]:
    """Of tables of the whole vocabulary the rows that `args` keep; where `tied`, an output layer that no tensor fills
    has rows of the embedding table."""
    kept = {"tok_embeddings": args.input_prune_map, "output": args.output_prune_map}
    table, has_output = None, False
    for name, value in pairs:
        owner = name.partition(".")[0]
        if name == "tok_embeddings.weight":
            table = value
        has_output = has_output or owner == "output"
        yield name, _rows(value, kept.get(owner), args.vocab_size)
    if tied and table is not None and not has_output:
        yield "output.weight", _rows(table, kept["output"], args.vocab_size)


def _rows(value: torch.Tensor, kept: dict[int, int] | None, whole: int) -> torch.Tensor:
    if not kept or len(value) != whole:
        return value
    return value[[kept[row] for row in range(len(kept))]]


def load_into(
    model: nn.Module,
    checkpoint: Checkpoint,
    family: Family,
    dtype: torch.dtype | None = None,
    adapter: Iterable[Pair] = (),
    prequantized: Prequantized | None = None,
    tensors: Iterable[Pair] | None = None,
) -> None:
    """Fills a model that was built on the meta device; `adapter` are tensors besides, under the model's names,
    `prequantized` says how a checkpoint of integers with scales is meant. `tensors`: those of the checkpoint, of which
    some may be on the meta device and are filled later; then nothing is said to be missing.

    Raises CheckpointError: a tensor of the wrong shape, an unknown name, or weights that are missing.
    """
    where = str(checkpoint.path)
    try:
        given = checkpoint if tensors is None else tensors
        pairs = to_model_names(given, checkpoint.names, family, model.params)
        if prequantized is not None:
            pairs = quantized_pairs(pairs, prequantized, where)
        if model.params.input_prune_map or model.params.output_prune_map:
            pairs = pruned_pairs(pairs, model.params, family.tied)
        loaded, foreign = load_pairs(model, pairs, where, dtype)
        load_pairs(model, adapter, where, dtype)
    except CheckpointError:
        raise
    except Exception as error:
        raise CheckpointError(f"{where}: {error}") from error
    if model.output is not None and "tok_embeddings.weight" in loaded and family.tied:
        same = "output.weight" not in loaded or (prequantized is None and _equal(model))
        if same:
            tie(model)
    check_none_foreign(model, foreign, where)
    if tensors is None:
        check_complete(model, where)


def _equal(model: nn.Module) -> bool:
    ours, theirs = model.output.weight, model.tok_embeddings.weight
    if ours.is_meta or theirs.is_meta or ours.dtype != theirs.dtype:
        return False
    return ours.shape == theirs.shape and torch.equal(ours, theirs)


def tie(model: nn.Module) -> None:
    """The output layer takes the embedding table itself, so a program holds it once."""
    model.output.weight = model.tok_embeddings.weight


def check_none_foreign(model: nn.Module, foreign: Iterable[str], where: str) -> None:
    """Raises CheckpointError with the names of weights that the model would have to multiply or add, and has no place
    for: a bias, a norm, a layer."""
    left_out = {"rope"}  # tables
    left_out |= {"tok_embeddings"} if model.tok_embeddings is None else set()
    left_out |= {"output"} if model.output is None else set()
    names = [name for name in foreign if name.partition(".")[0] not in left_out]
    if names:
        more = f" and {len(names) - _LISTED} more" if len(names) > _LISTED else ""
        raise CheckpointError(
            f"{where}: weights that the model has not: {', '.join(names[:_LISTED])}{more}; "
            "are base.params and base.model_class those of this checkpoint?"
        )


def check_complete(model: nn.Module, where: str) -> None:
    """Raises CheckpointError with the names of weights that no tensor filled."""
    missing = [name for name, value in model.named_parameters() if value.is_meta]
    if missing:
        more = f" and {len(missing) - _LISTED} more" if len(missing) > _LISTED else ""
        raise CheckpointError(
            f"{where}: missing weights: {', '.join(missing[:_LISTED])}{more}; "
            "are base.params and base.model_class those of this checkpoint?"
        )
