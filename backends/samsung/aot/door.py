# SPDX-License-Identifier: BSD-3-Clause
"""The door to Samsung's LiteCore: two modules over its libraries, which are built with the SDK. One is told
of a graph call by call, the other compiles it."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from importlib import import_module
from importlib.util import find_spec
from typing import Any

from executorch.backends.samsung.aot.graph import Graph, Operator, Tensor

PACKAGE = "executorch.backends.samsung.python"
GRAPH_MODULE, COMPILER_MODULE = f"{PACKAGE}.PyGraphWrapperAdaptor", f"{PACKAGE}.PyEnnWrapperAdaptor"
GET_SDK = (
    "put PyGraphWrapperAdaptor and PyEnnWrapperAdaptor, which are built with Samsung's Exynos AI LiteCore "
    f"(EXYNOS_AI_LITECORE_ROOT), into the package {PACKAGE}"
)


def is_built() -> bool:
    try:
        return find_spec(COMPILER_MODULE) is not None
    except ImportError:
        return False


def compiled(graph: Graph, options: bytes) -> bytes:
    """The NPU's binary; `options`: the compile spec. RuntimeError where a step fails."""
    compiler = import_module(COMPILER_MODULE).EnnWrapper()
    compiler.Init(options)
    try:
        binary = compiler.Compile(serialized(graph))
    finally:
        compiler.Destroy()
    if not binary:
        raise RuntimeError("LiteCore compiled nothing: its log says why")
    return bytes(binary)


def serialized(graph: Graph) -> bytes:
    """Tensors are defined where they are first read or written."""
    module = import_module(GRAPH_MODULE)
    wrapper = module.PyEnnGraphWrapper()
    wrapper.Init()
    ids: dict[int, int] = {}

    def define(places: Iterable[int]) -> list[int]:
        for place in places:
            if place not in ids:
                ids[place] = wrapper.DefineTensor(_tensor(module, graph.tensors[place]))
        return [ids[place] for place in places]

    inputs = define(graph.inputs)
    for operator in graph.operators:
        wrapper.DefineOpNode(_operator(module, operator, define))
    wrapper.SetGraphInputTensors(inputs)
    wrapper.SetGraphOutputTensors(define(graph.outputs))
    wrapper.FinishBuild()
    return wrapper.Serialize()


def _tensor(module: Any, tensor: Tensor) -> Any:
    made = module.PyEnnTensorWrapper(tensor.name, list(tensor.dims), tensor.dtype, tensor.layout)
    if tensor.qparams is not None:
        found = tensor.qparams
        made.AddQuantizeParam(found.type, list(found.scales), list(found.zero_points))
    if tensor.data is not None:
        made.AddData(tensor.data.numpy())
    return made


def _operator(module: Any, operator: Operator, define: Callable[[Iterable[int]], list[int]]) -> Any:
    inputs, outputs = define(operator.inputs), define(operator.outputs)
    made = module.PyEnnOpWrapper(operator.name, operator.type, inputs, outputs)
    for name, value in operator.parameters.items():
        parameter = module.OpParamWrapper(name)
        if isinstance(value, str):
            parameter.SetStringValue(value)
        elif isinstance(value, tuple):
            parameter.SetVectorValue(list(value))
        else:
            parameter.SetScalarValue(value)
        made.AddOpParam(parameter)
    return made
