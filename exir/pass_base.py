# SPDX-License-Identifier: BSD-3-Clause
"""`ExportPass`: a pass that runs every node of a graph on fake tensors and writes the graph anew, changed where
the subclass says so. Passes over whole programs derive from `ExportedProgramPassBase`."""

from __future__ import annotations

import operator
from abc import ABC, abstractmethod
from collections.abc import Callable
from contextlib import ExitStack, nullcontext
from dataclasses import dataclass
from typing import Any

import torch
from torch._dispatch.python import enable_python_dispatcher
from torch._guards import detect_fake_mode
from torch._subclasses.fake_tensor import FakeTensor, FakeTensorMode
from torch.export import ExportedProgram
from torch.fx import Graph, GraphModule, Node
from torch.fx.graph import CodeGen
from torch.fx.passes.infra.pass_base import PassBase, PassResult
from torch.utils import _pytree as pytree

from executorch.exir._pass_values import (
    PROTECTED_KEYS as PROTECTED_KEYS,
)
from executorch.exir._pass_values import (
    ArgSchema as ArgSchema,
)
from executorch.exir._pass_values import (
    ExportPassBaseError,
    NodeMetadata,
    ProxyValue,
)
from executorch.exir._pass_values import (
    map_args as map_args,
)
from executorch.exir.dialects.edge._ops import EdgeOpOverload
from executorch.exir.error import ExportError, ExportErrorType
from executorch.exir.operator.custom_writes import AUTO_FUNCTIONALIZED

PassType = Callable[[GraphModule], PassResult | None]
Argument = Any
Fn = Callable[..., Any]

Value = Any
# Results of running the node; everything else in `meta` describes its origin and is handed on.
_RESULT_KEYS = frozenset({"val", "tensor_meta", "spec"})


@dataclass(frozen=True)
class ExportedProgramPassResult:
    exported_program: ExportedProgram
    modified: bool


class ExportedProgramPassBase(ABC):
    """A pass over a program with its signature and data: `requires`, `call`, `ensures`, in this order."""

    def __call__(self, exported_program: ExportedProgram) -> ExportedProgramPassResult:
        self.requires(exported_program)
        result = self.call(exported_program)
        self.ensures(result.exported_program)
        return result

    @abstractmethod
    def call(self, exported_program: ExportedProgram) -> ExportedProgramPassResult:
        """The pass itself."""

    def requires(self, exported_program: ExportedProgram) -> None:  # noqa: B027
        """Raises when the program is not as the pass needs it."""

    def ensures(self, exported_program: ExportedProgram) -> None:  # noqa: B027
        """Raises when the pass has not done its work."""


class _GraphTracer:
    """Where a pass writes the new graph; `fake_tensor_mode` is the mode the data lives in."""

    def __init__(self, callback: ExportPass, codegen: CodeGen) -> None:
        self.callback = callback
        self.graph = Graph()
        self.graph.set_codegen(codegen)
        self.root = torch.nn.Module()
        self.fake_tensor_mode: FakeTensorMode | None = getattr(callback, "_fake_mode", None)
        self.tensor_attrs: dict[str, torch.Tensor] = {}
        self.submodules: dict[torch.nn.Module, str] = {}
        self._submodules = 0
        self._constants = 0

    def add_submodule(self, module: torch.nn.Module) -> Node:
        name = f"submodule_{self._submodules}"
        self._submodules += 1
        self.submodules[module] = name
        return self.add_attribute(name, module)

    def add_attribute(self, name: str, value: Any) -> Node:
        setattr(self.root, name, value)
        return self.graph.get_attr(name)

    def add_constant(self, value: torch.Tensor) -> Node:
        """A tensor that the pass made itself; the managers turn it into a constant of the program."""
        data = getattr(value, "constant", None) if isinstance(value, FakeTensor) else value
        if data is None:
            raise ExportPassBaseError(
                f"Cannot add {value} to graph: a pass gave a fake tensor of shape {tuple(value.shape)} as an argument; "
                "expected a ProxyValue or a tensor with data"
            )
        name = f"_tensor_constant{self._constants}"
        self._constants += 1
        node = self.add_attribute(name, data)
        self.tensor_attrs[name] = data
        mode = self.fake_tensor_mode
        node.meta["val"] = mode.from_tensor(data, static_shapes=True) if mode else data
        return node

    def create_arg(self, value: Any) -> Any:
        """`value` as an argument of a node: values of the pass as their nodes, tensors as constants."""

        def to_node(leaf: Any) -> Node:
            return leaf.node if isinstance(leaf, ProxyValue) else self.add_constant(leaf)

        return pytree.tree_map_only((ProxyValue, torch.Tensor), to_node, value)

    def set_metadata(self, node: Node, value: Any) -> None:
        """Writes what running the node gave."""
        node.meta["val"] = value

    def trace(self) -> None:
        raise ExportPassBaseError("ExportTracer doesn't support trace(); call the pass")


