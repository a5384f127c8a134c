# SPDX-License-Identifier: BSD-3-Clause
"""From a functional operator to the variant that writes into tensors it is given."""

from __future__ import annotations

import functools
import importlib

import torch

import executorch.exir.operator.attention  # noqa: F401  (defines an out variant)

OpOverload = torch._ops.OpOverload

# Out variants take these from the tensor they write to.
_FACTORY_ARGUMENTS = frozenset({"dtype", "layout", "device", "pin_memory"})


# Namespaces of torch whose out variants a package of kernels defines.
_DEFINED_BY = {"quantized_decomposed": "executorch.kernels.quantized"}


class NoOutVariant(Exception):
    """The operator has no variant that writes into given tensors."""


def is_out_variant(op: OpOverload) -> bool:
    return any(arg.is_out for arg in op._schema.arguments)


def get_out_args_from_opoverload(op: OpOverload) -> list[str]:
    """Names of the arguments that an out variant writes to, in order."""
    return [arg.name for arg in op._schema.arguments if arg.is_out]


@functools.cache
def to_out_variant(op: OpOverload) -> tuple[OpOverload, tuple[str, ...]]:
    """The out variant of `op` and its out arguments. Raises NoOutVariant."""
    if is_out_variant(op):
        return op, tuple(get_out_args_from_opoverload(op))
    if op.namespace in _DEFINED_BY:
        importlib.import_module(_DEFINED_BY[op.namespace])
    inputs = _input_arguments(op)
    reduced = [pair for pair in inputs if pair[0] not in _FACTORY_ARGUMENTS]
    packet = op._overloadpacket
    candidates = [getattr(packet, name) for name in packet.overloads()]
    for wanted in (inputs, reduced):
        for candidate in candidates:
            if _input_arguments(candidate) == wanted and _returns_fit(op, candidate):
                return candidate, tuple(get_out_args_from_opoverload(candidate))
    raise NoOutVariant(op.name())


def _input_arguments(op: OpOverload) -> list[tuple[str, str]]:
    return [(arg.name, str(arg.type)) for arg in op._schema.arguments if not arg.is_out]


def _returns_fit(functional: OpOverload, candidate: OpOverload) -> bool:
    outs = [arg for arg in candidate._schema.arguments if arg.is_out]
    returns = functional._schema.returns
    return [str(ret.type) for ret in returns] == [str(out.type) for out in outs] and bool(outs)


def has_scratch(op: OpOverload) -> bool:
    """True for a variant with scratch tensors among the ones it writes (`_scratch` in the overload's name)."""
    return "_scratch" in op._overloadname


def to_scratch_op(op: OpOverload) -> OpOverload | None:
    """The variant of an out variant that also takes scratch memory, when one is registered."""
    packet = op._overloadpacket
    for name in packet.overloads():
        candidate = getattr(packet, name)
        if has_scratch(candidate) and _input_arguments(candidate) == _input_arguments(op):
            return candidate
    return None
