# SPDX-License-Identifier: BSD-3-Clause
"""Captures that came before torch.export, and the decompositions they share with it: `dispatch_trace` runs a function
on tensors that write down each operator, `dynamo_trace` asks torch._dynamo."""

from __future__ import annotations

import contextlib
import traceback
from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict, dataclass
from typing import Any, Dict, List, Tuple, Union  # noqa: UP035  (aliases that users subscript and compare)

import torch
from torch.fx import GraphModule, Node, Proxy, Tracer
from torch.utils import _pytree as pytree

from executorch.exir.common import no_dispatch
from executorch.exir.error import ExportError, ExportErrorType, InternalError
from executorch.exir.graph_module import LeafValue
from executorch.exir.operator.util import quant_primitives

Value = Union[LeafValue, Tuple["Value", ...], List["Value"], Dict[str, "Value"]]  # noqa: UP006, UP007
aten = torch.ops.aten

# The table of programs that were captured by torch._dynamo alone.
_OLD_TABLE = (
    aten.log_sigmoid_forward.default,
    aten.log_sigmoid_forward.output,
    aten.ones.default,
    aten.arange.default,
    aten.arange.start,
    aten.transpose.int,
)


def _default_decomposition_table(
    _use_old_decomp_table: bool = False,
) -> dict[torch._ops.OpOverload, Callable[..., Any]]:
    """torch.export's table for core ATen, with the vector norm and without the operators of quantization."""
    if _use_old_decomp_table:
        return torch._decomp.get_decompositions(list(_OLD_TABLE))
    table = torch.export.default_decompositions()
    table.update(torch._decomp.get_decompositions([aten.linalg_vector_norm.default]))
    for op in quant_primitives():
        table.pop(op, None)
    return table


@dataclass
class ExirDynamoConfig:
    """Options of torch._dynamo for `dynamo_trace`."""

    allow_rnn: bool = True
    verbose: bool = True
    assume_static_by_default: bool = False


# ---- By torch._dynamo ----


def dynamo_trace(
    f: Callable[..., Any],
    args: tuple[Any, ...],
    aten_graph: bool,
    tracing_mode: str = "real",
    dynamo_config: ExirDynamoConfig | None = None,
    dynamic_shapes: list[Any] | None = None,
    _use_old_decomp_table: bool = False,
) -> tuple[GraphModule, Any]:
    """The graph of `f` at `args`, its outputs flat, and the guards under which it holds."""
    table = _default_decomposition_table(_use_old_decomp_table) if aten_graph else None
    torch._dynamo.reset()
    try:
        with torch._dynamo.config.patch(**asdict(dynamo_config or ExirDynamoConfig())):
            graph_module, guards = torch._dynamo.export(
                f,
                aten_graph=aten_graph,
                tracing_mode=tracing_mode,
                decomposition_table=table,
                dynamic_shapes=dynamic_shapes,
            )(*args)
    except torch._dynamo.exc.Unsupported as refused:
        raise ExportError(
            ExportErrorType.NOT_SUPPORTED,
            "The user code is using a feature we don't support. Please try torchdynamo.explain() to get possible "
            f"the reasons: {refused}",
        ) from refused
    except torch._dynamo.exc.InternalTorchDynamoError as failed:
        raise InternalError(f"torch._dynamo failed: {failed}") from failed
    flatten_output(graph_module)
    return graph_module, guards


def flatten_output(gm: GraphModule) -> None:
    """The graph returns a flat list; works in place."""
    output = gm.graph.output_node()
    output.args = (pytree.tree_leaves(output.args[0]),)
    gm.recompile()


# ---- By running it ----

TRACER: DispatchTracer | None = None
TORCHDYNAMO_ENABLED = False


@contextlib.contextmanager
def using_tracer(tracer: DispatchTracer | None) -> Iterator[None]:
    """`DispatchTracer.get()` gives `tracer`, inside."""
    global TRACER
    before, TRACER = TRACER, tracer
    try:
        yield
    finally:
        TRACER = before