class ExportPass(PassBase):
    """Override `call_operator` (and its siblings) to change calls. A pass that edits the graph in place overrides
    `call` instead. Calling the pass leaves the given module unchanged and returns the new one."""

    ExportTracer = _GraphTracer

    def __init__(self) -> None:
        super().__init__()
        self.interpreter: Any = None  # nodes are run by the pass itself
        self.tracer: _GraphTracer | None = None
        self.fake_tensor_mode: FakeTensorMode | None = None
        self.node_debug_str: str | None = None
        self._initialized = True

    # ---- What a subclass may override ----

    def should_preserve_symbolic_input_metadata(self) -> bool:
        """Whether inputs must keep the dynamic sizes; a pass that fixes sizes says no."""
        return True

    def placeholder(self, name: str, arg: Any, meta: NodeMetadata) -> ProxyValue:
        node = self._tracer().graph.placeholder(name)
        node.meta = dict(meta.data)
        node.meta["val"] = arg
        return ProxyValue(arg, node)

    def output(self, results: list[Any], meta: NodeMetadata) -> ProxyValue:
        node = self._tracer().graph.output(self._to_nodes(results))
        node.meta = dict(meta.data)
        return ProxyValue(None, node)

    def call_operator(
        self, op: Any, args: tuple[Any, ...], kwargs: dict[str, Any], meta: NodeMetadata
    ) -> ProxyValue:
        """Runs `op` on the data of its arguments and writes the call."""
        return self._call(op, args, kwargs, meta)

    def call_sym(self, target: Fn, args: tuple[Any, ...], meta: NodeMetadata) -> ProxyValue:
        return self._call(target, args, {}, meta)

    def call_getitem(self, value: ProxyValue, key: int, meta: NodeMetadata) -> ProxyValue:
        return self._call(operator.getitem, (value, key), {}, meta)

    def call_cond(
        self,
        pred: Any,
        true_fn: GraphModule,
        false_fn: GraphModule,
        inputs: list[Any],
        meta: NodeMetadata,
    ) -> ProxyValue:
        data = tuple(_to_data(list(inputs)))
        branches = [
            self.call_submodule(branch, data).graph_module for branch in (true_fn, false_fn)
        ]
        nodes = [self._tracer().add_submodule(branch) for branch in branches]
        result = meta.data.get("val")
        return self._write(
            torch.ops.higher_order.cond, (pred, *nodes, list(inputs)), {}, meta, result
        )

    def call_map(
        self, f: GraphModule, mapped_args: list[Any], operands: list[Any], meta: NodeMetadata
    ) -> ProxyValue:
        rows = [value[0] for value in _to_data(list(mapped_args))]
        body = self.call_submodule(f, (*rows, *_to_data(list(operands)))).graph_module
        node = self._tracer().add_submodule(body)
        target = torch.ops.higher_order.map_impl
        return self._write(target, (node, mapped_args, operands), {}, meta, meta.data.get("val"))

    def call_scan(
        self,
        combine_fn: GraphModule,
        init: list[Any],
        xs: list[Any],
        additional_inputs: list[Any],
        meta: NodeMetadata,
    ) -> ProxyValue:
        slices = [value[0] for value in _to_data(list(xs))]
        data = (*_to_data(list(init)), *slices, *_to_data(list(additional_inputs)))
        body = self._tracer().add_submodule(self.call_submodule(combine_fn, data).graph_module)
        args = (body, list(init), list(xs), list(additional_inputs))
        return self._write(torch.ops.higher_order.scan, args, {}, meta, meta.data.get("val"))

    def call_while(
        self,
        cond_fn: GraphModule,
        body_fn: GraphModule,
        carried_inputs: tuple[Any, ...],
        additional_inputs: tuple[Any, ...],
        meta: NodeMetadata,
    ) -> ProxyValue:
        data = tuple(_to_data([*carried_inputs, *additional_inputs]))
        graphs = [self.call_submodule(graph, data).graph_module for graph in (cond_fn, body_fn)]
        nodes = [self._tracer().add_submodule(graph) for graph in graphs]
        args = (*nodes, tuple(carried_inputs), tuple(additional_inputs))
        return self._write(torch.ops.higher_order.while_loop, args, {}, meta, meta.data.get("val"))

    def call_delegate(
        self,
        lowered_module: torch.nn.Module,
        args: tuple[ProxyValue, ...],
        kwargs: dict[str, Any],
        meta: NodeMetadata,
    ) -> ProxyValue:
        node = self._tracer().add_submodule(lowered_module)
        target = torch.ops.higher_order.executorch_call_delegate
        return self._write(target, (node, *args), kwargs, meta, meta.data.get("val"))

    def get_attr(self, target: str, meta: NodeMetadata) -> Any:
        """Values of tensors held by the module itself."""
        value = operator.attrgetter(target)(self._source)
        if isinstance(value, torch.nn.Module):
            return value
        node = self._tracer().add_attribute(target.replace(".", "_"), value)
        node.meta = dict(meta.data)
        data = meta.data.get("val", value)
        node.meta["val"] = data
        attribute = ProxyValue(data, node)
        self.on_attr(attribute)
        return attribute

    def on_attr(self, attr: ProxyValue) -> None:
        """Sees each tensor that the module holds itself."""

    # ---- Running ----

    def call(self, graph_module: GraphModule) -> PassResult:
        if not getattr(self, "_initialized", False):
            raise ExportPassBaseError(
                f"{type(self).__name__} is not initialized with __init__(). Its own __init__ must call "
                "super().__init__()"
            )
        inputs = self.inputs(graph_module)
        mode = detect_fake_mode(inputs) or _mode_of(graph_module)
        with ExitStack() as stack:
            stack.enter_context(mode if mode is not None else nullcontext())
            stack.enter_context(torch.no_grad())
            if mode is not None and mode.shape_env is not None:
                stack.enter_context(enable_python_dispatcher())
            self._fake_mode = self.fake_tensor_mode = mode
            result = self.call_submodule(graph_module, tuple(inputs))
        if self.should_preserve_symbolic_input_metadata():
            _check_symbolic_inputs(inputs, result.graph_module)
        return result

    def call_submodule(self, graph_module: GraphModule, inputs: tuple[Any, ...]) -> PassResult:
        """Runs a whole graph into a new one; branches of conditions come here, too."""
        outer, outer_source = self.tracer, getattr(self, "_source", None)
        # a module of torch.export takes and gives containers by its graph's way of writing code
        codegen = graph_module.graph._codegen
        self.tracer, self._source = self.ExportTracer(self, codegen), graph_module
        try:
            self._run(graph_module, inputs)
            result = GraphModule(self.tracer.root, self.tracer.graph)
        finally:
            self.tracer, self._source = outer, outer_source
        result.meta = dict(getattr(graph_module, "meta", {}))
        return PassResult(result, True)

    def inputs(self, graph_module: GraphModule) -> list[Any]:
        """The fake values of the placeholders."""
        values = []
        for node in graph_module.graph.find_nodes(op="placeholder"):
            if "val" not in node.meta:
                raise ExportPassBaseError(
                    f"Cannot construct an input for graph module: placeholder {node.name} has no fake value "
                    '(meta["val"]); export the module with torch.export first'
                )
            values.append(node.meta["val"])
        return values

    def _run(self, graph_module: GraphModule, inputs: tuple[Any, ...]) -> None:
        env: dict[Node, Any] = {}
        remaining = iter(inputs)
        for node in graph_module.graph.nodes:
            self.node_debug_str = node.format_node()
            meta = NodeMetadata(node.meta)
            if node.op == "placeholder":
                env[node] = self.placeholder(node.target, next(remaining), meta)
            elif node.op == "output":
                self.output(_substitute(node.args[0], env), meta)
            elif node.op == "get_attr":
                env[node] = self.get_attr(node.target, meta)
            elif node.op == "call_function":
                args = _substitute(node.args, env)
                kwargs = {key: _substitute(value, env) for key, value in node.kwargs.items()}
                env[node] = self._call_function(node, args, kwargs, meta)
            else:
                raise ExportPassBaseError(
                    f"{node.op} is not supported. Node: {node.format_node()}; write a call of an operator instead"
                )

    def _call_function(
        self, node: Node, args: tuple[Any, ...], kwargs: dict[str, Any], meta: NodeMetadata
    ) -> Any:
        target = node.target
        if target is operator.getitem:
            return self.call_getitem(args[0], args[1], meta)
        if isinstance(target, EdgeOpOverload | torch._ops.OpOverload):
            return self.call_operator(target, args, kwargs, meta)
        if isinstance(target, torch._ops.HigherOrderOperator):
            return self._call_higher_order(target, args, kwargs, meta)
        if isinstance(
            meta.data.get("val"), torch.SymInt | torch.SymFloat | torch.SymBool | int | float
        ):
            return self.call_sym(target, args, meta)
        return self.call_operator(target, args, kwargs, meta)

    def _call_higher_order(
        self, target: Any, args: tuple[Any, ...], kwargs: dict[str, Any], meta: NodeMetadata
    ) -> Any:
        name = target.name()
        if name == "cond":
            return self.call_cond(*args, meta)
        if name == "map_impl":
            return self.call_map(*args, meta)
        if name == "scan":
            return self.call_scan(*args, meta)
        if name == "while_loop":
            return self.call_while(*args, meta)
        if name == "executorch_call_delegate":
            return self.call_delegate(args[0], args[1:], kwargs, meta)
        if target is AUTO_FUNCTIONALIZED:
            return self._fx("call_function", target, args, kwargs, meta)
        raise ExportError(
            ExportErrorType.NOT_SUPPORTED, f"a pass cannot run higher-order operator {name}"
        )

    def _fx(
        self,
        kind: str,
        target: Any,
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
        meta: NodeMetadata,
    ) -> ProxyValue:
        """Runs and writes a call of anything."""
        if kind != "call_function":
            raise ExportPassBaseError(f"{kind} is not supported; expected call_function")
        return self._call(target, args, kwargs, meta)

    def _call(
        self, target: Any, args: tuple[Any, ...], kwargs: dict[str, Any], meta: NodeMetadata
    ) -> ProxyValue:
        data = target(*_to_data(args), **_to_data(kwargs))
        return self._write(target, args, kwargs, meta, data)

    def _write(
        self, target: Any, args: Any, kwargs: dict[str, Any], meta: NodeMetadata, data: Any
    ) -> ProxyValue:
        to_nodes = self._to_nodes
        # Operators of torch are named after all their overloads together, as torch.export does it.
        name = (
            target._overloadpacket.__name__ if isinstance(target, torch._ops.OpOverload) else None
        )
        node = self._tracer().graph.create_node(
            "call_function", target, to_nodes(args), to_nodes(kwargs), name
        )
        node.meta = {key: value for key, value in meta.data.items() if key not in _RESULT_KEYS}
        node.meta["val"] = data
        return ProxyValue(data, node)

    def _to_nodes(self, tree: Any) -> Any:
        return self._tracer().create_arg(tree)

    def _tracer(self) -> _GraphTracer:
        if self.tracer is None:
            raise ExportPassBaseError("a node can only be written while the pass runs")
        return self.tracer


