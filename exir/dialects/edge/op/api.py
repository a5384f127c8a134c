# SPDX-License-Identifier: BSD-3-Clause
# compat
"""Operators of torch by name, and their variants."""

from __future__ import annotations

import torch
from torchgen.model import SchemaKind

from executorch.exir.operator.convert import (
    _get_overload_schema,
    has_out_arguments,
    to_out_variant,
)
from executorch.exir.retrace.op_rules import functional_form

OpOverload = torch._ops.OpOverload


def get_torch_op_overload(namespace: str, opname: str, overload: str | None) -> OpOverload:
    """`torch.ops.<namespace>.<opname>.<overload>`; None is the default overload."""
    packet = getattr(getattr(torch.ops, namespace), opname)
    return getattr(packet, overload or "default")


def get_callable(name: str) -> OpOverload:
    """The ATen operator of `add.Tensor` or `relu.default`."""
    opname, separator, overload = name.partition(".")
    if not separator:
        raise ValueError(f"expected name.overload, such as relu.default, found {name!r}")
    return get_torch_op_overload("aten", opname, overload)


def to_variant(op: OpOverload, variant: SchemaKind) -> OpOverload:
    """The functional or the out variant of an operator."""
    if variant not in (SchemaKind.functional, SchemaKind.out):
        raise AssertionError(f"Only support out variant and functional variant, got {variant}")
    if _get_overload_schema(op).kind() == variant:
        return op
    found = to_out_variant(op)[0] if variant == SchemaKind.out else _functional_of(op)
    if found is None:
        raise RuntimeError(f"{variant.name} variant of {op.name()} can't be found")
    return found


def _functional_of(op: OpOverload) -> OpOverload | None:
    if not has_out_arguments(op):
        return functional_form(op)
    packet = op._overloadpacket
    for overload in packet.overloads():
        candidate = getattr(packet, overload)
        if candidate._schema.is_mutable:
            continue
        try:
            if to_out_variant(candidate)[0] is op:
                return candidate
        except RuntimeError:
            continue
    return None
