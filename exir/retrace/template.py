# SPDX-License-Identifier: BSD-3-Clause
"""What one operator call becomes, recorded once and played back for every equal call: a list of leaf calls whose
arguments refer to the call's inputs or to earlier leaf calls."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import torch
from torch.fx import Node
from torch.utils._python_dispatch import TorchDispatchMode

from executorch.exir.retrace.op_rules import OpRules, Rule, copy_form, functional_form
from executorch.exir.sym_util import surely_equal

OpOverload = torch._ops.OpOverload
INPUT = -1


class AliasesUnknown(Exception):
    """Fake values of a program loaded from a file do not share memory as its tensors will."""


class NeedsFullTrace(Exception):
    """Met something the fast re-trace does not model (a write through a view, say)."""


class Ref(NamedTuple):
    """A value in a template: input number `item` (step INPUT), or output `item` of a step (None: its only one)."""

    step: int
    item: int | None


@dataclass(frozen=True)
class Step:
    op: OpOverload
    args: tuple[Any, ...]
    kwargs: dict[str, Any]
    value: Any  # fake result


@dataclass
class Template:
    steps: list[Step] = field(default_factory=list)
    result: Any = None  # tree of Ref and constants

    @property
    def makes_sizes(self) -> bool:
        """Whether a step has a result whose size depends on data."""
        return any(torch.Tag.dynamic_output_shape in step.op.tags for step in self.steps)


def map_values(
    tree: Any, leaf_type: type | tuple[type, ...], function: Callable[[Any], Any]
) -> Any:
    """`tree` (lists, tuples, scalars) with `function` applied to the leaves of `leaf_type`."""
    if isinstance(tree, leaf_type):
        return function(tree)
    if type(tree) is tuple:
        return tuple(map_values(item, leaf_type, function) for item in tree)
    if isinstance(tree, list | tuple):
        return [map_values(item, leaf_type, function) for item in tree]
    return tree


def _normalized(input: torch.Tensor, *_: Any) -> tuple[torch.Tensor, ...]:
    return torch.empty_like(input), input.new_empty(0), input.new_empty(0)


# Fake results of operators that torch computes from their decomposition, call by call (0.1 s for MobileNetV2).
_RESULTS: dict[OpOverload, Callable[..., Any]] = {
    torch.ops.aten._native_batch_norm_legit_no_training.default: _normalized
}


class Recorder(TorchDispatchMode):
    """Runs one call on fake tensors and writes down the leaf calls it consists of."""

    def __init__(self, rules: OpRules) -> None:
        super().__init__()
        self._rules = rules
        self._template = Template()
        self._refs: dict[int, Ref] = {}
        self._alive: list[torch.Tensor] = []  # ids stay unique while the tensors live
        self._viewed: set[int] = set()

    def record(
        self,
        op: OpOverload,
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
        inputs: list[torch.Tensor],
        whole: bool,
    ) -> Template:
        for number, tensor in enumerate(inputs):
            self._name(tensor, Ref(INPUT, number))
        result = self._leaf(op, args, kwargs) if whole else self._dispatch(op, args, kwargs)
        self._template.result = self._to_refs(result)
        return self._template

    def __torch_dispatch__(
        self, func: OpOverload, types: Any, args: tuple[Any, ...] = (), kwargs: Any = None
    ) -> Any:
        return self._dispatch(func, args, kwargs or {})

    def _dispatch(self, op: OpOverload, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        match self._rules.of(op):
            case Rule.IDENTITY:
                return args[0]
            case Rule.DROP:
                return None
            case Rule.QUERY:
                return op(*args, **kwargs)
            case Rule.VIEW:
                return self._view(op, args, kwargs)
            case Rule.DECOMPOSE:
                with self:
                    return self._rules.decomposition(op)(*args, **kwargs)
            case Rule.MUTATE:
                return self._mutate(op, args, kwargs)
            case _:
                return self._leaf(op, args, kwargs)

    def _leaf(self, op: OpOverload, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        result = _RESULTS.get(op, op)(*args, **kwargs)
        if isinstance(result, torch.SymInt | torch.SymFloat | torch.SymBool):
            if op is torch.ops.aten.sym_size.int or op is torch.ops.aten.sym_numel.default:
                return result
            raise NeedsFullTrace(f"{op} makes a number that depends on data inside a decomposition")
        return self._write_step(op, args, kwargs, result)

    def _write_step(
        self, op: OpOverload, args: tuple[Any, ...], kwargs: dict[str, Any], result: Any
    ) -> Any:
        step = len(self._template.steps)
        self._template.steps.append(
            Step(
                op,
                self._to_refs(tuple(args)),
                {k: self._to_refs(v) for k, v in kwargs.items()},
                result,
            )
        )
        if isinstance(result, torch.Tensor):
            self._name(result, Ref(step, None))
        elif isinstance(result, list | tuple):
            for item, value in enumerate(result):
                if isinstance(value, torch.Tensor):
                    self._name(value, Ref(step, item))
        return result

    def _view(self, op: OpOverload, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        copy = copy_form(op)
        source = args[0]
        if _is_noop_view(copy, args):
            self._viewed.add(id(source))
            return source
        shown = op(*args, **kwargs)
        self._write_step(copy, args, kwargs, map_values(shown, torch.Tensor, _contiguous_copy))
        self._viewed.add(id(source))
        result = self._template.steps[-1].value
        for tensor in result if isinstance(result, list | tuple) else (result,):
            self._viewed.add(id(tensor))
        return result

    def _mutate(self, op: OpOverload, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        functional = functional_form(op)
        target = args[0] if args else None
        if functional is None or not isinstance(target, torch.Tensor):
            raise NeedsFullTrace(f"{op} has no functional form")
        if id(target) in self._viewed or self._refs[id(target)].step == INPUT:
            raise NeedsFullTrace(f"{op} writes to a view or to an input inside a decomposition")
        with self:
            result = functional(*args, **kwargs)
        if result.dtype != target.dtype or result.shape != target.shape:
            raise NeedsFullTrace(f"{op} changes dtype or shape of what it writes")
        self._refs[id(target)] = self._refs[id(result)]
        self._alive.append(result)
        return target

    def _name(self, tensor: torch.Tensor, ref: Ref) -> None:
        self._refs[id(tensor)] = ref
        self._alive.append(tensor)

    def _to_refs(self, tree: Any) -> Any:
        return map_values(tree, torch.Tensor, self._ref_of)

    def _ref_of(self, tensor: torch.Tensor) -> Ref:
        ref = self._refs.get(id(tensor))
        if ref is None:
            raise NeedsFullTrace("a decomposition uses a tensor that is no input of it")
        return ref


def _contiguous_copy(tensor: torch.Tensor) -> torch.Tensor:
    """What the copying form of a view gives. (Those forms cannot run on symbolic sizes themselves.)"""
    return torch.empty(tensor.shape, dtype=tensor.dtype, device=tensor.device)


def _is_noop_view(op: OpOverload, args: tuple[Any, ...]) -> bool:
    """True when the copy would have the sizes and the layout of its source."""
    source = args[0]
    aten = torch.ops.aten
    if op in (aten.view_copy.default, aten.expand_copy.default):
        return (
            op is aten.view_copy.default
            and _same_sizes(source, args[1])
            or (op is aten.expand_copy.default and _same_expansion(source, args[1]))
        )
    if op is aten.permute_copy.default:
        return all(dim % source.dim() == place for place, dim in enumerate(args[1]))
    return False


def _same_sizes(source: torch.Tensor, sizes: Any) -> bool:
    return (
        source.is_contiguous()
        and len(sizes) == source.dim()
        and all(surely_equal(a, b) for a, b in zip(source.shape, sizes, strict=True))
    )


def _same_expansion(source: torch.Tensor, sizes: Any) -> bool:
    return len(sizes) == source.dim() and all(
        surely_equal(b, -1) or surely_equal(a, b) for a, b in zip(source.shape, sizes, strict=True)
    )


def call_key(op: OpOverload, args: Any, kwargs: dict[str, Any], inputs: list[Node]) -> Any:
    """A key under which equal calls share a template; None when a value has none. Symbolic sizes count by their
    expressions."""
    numbers = {node: number for number, node in enumerate(inputs)}
    parts: list[Any] = [op]
    for tree in (*args, *kwargs.items()):
        _add_key(tree, numbers, parts)
    return tuple(parts)


def _add_key(tree: Any, numbers: dict[Node, int], parts: list[Any]) -> None:
    if isinstance(tree, Node):
        value = tree.meta["val"]
        if isinstance(value, torch.Tensor):
            shape = tuple(map(_size_key, value.shape))
            stride = tuple(map(_size_key, value.stride()))
            parts.append((numbers[tree], value.dtype, value.device, shape, stride))
        else:
            parts.append((numbers[tree], _size_key(value)))
    elif isinstance(tree, list | tuple):
        parts.append(("[", len(tree)))
        for item in tree:
            _add_key(item, numbers, parts)
    else:
        parts.append((type(tree), _size_key(tree), str(tree) if isinstance(tree, float) else ""))


def _size_key(value: Any) -> Any:
    if isinstance(value, torch.SymInt | torch.SymFloat | torch.SymBool):
        return value.node.expr
    return value
