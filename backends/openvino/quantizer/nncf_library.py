# SPDX-License-Identifier: BSD-3-Clause
"""NNCF, found when it is needed, and the few of its calls that differ between its versions."""

from __future__ import annotations

from types import ModuleType
from typing import Any

from torch.fx import GraphModule, Node

from executorch.backends.openvino.aot.compiler import OPENVINO
from executorch.exir.backend.lowering.external_compiler import ExternalPackage, MissingCompiler
from executorch.exir.error import ExportError, ExportErrorType

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
            "need OpenVINO 2026; pip install 'executorch[openvino-nncf]' --upgrade",
        ) from error
    return module


def nncf_graph(model: GraphModule) -> Any:
    from nncf.experimental.torch.fx.nncf_graph_builder import GraphConverter

    return GraphConverter.create_nncf_graph(model)


def prepare(algorithm: Any, model: GraphModule) -> None:
    """Tells an algorithm that the model is a graph of torch.fx."""
    setter = getattr(algorithm, "set_backend_entity", None) or algorithm._set_backend_entity
    setter(model)


def operands(node: Node) -> list[Any]:
    """By NNCF's numbers of ports: those of a concatenation are the tensors that it joins."""
    first = node.args[0] if node.args else None
    return list(first) if isinstance(first, list | tuple) else list(node.args)


def unsupported(message: str) -> ExportError:
    return ExportError(ExportErrorType.INVALID_INPUT_TYPE, message)
