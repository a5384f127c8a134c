# SPDX-License-Identifier: BSD-3-Clause
"""NNCF, found when it is needed, and the few of its calls that differ between its versions."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from types import ModuleType
from typing import Any

import torch
from torch.fx import GraphModule, Node
from torch.fx.node import map_arg

from executorch.backends.openvino.aot.compiler import OPENVINO
from executorch.exir.backend.lowering.external.compiler import ExternalPackage, MissingCompiler
from executorch.exir.error import ExportError, ExportErrorType

_CHECKS = (
    torch.ops.aten._assert_scalar.default,
    torch.ops.aten.sym_constrain_range.default,
    torch.ops.aten.sym_constrain_range_for_size.default,
)
NNCF = ExternalPackage("NNCF", "nncf", ">=3.1,<4", "openvino-nncf")


def nncf() -> ModuleType:
    """The module. What is missing, and versions that do not work together, are an ExportError that names the extra."""
    NNCF.require()
    OPENVINO.require()
    try:
        import nncf as module
        import nncf.experimental.torch.fx
    except (ImportError, AttributeError) as error:
        raise MissingCompiler(
            ExportErrorType.MISSING_PROPERTY,
            f"NNCF {NNCF.version()} does not work with OpenVINO {OPENVINO.version()} ({error}): NNCF 3.4 and later "
            "need OpenVINO 2026; pip install --upgrade 'openvino>=2026,<2027' 'nncf>=3.4,<4'",
        ) from error
    return module


def nncf_graph(model: GraphModule) -> Any:
    """NNCF asks everything that a graph gets for its sizes; the bodies of branches and loops have none meanwhile."""
    bodies = [each for each in model.children() if isinstance(each, GraphModule)]
    try:
        for body in bodies:
            body.shape = torch.Size(())
        return _nncf_graph(model)
    finally:
        for body in bodies:
            del body.shape


def _nncf_graph(model: GraphModule) -> Any:
    """Of calls that give several tensors NNCF reads the sizes of those that it knows by name, and ends in a TypeError
    where it needs some of others: they have the sizes of their first result meanwhile."""
    from nncf.experimental.torch.fx.nncf_graph_builder import GraphConverter

    found = GraphConverter.create_nncf_graph(model)
    unread = {
        node: value
        for node in model.graph.nodes
        if node.users
        and isinstance(value := node.meta.get("val"), tuple | list)
        and value
        and GraphConverter.get_edge_params(
            model, node, found.get_node_by_name(node.name), next(iter(node.users)), 0
        )[1]
        is None
    }
    if not unread:
        return found
    try:
        for node, value in unread.items():
            node.meta["val"] = value[0]
        return GraphConverter.create_nncf_graph(model)
    finally:
        for node, value in unread.items():
            node.meta["val"] = value


def fold_constants(model: GraphModule) -> None:
    """NNCF drops whatever has no user, what torch._check says of sizes among it: that is a result meanwhile."""
    from nncf.experimental.torch.fx.transformations import fold_constant_except_qdq

    output = model.graph.output_node()
    results = output.args
    checks = [node for node in model.graph.nodes if node.target in _CHECKS]
    output.args = (*results, checks)
    fold_constant_except_qdq(model)
    output.args = results
    model.recompile()


def prepare(algorithm: Any, model: GraphModule) -> None:
    """Tells an algorithm that the model is a graph of torch.fx."""
    setter = getattr(algorithm, "set_backend_entity", None) or algorithm._set_backend_entity
    setter(model)


def operands(node: Node) -> list[Node]:
    """By NNCF's numbers of ports: calls and data in the order of the arguments, those in lists among them; a number is
    no operand."""
    found: list[Node] = []
    map_arg(node.args, found.append)
    return found


def weight_of(node: Node, graph: Any) -> tuple[Node, int] | None:
    """The weight that NNCF quantizes of a call, and the dimension of its channels. None for what is no matrix: NNCF
    counts the factors of norms among the weights, and means another of their arguments."""
    from nncf.torch.model_graph_manager import get_weight_channel_axes, get_weight_tensor_port_ids

    known = graph.get_node_by_name(node.name)
    ports = get_weight_tensor_port_ids(known, graph)
    weight = operands(node)[ports[0]] if ports else None
    if weight is None or weight.meta["val"].dim() < 2:
        return None
    return weight, get_weight_channel_axes(known.metatype, weight.meta["val"].dim(), ports[0])[0]


@contextmanager
def reasons(step: str) -> Iterator[None]:
    """NNCF's own exceptions say what is wrong; others are its faults, and become an ExportError."""
    try:
        yield
    except Exception as error:
        if isinstance(error, ExportError) or type(error).__module__.partition(".")[0] == "nncf":
            raise
        raise unsupported(
            f"NNCF {NNCF.version()} ended in {type(error).__name__} ({error}) when it was asked {step}: leave out the "
            "calls that it does not know with OpenVINOQuantizer.set_ignored_scope(), or do not quantize this model"
        ) from error


def unsupported(message: str) -> ExportError:
    return ExportError(ExportErrorType.INVALID_INPUT_TYPE, message)
