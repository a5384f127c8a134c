# SPDX-License-Identifier: BSD-3-Clause
"""What becomes of each torch operator in the re-trace: kept, dropped, replaced by its copying or functional form,
or decomposed. The rules are tables; `classify` reads them."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Mapping
from enum import Enum
from typing import Any

import torch
from torch._decomp import _core_aten_decompositions_post_autograd, get_decompositions

from executorch.exir.decompositions.user_operators import has_out_variant
from executorch.exir.operator.util import quant_primitives
from executorch.exir.retrace.own_decompositions import OWN_DECOMPOSITIONS

aten = torch.ops.aten
OpOverload = torch._ops.OpOverload


class Rule(Enum):
    LEAF = "stays as it is"
    VIEW = "becomes its copying form"
    IDENTITY = "its first argument stands for it"
    DROP = "has no effect at run time"
    DECOMPOSE = "is computed by a function of other operators"
    QUERY = "asks about a tensor at trace time"
    MUTATE = "becomes its functional form and a new value of the argument it wrote"


# Never decomposed although torch can: the runtime has a kernel that is better than the parts.
PRESERVED: frozenset[OpOverload] = frozenset(
    {aten.linear.default, aten.upsample_bilinear2d.vec, aten.upsample_nearest2d.vec}
)

_IDENTITY = frozenset(
    {
        aten.alias.default,
        aten.alias_copy.default,
        aten.detach.default,
        aten.detach_copy.default,
        aten.detach_.default,
        aten.lift.default,
        aten.lift_fresh.default,
        aten.lift_fresh_copy.default,
    }
)

DROPPED_NAMES = frozenset(
    {
        "aten::_assert_async",
        "aten::_assert_scalar",
        "aten::_assert_tensor_metadata",
        "aten::sym_constrain_range",
        "aten::sym_constrain_range_for_size",
        "aten::_functional_assert_async",
        "aten::_functional_assert_scalar",
        "aten::_functional_sym_constrain_range",
        "aten::_functional_sym_constrain_range_for_size",
    }
)

# View operators whose copying form has another name, or that are functional already.
_COPY_FORMS: dict[OpOverload, OpOverload] = {
    aten._unsafe_view.default: aten.view_copy.default,
    aten.view.default: aten.view_copy.default,
    aten._reshape_alias.default: aten.view_copy.default,
    aten._reshape_copy.default: aten.view_copy.default,
}

# Operators outside core ATen that torch's tables for other compilers decompose, and the runtime cannot run.
_ALSO_DECOMPOSED: tuple[OpOverload, ...] = (
    aten._addmm_activation.default,
    aten.addmv.default,
    aten.dist.default,
    aten.linalg_vector_norm.default,
    aten.tril_indices.default,
    aten.triu_indices.default,
)

# The core table decomposes these although the runtime's kernels take them whole.
_NOT_DECOMPOSED = frozenset({aten.elu.default, aten.leaky_relu.default})


@functools.cache
def decomposition_table() -> dict[OpOverload, Callable[..., Any]]:
    """torch's table to core ATen, less what the runtime runs whole, plus our own entries. Composite operators stand
    not in it: `is_composite` knows them one by one (listing all of them takes 0.15 s)."""
    table = {
        op: function
        for op, function in _core_aten_decompositions_post_autograd().items()
        if isinstance(op, OpOverload) and op not in _NOT_DECOMPOSED and not _is_copy_form(op)
    }
    table.update(get_decompositions(_ALSO_DECOMPOSED))
    table.update(OWN_DECOMPOSITIONS)
    return table


def _is_copy_form(op: OpOverload) -> bool:
    """`view_copy` and its kin, which the table would turn back into views."""
    return op._schema.name.endswith("_copy") and op is not aten.copy.default


def is_composite(op: OpOverload) -> bool:
    """True when torch itself defines `op` by other operators, whatever the backend."""
    return op._can_decompose() and not _has_explicit_kernel(op)


def _has_explicit_kernel(op: OpOverload) -> bool:
    return torch._C._dispatch_has_kernel_for_dispatch_key(
        op.name(), torch._C.DispatchKey.CompositeExplicitAutograd
    )


def has_kernel_of_a_user(op: OpOverload) -> bool:
    """An operator of no one's but a user's, with an out variant: a function of C++ may look composite, and compute in
    memory that no trace sees."""
    return op.namespace not in ("aten", "prims", "prim") and has_out_variant(op)


def is_view(op: OpOverload) -> bool:
    schema = op._schema
    return not schema.is_mutable and any(ret.alias_info is not None for ret in schema.returns)


@functools.cache
def copy_form(op: OpOverload) -> OpOverload | None:
    """The operator that computes what the view `op` shows, in new memory."""
    if op in _COPY_FORMS:
        return _COPY_FORMS[op]
    name = op._schema.name.split("::")[1]
    packet = getattr(getattr(torch.ops, op.namespace), f"{name}_copy", None)
    return getattr(packet, op._overloadname, None) if packet is not None else None


@functools.cache
def functional_form(op: OpOverload) -> OpOverload | None:
    """`aten.add.Tensor` for `aten.add_.Tensor`; None when there is none with the same arguments."""
    name = op._schema.name.split("::")[1]
    if not name.endswith("_") or name.endswith("__") or torch.Tag.inplace_view in op.tags:
        return None
    packet = getattr(getattr(torch.ops, op.namespace), name[:-1], None)
    functional = getattr(packet, op._overloadname, None) if packet is not None else None
    if functional is None:
        return None
    same = _positional_types(functional) == _positional_types(op)
    return functional if same and len(functional._schema.returns) == 1 else None


@functools.cache
def inplace_form(op: OpOverload) -> OpOverload | None:
    """`aten.add_.Tensor` for `aten.add.Tensor`; None when there is none with the same arguments."""
    name = op._schema.name.split("::")[1]
    packet = getattr(getattr(torch.ops, op.namespace), f"{name}_", None)
    inplace = getattr(packet, op._overloadname, None) if packet is not None else None
    if inplace is None or functional_form(inplace) is not op:
        return None
    return inplace


def _positional_types(op: OpOverload) -> list[tuple[str, str | None]]:
    """Types of the arguments, with names where calls must use them."""
    arguments = op._schema.arguments
    return [(str(arg.type), arg.name if arg.kwarg_only else None) for arg in arguments]


class OpRules:
    """The tables together with what the caller preserves."""

    def __init__(
        self,
        preserve: Iterable[OpOverload] = (),
        more: Mapping[OpOverload, Callable[..., Any]] | None = None,
        decompose: frozenset[OpOverload] = frozenset(),
    ) -> None:
        self._table = {**decomposition_table(), **(more or {})}
        # Quantizing stays where backends look for it; what none has taken is decomposed on the way to planned.
        whole = frozenset(quant_primitives()) - self._table.keys()
        self._preserve = (PRESERVED - decompose) | frozenset(preserve) | whole
        self._known: dict[OpOverload, Rule] = {}

    def of(self, op: OpOverload) -> Rule:
        rule = self._known.get(op)
        if rule is None:
            rule = self._known[op] = self._classify(op)
        return rule

    def decomposition(self, op: OpOverload) -> Callable[..., Any]:
        return self._table.get(op, op.decompose)

    def _classify(self, op: OpOverload) -> Rule:
        if op.namespace == "prim":
            return Rule.QUERY
        if op in _IDENTITY:
            return Rule.IDENTITY
        if op._schema.name in DROPPED_NAMES:
            return Rule.DROP
        if op in self._preserve:
            return Rule.LEAF
        if op._schema.is_mutable:
            return Rule.MUTATE
        if op in self._table:
            return Rule.DECOMPOSE
        if op in _COPY_FORMS:
            return Rule.VIEW
        # Before views: narrow is slice, and no kernel of narrow_copy knows negative dimensions.
        if is_composite(op) and not has_kernel_of_a_user(op):
            return Rule.DECOMPOSE
        if is_view(op) and copy_form(op) is not None:
            return Rule.VIEW
        return Rule.LEAF