def _check_symbolic_inputs(inputs: list[Any], graph_module: GraphModule) -> None:
    """Dynamic sizes of inputs stay dynamic."""
    for index, (old, node) in enumerate(
        zip(inputs, graph_module.graph.find_nodes(op="placeholder"), strict=False)
    ):
        new = node.meta.get("val")
        if not isinstance(old, torch.Tensor) or not isinstance(new, torch.Tensor):
            continue
        lost = [size for size in old.shape if isinstance(size, torch.SymInt)]
        if (
            lost
            and old.dim() == new.dim()
            and any(
                isinstance(a, torch.SymInt) and not isinstance(b, torch.SymInt)
                for a, b in zip(old.shape, new.shape)
            )
        ):
            raise ExportPassBaseError(
                f"Input at position {index} did not preserve symbolic metadata across pass replay: placeholder "
                f"{node.name} had sizes {tuple(old.shape)}, now {tuple(new.shape)}. A pass that means to fix sizes "
                "overrides should_preserve_symbolic_input_metadata()"
            )


def _mode_of(graph_module: GraphModule) -> FakeTensorMode | None:
    for node in graph_module.graph.nodes:
        for value in pytree.tree_leaves(node.meta.get("val")):
            if isinstance(value, FakeTensor):
                return value.fake_mode
    return None


def _substitute(tree: Any, env: dict[Node, Any]) -> Any:
    return torch.fx.node.map_arg(tree, env.__getitem__)


def _to_data(tree: Any) -> Any:
    return pytree.tree_map_only(ProxyValue, lambda value: value.data, tree)
