# SPDX-License-Identifier: BSD-3-Clause
"""Writes the edge graph: plays templates back as nodes, turns numbers into lifted constants, memory formats into
dim orders and torch operators into edge operators."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from typing import Any

import torch
from torch._dispatch.python import enable_python_dispatcher
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.fx import Graph, Node
from torch.fx.traceback import NodeSource, NodeSourceAction
from torch.utils._pytree import tree_leaves
from torch.utils._sympy.value_ranges import ValueRanges

from executorch.exir.debug_handle_utils import get_greatest_ancestor_node_identifier
from executorch.exir.dialects.edge._ops import edge_op_of
from executorch.exir.passes.dim_order_ops_registry import DimOrderOpsMap
from executorch.exir.retrace.op_rules import OpRules, Rule
from executorch.exir.retrace.symbols import SymbolTable
from executorch.exir.retrace.template import (
    INPUT,
    NeedsFullTrace,
    Recorder,
    Ref,
    Template,
    call_key,
    map_values,
)
from executorch.exir.sym_util import surely_equal, upper_bound_or_none
from executorch.exir.tensor import dim_order_of

aten = torch.ops.aten
OpOverload = torch._ops.OpOverload
_VIEW_TRACKING = torch._C.DispatchKeySet(torch._C.DispatchKey.ADInplaceOrView)
_SYM_TYPES = (torch.SymInt, torch.SymFloat, torch.SymBool)

TO_DIM_ORDER: dict[OpOverload, OpOverload] = {
    old._op: new._op for old, new in DimOrderOpsMap.items()
}

# Metadata of the source node that every node made from it inherits.
_INHERITED = frozenset(
    {"stack_trace", "nn_module_stack", "source_fn_stack", "torch_fn", "seq_nr", "custom"}
)


class DebugHandles:
    """Numbers from 1: nodes that were made from one node of the first graph there was share theirs."""

    def __init__(self) -> None:
        self._known: dict[str, int] = {}

    def of(self, source: Node) -> int:
        identifier = get_greatest_ancestor_node_identifier(source)
        return self._known.setdefault(identifier, len(self._known) + 1)


def _made_from(source: Node) -> NodeSource:
    """The origin of what is made from `source`; its own origins are shared, not copied."""
    made = NodeSource(None, "to_edge", NodeSourceAction.CREATE)
    made.node_info = NodeSource.NodeInfo(source.name, str(source.target), id(source.graph))
    made.from_node = source.meta.get("from_node", [])
    return made


Number = bool | int | float | complex
LiftScalar = Callable[[Number, torch.dtype], Node]


class EdgeGraphBuilder:
    """Appends edge operators to `graph`. One builder per graph; `templates` is shared by all graphs of a call."""

    def __init__(
        self,
        graph: Graph,
        fake_mode: FakeTensorMode,
        rules: OpRules,
        templates: dict[Any, Template],
        lift_scalar: LiftScalar | None,
        skip_dim_order: bool,
        debug_handles: DebugHandles,
    ) -> None:
        self.graph = graph
        self.symbols = SymbolTable(graph, fake_mode)
        self._fake_mode = fake_mode
        self._rules = rules
        self._templates = templates
        self._lift_scalar = lift_scalar
        self._skip_dim_order = skip_dim_order
        self._meta: dict[str, Any] = {}
        self._handles = debug_handles

    def inherit(self, source: Node, debug_handle: int | None = None) -> None:
        """The nodes made from now on come from `source`; they have its debug handle, or the one given."""
        self._meta = {key: value for key, value in source.meta.items() if key in _INHERITED}
        self._meta["from_node"] = [_made_from(source)]
        if isinstance(source.target, OpOverload):
            self._meta["original_aten"] = source.meta.get("original_aten", source.target)
        self._meta["debug_handle"] = debug_handle or self._handles.of(source)

    def call(
        self, op: OpOverload, args: tuple[Any, ...], kwargs: dict[str, Any], whole: bool
    ) -> Any:
        """Nodes for op(*args, **kwargs); arguments are nodes and constants, the result too.

        `whole` keeps the operator although the tables would decompose it.
        """
        inputs = list(dict.fromkeys(_nodes_in((args, list(kwargs.values())))))
        key = call_key(op, args, kwargs, inputs)
        template = self._templates.get((key, whole))
        if template is None:
            template = self._record(op, args, kwargs, inputs, whole)
            if not template.makes_sizes:  # each call has sizes of its own
                self._templates[(key, whole)] = template
        return self._play(template, [n for n in inputs if _is_tensor(n)])

    def _record(
        self, op: OpOverload, args: Any, kwargs: Any, inputs: list[Node], whole: bool
    ) -> Template:
        fakes: dict[Node, Any] = {}
        seen: set[int] = set()
        with self._tracing():
            for node in inputs:
                value = node.meta["val"]
                if isinstance(value, torch.Tensor) and (
                    id(value) in seen or value.is_leaf and value.requires_grad
                ):
                    value = torch.empty_strided(
                        value.shape, value.stride(), dtype=value.dtype, device=value.device
                    )
                seen.add(id(value))
                fakes[node] = value
            tensors = [value for value in fakes.values() if isinstance(value, torch.Tensor)]
            recorder = Recorder(self._rules)
            return recorder.record(
                op,
                map_values(args, Node, fakes.__getitem__),
                {k: map_values(v, Node, fakes.__getitem__) for k, v in kwargs.items()},
                tensors,
                whole,
            )

    @contextmanager
    def _tracing(self) -> Iterator[None]:
        """Fake tensors, no autograd, and every operator reaches the recorder before torch decomposes it."""
        symbolic = self._fake_mode.shape_env is not None
        with (
            self._fake_mode,
            torch.no_grad(),
            enable_python_dispatcher() if symbolic else nullcontext(),
            torch._C._AutoDispatchBelowAutograd(),
            # Its kernels want a view to be a new tensor; the recorder gives the source back for a view of all of it.
            torch._C._ExcludeDispatchKeyGuard(_VIEW_TRACKING),
        ):
            yield

    def _play(self, template: Template, inputs: list[Node]) -> Any:
        made: list[Any] = []

        def value_of(ref: Ref) -> Any:
            if ref.step == INPUT:
                return inputs[ref.item]
            return made[ref.step] if ref.item is None else made[ref.step][ref.item]

        def resolve(tree: Any) -> Any:
            return map_values(tree, (Ref, *_SYM_TYPES), leaf)

        def leaf(item: Any) -> Any:
            return value_of(item) if isinstance(item, Ref) else self.symbols.node_for(item)

        for step in template.steps:
            args = resolve(step.args)
            kwargs = {k: resolve(v) for k, v in step.kwargs.items()}
            made.append(self.leaf(step.op, args, kwargs, step.value))
        return resolve(template.result)

    def leaf(
        self, op: OpOverload, args: tuple[Any, ...], kwargs: dict[str, Any], value: Any
    ) -> Any:
        """One operator that stays; gives its node, or for several results their list."""
        if op is aten.scalar_tensor.default and self._lift_scalar and isinstance(args[0], Number):
            return self._lift_scalar(args[0], value.dtype)
        if op in TO_DIM_ORDER:
            kwargs = {k: v for k, v in kwargs.items() if k != "non_blocking"}  # no kernel waits
            if op is not aten.empty.memory_format and _is_same_layout(args[0].meta["val"], value):
                return args[0]
            if not self._skip_dim_order:
                op, kwargs = TO_DIM_ORDER[op], _dim_order_kwargs(op, kwargs, value)
        if op is aten.slice_copy.Tensor and _is_full_slice(args, kwargs, value):
            return args[0]
        if any(_is_number(arg) for arg in args):
            args = self._numbers_to_tensors(op, args)
        node = self.append(edge_op_of(op), args, kwargs, value)
        if isinstance(value, list | tuple):
            return [
                self.append(operator.getitem, (node, item), {}, part)
                for item, part in enumerate(value)
            ]
        return node

    def name_sizes(self, result: Any, value: Any) -> None:
        """Sizes that depend on data, which the parts of a decomposed call made anew, get the names that they have in
        the value of the whole call."""
        for node, known in zip(tree_leaves(result), tree_leaves(value), strict=True):
            if isinstance(node, Node) and isinstance(known, torch.Tensor):
                for made, size in zip(node.meta["val"].shape, known.shape, strict=True):
                    self._bound_by(size, made)
                with self._fake_mode:
                    node.meta["val"] = torch.empty(known.shape, dtype=known.dtype)
                self.symbols.observe(node, known)

    def _bound_by(self, size: int | torch.SymInt, made: int | torch.SymInt) -> None:
        """A symbol without an upper bound gets that of the size it stands for."""
        bound = upper_bound_or_none(made)
        if bound is not None and upper_bound_or_none(size) is None and size.node.expr.is_symbol:
            ranges = self._fake_mode.shape_env.var_to_range
            symbol = size.node.expr
            ranges[symbol] = ranges[symbol] & ValueRanges(0, bound)

    def append(self, target: Any, args: Any, kwargs: Any, value: Any) -> Node:
        node = self.graph.call_function(target, args, kwargs)
        node.meta.update(self._meta)
        node.meta["val"] = value
        self.symbols.observe(node, value)
        return node

    def attribute(self, name: str) -> Node:
        """A branch or a lowered module, for the call that is made next."""
        node = self.graph.get_attr(name)
        if "debug_handle" in self._meta:
            node.meta["debug_handle"] = self._meta["debug_handle"]
        return node

    def _numbers_to_tensors(self, op: OpOverload, args: tuple[Any, ...]) -> tuple[Any, ...]:
        """Numbers that stand where the schema wants tensors become constants of the operand's kind."""
        result = list(args)
        for place, (arg, formal) in enumerate(zip(args, op._schema.arguments)):
            if _is_number(arg) and isinstance(formal.type, torch.TensorType):
                dtypes = [
                    n.meta["val"].dtype for n in args if isinstance(n, Node) and _is_tensor(n)
                ]
                result[place] = self._constant(arg, _dtype_beside(_plain(arg), dtypes))
        return tuple(result)

    def _constant(self, number: Number | Node, dtype: torch.dtype) -> Node:
        if self._lift_scalar is not None and not isinstance(number, Node):
            return self._lift_scalar(number, dtype)
        with self._fake_mode:
            value = torch.empty((), dtype=dtype)
        if isinstance(number, Node):
            op = edge_op_of(aten.scalar_tensor.default)
            return self.append(op, (number,), {"dtype": dtype}, value)
        if isinstance(number, complex):  # which no value of a program holds
            parts = [self._constant(part, dtype.to_real()) for part in (number.real, number.imag)]
            return self.append(edge_op_of(aten.complex.default), tuple(parts), {}, value)
        return self.append(edge_op_of(aten.full.default), ([], number), {"dtype": dtype}, value)


