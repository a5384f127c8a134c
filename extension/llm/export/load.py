# SPDX-License-Identifier: BSD-3-Clause
"""Checkpoints into models, one tensor after the other: names mapped, tensors converted, nothing held twice."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

import torch
from torch import nn

from executorch.extension.llm.checkpoint.reader import open_checkpoint
from executorch.extension.llm.quantization.exportable import (
    Convert,
    _is_quantized,
    iter_gguf,
    maybe_cast,
    to_default,
)

Pair = tuple[str, torch.Tensor]
KeyMap = Callable[[str], str | None]  # None: the tensor is left out
TieMap = Mapping[
    str, tuple[str, Convert]
]  # of a weight: the other name, and its form when quantized
RawIter = Callable[[str], Iterable[Pair]]


def _read(path: str) -> Iterable[Pair]:
    if not Path(path).exists():
        raise ValueError(
            f"Cannot load checkpoint from {path!r}: expected a .gguf file, a .safetensors file, or a directory with a "
            "safetensors checkpoint."
        )
    if Path(path).suffix == ".gguf":
        return iter_gguf(path)
    return open_checkpoint(path)


def iter_checkpoint(
    path: str,
    *,
    key_map: KeyMap | None = None,
    convert: Convert = to_default,
    tie_map: TieMap | None = None,
    dtype: torch.dtype | None = None,
    raw_iter: RawIter | None = None,
) -> Iterable[Pair]:
    """(name, tensor) of a file or folder: GGUF, safetensors, pickled, or what `raw_iter` gives. Names become
    `key_map`'s; floats become `dtype`; `tie_map` gives a weight once more under its other name, where no tensor of the
    file has that."""
    ties, given = dict(tie_map or {}), set()
    later: dict[str, tuple[torch.Tensor, Convert]] = {}
    for theirs, tensor in (raw_iter or _read)(path):
        fqn = theirs if key_map is None else key_map(theirs)
        if fqn is None:
            continue
        given.add(fqn)
        value = maybe_cast(tensor, dtype)
        if fqn in ties:
            other, form = ties[fqn]
            later[other] = (value, form)
        yield fqn, convert(fqn, value)
    for other, (value, form) in later.items():
        if other not in given:
            yield other, form(other, value) if _is_quantized(value) else convert(other, value)


def assign_one(model: nn.Module, fqn: str, value: torch.Tensor) -> None:
    """Sets a parameter or buffer. Raises AttributeError where the model has no module of that path."""
    path, _, name = fqn.rpartition(".")
    owner = model.get_submodule(path)
    if name in owner._buffers:
        owner._buffers[name] = value
    elif name in owner._parameters or not hasattr(owner, name):
        owner._parameters[name] = nn.Parameter(value, requires_grad=False)
    else:
        raise AttributeError(
            f"{fqn}: expected a parameter or buffer, found {type(getattr(owner, name)).__name__}"
        )


def assign_state_dict(
    model: nn.Module, state_dict: dict[str, torch.Tensor], convert: Convert = to_default
) -> None:
    """All of `state_dict`; then no parameter may be left without data (RuntimeError)."""
    for fqn, value in state_dict.items():
        assign_one(model, fqn, convert(fqn, value))
    assert_all_materialized(model)


def load_checkpoint(
    path: str,
    model: nn.Module,
    *,
    key_map: KeyMap | None = None,
    convert: Convert = to_default,
    tie_map: TieMap | None = None,
    dtype: torch.dtype | None = None,
    raw_iter: RawIter | None = None,
) -> None:
    """`iter_checkpoint` into a model, which may have been built on the meta device."""
    pairs = iter_checkpoint(
        path, key_map=key_map, convert=convert, tie_map=tie_map, dtype=dtype, raw_iter=raw_iter
    )
    for fqn, value in pairs:
        assign_one(model, fqn, value)
    assert_all_materialized(model)


def assert_all_materialized(model: nn.Module) -> None:
    for fqn, value in model.named_parameters():
        if value.is_meta:
            raise RuntimeError(
                f"Weight {fqn!r} not found in checkpoint (model/checkpoint version mismatch?)"
            )