@contextlib.contextmanager
def using_dynamo(val: bool) -> Iterator[None]:
    """`torchdynamo_enabled()` gives `val`, inside."""
    global TORCHDYNAMO_ENABLED
    before, TORCHDYNAMO_ENABLED = TORCHDYNAMO_ENABLED, val
    try:
        yield
    finally:
        TORCHDYNAMO_ENABLED = before


def torchdynamo_enabled() -> bool:
    return TORCHDYNAMO_ENABLED


class PythonTensor(torch.Tensor):
    """A tensor with its node: what is computed with it is written into the tracer's graph."""

    __slots__ = ["is_immutable", "proxy"]

    @staticmethod
    def __new__(
        cls: type, elem: torch.Tensor, proxy: Proxy, is_immutable: bool = False
    ) -> PythonTensor:
        result = torch.Tensor._make_subclass(cls, elem.detach(), elem.requires_grad)
        result.proxy, result.is_immutable = proxy, is_immutable
        return result

    __torch_function__ = torch._C._disabled_torch_function_impl

    def __repr__(self, **options: Any) -> str:
        with no_dispatch():
            return f"PythonTensor({self.as_subclass(torch.Tensor)})"

    def update_proxy(self, proxy: Proxy) -> None:
        self.proxy = proxy

    @classmethod
    def __torch_dispatch__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        tracer = DispatchTracer.get()
        with no_dispatch():
            result = func(*_plain(args), **_plain(kwargs))
        proxy = tracer.create_proxy(
            "call_function",
            func,
            pytree.tree_map(unwrap_proxy, args),
            pytree.tree_map(unwrap_proxy, kwargs),
        )
        if func._schema.is_mutable and isinstance(args[0], PythonTensor):
            args[0].update_proxy(proxy)
            return args[0]
        return tree_return(result, proxy, lambda value, of: PythonTensor(value, of))


def _plain(tree: Any) -> Any:
    return pytree.tree_map_only(PythonTensor, lambda t: t.as_subclass(torch.Tensor), tree)


def unwrap_functional(t: torch.Tensor) -> torch.Tensor:
    """What a tensor of torch.func.functionalize holds; other tensors themselves."""
    while isinstance(t, torch.Tensor) and torch._is_functional_tensor(t):
        torch._sync(t)
        t = torch._from_functional_tensor(t)
    return t


def unwrap_proxy(t: Any) -> Any:
    """The node that a value stands for; values without one themselves."""
    inner = unwrap_functional(t) if isinstance(t, torch.Tensor) else t
    return inner.proxy if isinstance(inner, PythonTensor) else t


def single_return(output: Any, proxy: Proxy, wrapper: Callable[..., Any]) -> Any:
    return wrapper(output, proxy) if isinstance(output, torch.Tensor) else output


def tree_return(
    outputs: Any,
    proxy: Proxy,
    wrapper: Callable[..., Any],
    meta_type: Callable[..., Iterable[Any]] = tuple,
) -> Any:
    """`outputs` with wrapper(tensor, its proxy) instead of each tensor; items of lists are getitem nodes."""
    if not isinstance(outputs, tuple | list):
        return single_return(outputs, proxy, wrapper)
    return meta_type(single_return(one, proxy[i], wrapper) for i, one in enumerate(outputs))


class DummyProxy:
    """Stands for a node where no graph is written."""

    class _Node:
        def __init__(self) -> None:
            self.meta: dict[str, Any] = {}

    def __init__(self) -> None:
        self.node = DummyProxy._Node()

    def __getitem__(self, key: str) -> DummyProxy:
        return DummyProxy()


