# SPDX-License-Identifier: BSD-3-Clause
"""`ExportPass`: a pass that runs every node of a graph on fake tensors and writes the graph anew, changed where
the subclass says so. Passes over whole programs derive from `ExportedProgramPassBase`."""

from __future__ import annotations

import operator
from abc import ABC, abstractmethod
from collections.abc import Callable
from contextlib import ExitStack, nullcontext
from dataclasses import dataclass
from typing import Any, Protocol

import torch
from torch._dispatch.python import enable_python_dispatcher
from torch._guards import detect_fake_mode
from torch._subclasses.fake_tensor import FakeTensor, FakeTensorMode
from torch.export import ExportedProgram
from torch.fx import Graph, GraphModule, Node
from torch.fx.passes.infra.pass_base import PassBase, PassResult
from torch.fx.proxy import Proxy
from torch.utils import _pytree as pytree

from executorch.exir.dialects.edge._ops import EdgeOpOverload
from executorch.exir.error import ExportError, ExportErrorType
from executorch.exir.operator.custom_writes import AUTO_FUNCTIONALIZED

PassType = Callable[[GraphModule], PassResult | None]
Argument = Any
Fn = Callable[..., Any]

Value = Any
# Metadata that the passes' runs write: overrides cannot set it.
PROTECTED_KEYS: set[str] = {"val", "stack_trace", "nn_module_stack", "debug_handle", "tensor_meta"}
# Results of running the node; everything else in `meta` describes its origin and is handed on.
_RESULT_KEYS = frozenset({"val", "tensor_meta", "spec"})


class ExportPassBaseError(RuntimeError):
    """A pass met a graph it cannot run."""


class NodeMetadata:
    """The `meta` of the node a call stands for."""

    def __init__(self, data: dict[str, Any]) -> None:
        self.data: dict[str, Any] = data.copy()

    def __getitem__(self, key: str) -> Any:
        return self.data[key]

    def __setitem__(self, key: str, value: Any) -> None:
        if key in PROTECTED_KEYS:
            raise RuntimeError(f"Could not override node key: {key}")
        self.data[key] = value

    def __contains__(self, key: str) -> bool:
        return key in self.data

    def get(self, key: str, default: Any = None) -> Any:
        return self.data.get(key, default)

    def copy(self) -> NodeMetadata:
        return NodeMetadata(self.data)


class ProxyValue:
    """A value while a pass runs: its fake data and its node in the new graph."""

    def __init__(self, data: Any, proxy: Proxy | Node) -> None:
        self.data = data
        self.proxy_or_node = proxy

    @property
    def node(self) -> Node:
        held = self.proxy_or_node
        return held.node if isinstance(held, Proxy) else held

    @property
    def proxy(self) -> Proxy:
        held = self.proxy_or_node
        return held if isinstance(held, Proxy) else Proxy(held)

    def to_tensor(self) -> torch.Tensor:
        if not self.is_tensor():
            raise AssertionError(f"{self.node} is a {type(self.data).__name__}, not a tensor")
        return self.data

    def is_tensor(self) -> bool:
        return isinstance(self.data, torch.Tensor)

    def __iter__(self) -> Any:
        for index, item in enumerate(self.data):
            yield ProxyValue(item, self.proxy[index])

    def __bool__(self) -> bool:
        return bool(self._number("used in a boolean context"))

    def __int__(self) -> int:
        return int(self._number("converted to int"))

    def __float__(self) -> float:
        return float(self._number("converted to float"))

    def __index__(self) -> int:
        return operator.index(self._number("used in an index context"))

    def _number(self, use: str) -> Any:
        """The data, unless it is a size that is not known yet: deciding about it would narrow the program."""
        if isinstance(self.data, torch.SymInt | torch.SymFloat | torch.SymBool):
            raise ExportPassBaseError(
                f"{self.node} is symbolic ({self.data}) and cannot be {use}; write an operator on it instead"
            )
        return self.data


class ArgSchema(Protocol):
    """What `map_args` tells about an argument."""

    name: str
    kwarg_only: bool
    type: Any


def map_args(
    op: torch._ops.OpOverload | EdgeOpOverload,
    fn: Callable[[Any, ArgSchema], Any],
    args: Any,
    kwargs: dict[str, Any],
) -> tuple[Any, dict[str, Any]]:
    """`args` and `kwargs` with fn(value, schema of the argument) in place of each value."""
    new_args, new_kwargs = list(args), dict(kwargs)
    for position, schema in enumerate(op._schema.arguments):
        if schema.name in new_kwargs:
            new_kwargs[schema.name] = fn(new_kwargs[schema.name], schema)
        elif not schema.kwarg_only and position < len(new_args):
            new_args[position] = fn(new_args[position], schema)
    return tuple(new_args), new_kwargs


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

    def __init__(self, fake_tensor_mode: FakeTensorMode | None) -> None:
        self.graph = Graph()
        self.root = torch.nn.Module()
        self.fake_tensor_mode = fake_tensor_mode
        self._submodules = 0
        self._constants = 0

    def add_submodule(self, module: torch.nn.Module) -> Node:
        name = f"submodule_{self._submodules}"
        self._submodules += 1
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
        mode = self.fake_tensor_mode
        node.meta["val"] = mode.from_tensor(data, static_shapes=True) if mode else data
        return node


class ExportPass(PassBase):
    """Override `call_operator` (and its siblings) to change calls. A pass that edits the graph in place overrides
    `call` instead. Calling the pass leaves the given module unchanged and returns the new one."""

    def __init__(self) -> None:
        super().__init__()
        self.interpreter: Any = None  # nodes are run by the pass itself
        self.tracer: _GraphTracer | None = None
        self.fake_tensor_mode: FakeTensorMode | None = None
        self.node_debug_str: str | None = None
        self._initialized = True

    # ---- What a subclass may override ----

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
            return self.call_submodule(graph_module, tuple(inputs))

    def call_submodule(self, graph_module: GraphModule, inputs: tuple[Any, ...]) -> PassResult:
        """Runs a whole graph into a new one; branches of conditions come here, too."""
        outer, outer_source = self.tracer, getattr(self, "_source", None)
        self.tracer, self._source = _GraphTracer(getattr(self, "_fake_mode", None)), graph_module
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
        def to_node(value: Any) -> Node:
            if isinstance(value, ProxyValue):
                return value.node
            return self._tracer().add_constant(value)

        return pytree.tree_map_only((ProxyValue, torch.Tensor), to_node, tree)

    def _tracer(self) -> _GraphTracer:
        if self.tracer is None:
            raise ExportPassBaseError("a node can only be written while the pass runs")
        return self.tracer


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
