# SPDX-License-Identifier: BSD-3-Clause
"""From a functional operator to the variant that writes into tensors it is given."""

from __future__ import annotations

import functools
import importlib
from typing import Any

import torch
from torchgen.model import FunctionSchema, SchemaKind

import executorch.exir.operator.attention  # noqa: F401  (defines an out variant)
from executorch.exir.operator.custom_writes import writes_beside_results

OpOverload = torch._ops.OpOverload

# Out variants take these from the tensor they write to.
_FACTORY_ARGUMENTS = frozenset({"dtype", "layout", "device", "pin_memory"})


# Namespaces of which a package of kernels defines operators, or out variants of others' operators.
DEFINED_BY = {
    "llama": "executorch.extension.llm.custom_ops.custom_ops",
    "quantized_decomposed": "executorch.kernels.quantized",
    "torchao": "executorch.kernels.torchao",
}


class NoOutVariant(RuntimeError):
    """The operator has no variant that writes into given tensors."""


def unwrap_op_overload(target: object) -> OpOverload:
    """The torch operator of an edge or backend operator; torch's own themselves."""
    op = target if isinstance(target, OpOverload) else getattr(target, "_op", target)
    if not isinstance(op, OpOverload):
        raise TypeError(
            "unwrap_op_overload: expected a torch._ops.OpOverload or an operator of a dialect (with one as `_op`), "
            f"found a {type(target).__name__}: {target}"
        )
    return op


def parse_qualified_opname(qualified_opname: str) -> tuple[str, str]:
    """`aten::add` as ("aten", "add")."""
    namespace, separator, name = qualified_opname.partition("::")
    if not separator or "::" in name:
        raise RuntimeError(f"Invalid qualified_opname {qualified_opname}: expected namespace::name")
    return namespace, name


def get_op_overload(qualified_opname: str, overload: str) -> OpOverload:
    """The operator `namespace::name` with this overload ("" is the default one)."""
    namespace, name = parse_qualified_opname(qualified_opname)
    return getattr(getattr(getattr(torch.ops, namespace), name), overload or "default")


def _pybind_schema_to_native_schema(
    pybind_schema: torch.FunctionSchema,
) -> FunctionSchema | None:
    """The schema as torchgen reads it; None where torchgen cannot."""
    try:
        return FunctionSchema.parse(str(pybind_schema))
    except (AssertionError, RuntimeError, ValueError):
        return None


@functools.cache
def _get_overload_schema(op_overload: OpOverload) -> FunctionSchema | None:
    return _pybind_schema_to_native_schema(op_overload._schema)


def _is_kind(qualified_opname: str, overload: str, kind: SchemaKind) -> bool:
    schema = _get_overload_schema(get_op_overload(qualified_opname, overload))
    return schema is not None and schema.kind() == kind


def is_out_variant(qualified_opname: str, overload: str) -> bool:
    """True when `namespace::name` with this overload writes into out arguments."""
    return _is_kind(qualified_opname, overload, SchemaKind.out)


def is_inplace_variant(qualified_opname: str, overload: str) -> bool:
    """True when `namespace::name` with this overload writes its first argument."""
    return _is_kind(qualified_opname, overload, SchemaKind.inplace)


def has_out_arguments(op: OpOverload) -> bool:
    return any(arg.is_out for arg in op._schema.arguments)


def get_out_args_from_schema(out_var_schema: torch.FunctionSchema) -> tuple[str, ...]:
    """Names of the arguments that an out variant writes to, in order."""
    names = tuple(arg.name for arg in out_var_schema.arguments if arg.is_out)
    if not names:
        raise AssertionError(f"Expect an out variant, but get: {out_var_schema}")
    return names


def get_out_args_from_opoverload(op_overload: OpOverload) -> tuple[str, ...]:
    return get_out_args_from_schema(op_overload._schema)


def output_to_aliased_input_map(schema: torch.FunctionSchema) -> dict[int, int]:
    """Which result is which argument: {place of the result: place of the argument}, the first of several."""
    found: dict[int, int] = {}
    for place, returned in enumerate(schema.returns):
        for source, argument in enumerate(schema.arguments):
            if _shares(returned, argument):
                found.setdefault(place, source)
    return found


def _shares(returned: Any, argument: Any) -> bool:
    one, other = returned.alias_info, argument.alias_info
    return one is not None and other is not None and one.before_set == other.before_set


@functools.cache
def to_out_variant(op_overload: OpOverload) -> tuple[OpOverload, tuple[str, ...]]:
    """The out variant of `op_overload` and its out arguments. Raises NoOutVariant."""
    op = unwrap_op_overload(op_overload)
    if has_out_arguments(op):
        return op, get_out_args_from_opoverload(op)
    if op._schema.is_mutable and not writes_beside_results(op):
        raise AssertionError(f"Expect a functionalish op, but get one that writes: {op._schema}")
    if op.namespace in DEFINED_BY:
        importlib.import_module(DEFINED_BY[op.namespace])
    inputs = _input_arguments(op)
    reduced = [pair for pair in inputs if pair[0] not in _FACTORY_ARGUMENTS]
    packet = op._overloadpacket
    candidates = [getattr(packet, name) for name in packet.overloads()]
    for wanted in (inputs, reduced):
        for candidate in candidates:
            if _input_arguments(candidate) == wanted and _returns_fit(op, candidate):
                return candidate, get_out_args_from_opoverload(candidate)
    raise NoOutVariant(
        f"Missing out variant for functional op: {op._schema} . Import the library of custom operators that defines "
        "it, or define one with torch.library"
    )


def _input_arguments(op: OpOverload) -> list[tuple[str, str]]:
    return [(arg.name, str(arg.type)) for arg in op._schema.arguments if not arg.is_out]


def _returns_fit(functional: OpOverload, candidate: OpOverload) -> bool:
    outs = [arg for arg in candidate._schema.arguments if arg.is_out]
    returns = functional._schema.returns
    return [str(ret.type) for ret in returns] == [str(out.type) for out in outs] and bool(outs)


def has_scratch(op: OpOverload) -> bool:
    """True for a variant with scratch tensors among the ones it writes (`_scratch` in the overload's name)."""
    return "_scratch" in op._overloadname


def to_scratch_op(op_overload: OpOverload) -> OpOverload | None:
    """The variant of an out variant that also takes scratch memory, when one is registered."""
    packet = op_overload._overloadpacket
    for name in packet.overloads():
        candidate = getattr(packet, name)
        if has_scratch(candidate) and _input_arguments(candidate) == _input_arguments(op_overload):
            return candidate
    return None