class DispatchTracer(Tracer):
    """Writes a graph while a function runs on PythonTensors."""

    def __init__(self) -> None:
        super().__init__()
        self.root = torch.nn.Module()
        self.graph = torch.fx.Graph()
        self.tensor_attrs: dict[Any, str] = {}
        self.submodules = 0

    @staticmethod
    def get() -> DispatchTracer:
        if TRACER is None:
            raise InternalError("no dispatch trace runs; call inside of dispatch_trace")
        return TRACER

    def call_module(
        self, m: torch.nn.Module, forward: Callable[..., Any], args: Any, kwargs: Any
    ) -> Any:
        return forward(*args, **kwargs)

    def create_arg(self, a: Any) -> Any:
        if isinstance(a, torch.nn.Parameter):
            return self._attribute("_param_constant", a)
        if isinstance(a, torch.Tensor):
            return self._attribute("_tensor_constant", a)
        return super().create_arg(a)

    def add_submodule(self, module: GraphModule) -> Node:
        name = f"submodule_{self.submodules}"
        self.submodules += 1
        setattr(self.root, name, module)
        return self.create_node("get_attr", name, (), {})

    def _attribute(self, prefix: str, tensor: torch.Tensor) -> Node:
        name = self.tensor_attrs.get(id(tensor))
        if name is None:
            count = sum(each.startswith(prefix) for each in self.tensor_attrs.values())
            name = self.tensor_attrs[id(tensor)] = f"{prefix}{count}"
            setattr(self.root, name, tensor)
        return self.create_node("get_attr", name, (), {})

    def trace(
        self,
        root: Callable[..., Any],
        concrete_args: tuple[Any, ...] = (),
        in_spec: pytree.TreeSpec | None = None,
    ) -> Any:
        """Runs `root` and gives its (wrapped) outputs; the graph is this tracer's."""
        wrapped = []
        for number, value in enumerate(concrete_args):
            proxy = self.create_proxy("placeholder", f"ph_{number}", (), {})
            is_tensor = isinstance(value, torch.Tensor)
            wrapped.append(PythonTensor(value, proxy, is_immutable=True) if is_tensor else value)
        arguments = wrapped if in_spec is None else pytree.tree_unflatten(wrapped, in_spec)
        with using_tracer(self):
            results = root(*arguments)
            leaves, self.out_spec = pytree.tree_flatten(results)
            self.create_node(
                "output", "output", (self.create_arg(list(map(unwrap_proxy, leaves))),), {}
            )
        return results


def flattened_dispatch_trace(
    f: Callable[..., Any],
    args: tuple[Any, ...],
    guards: set[Any],
    in_spec: pytree.TreeSpec | None = None,
    enable_functionalization: bool = True,
) -> tuple[GraphModule, Any]:
    """The graph of `f` at flat `args` (nested by `in_spec`) and what it returned. Writes become new values with
    `enable_functionalization`; `guards` are kept with the module."""
    tracer = DispatchTracer()
    with torch.no_grad() if enable_functionalization else contextlib.nullcontext():
        results = tracer.trace(f, args, in_spec)
    module = GraphModule(tracer.root, tracer.graph)
    module.in_spec, module.out_spec, module.guards = in_spec, tracer.out_spec, guards
    return module, results


def dispatch_trace(f: Callable[..., Any], args: tuple[Any, ...]) -> GraphModule:
    """The graph of `f` at `args`: torch operators, a flat list as output, `in_spec` and `out_spec` beside it."""
    leaves, in_spec = pytree.tree_flatten(args)
    return flattened_dispatch_trace(f, tuple(leaves), set(), in_spec)[0]


def get_stacktrace() -> list[dict[str, str]]:
    """The caller's frames, outermost first, without torch's and the compiler's own."""
    frames = [each for each in traceback.extract_stack()[:-1] if "/torch/" not in each.filename]
    return [
        {
            "filename": each.filename,
            "lineno": str(each.lineno),
            "name": each.name,
            "line": each.line or "",
            "context": each.line or "",
        }
        for each in frames
    ]