def _nodes_in(tree: Any) -> list[Node]:
    if isinstance(tree, Node):
        return [tree]
    if isinstance(tree, list | tuple):
        return [node for item in tree for node in _nodes_in(item)]
    return []


def _is_tensor(node: Node) -> bool:
    return isinstance(node.meta.get("val"), torch.Tensor)


def _is_number(arg: Any) -> bool:
    """A number, or the node of one that is computed at run time."""
    if isinstance(arg, Node):
        return isinstance(arg.meta.get("val"), (*_SYM_TYPES, Number))
    return type(arg) in (bool, int, float, complex)


def _plain(number: Any) -> Number:
    """A number of the same kind."""
    if not isinstance(number, Node):
        return number
    value = number.meta["val"]
    if isinstance(value, torch.SymBool | bool):
        return True
    return 1.0 if isinstance(value, torch.SymFloat | float) else 1


def _is_same_layout(source: Any, result: torch.Tensor) -> bool:
    return (
        source.dtype == result.dtype
        and source.device == result.device
        and len(source.shape) == len(result.shape)
        and all(surely_equal(a, b) for a, b in zip(source.stride(), result.stride()))
    )


def _is_full_slice(args: tuple[Any, ...], kwargs: dict[str, Any], value: torch.Tensor) -> bool:
    """A slice from the first to the last element."""
    start, step = ([*args, None, None, None][2], [*args, None, None, None, None][4])
    plain = start in (None, 0) and step in (None, 1) and not kwargs
    return (
        plain
        and _is_same_layout(args[0].meta["val"], value)
        and all(surely_equal(a, b) for a, b in zip(args[0].meta["val"].shape, value.shape))
    )


def _dim_order_kwargs(
    op: OpOverload, kwargs: dict[str, Any], value: torch.Tensor
) -> dict[str, Any]:
    kept = {k: v for k, v in kwargs.items() if k != "memory_format"}
    return kept | {"dim_order": list(dim_order_of(value))}


def _dtype_beside(number: Number, dtypes: list[torch.dtype]) -> torch.dtype:
    """The dtype a number takes beside tensors of `dtypes`, as torch's promotion has it."""
    dtype = dtypes[0] if dtypes else None
    for other in dtypes[1:]:
        dtype = torch.promote_types(dtype, other)
    if isinstance(number, complex):
        if dtype is None or not (dtype.is_floating_point or dtype.is_complex):
            dtype = torch.get_default_dtype()
        return dtype.to_complex()
    if dtype is None or (
        isinstance(number, float) and not (dtype.is_floating_point or dtype.is_complex)
    ):
        return torch.get_default_dtype() if isinstance(number, float) else torch.int64
    if dtype is torch.bool and type(number) is int:
        return torch.int64
    return dtype


__all__ = ["EdgeGraphBuilder", "NeedsFullTrace", "Rule"]
