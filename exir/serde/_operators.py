# SPDX-License-Identifier: BSD-3-Clause
"""Edge and backend operators in PyTorch's serializer: `#edge:aten.add.Tensor`, `#backend:...`."""

from __future__ import annotations

from typing import Any

import torch
from torch._export.serde.serialize import ExtensionHandler, register_extension

from executorch.exir.dialects.backend._ops import BackendOpOverload, backend_op_of
from executorch.exir.dialects.edge._ops import EdgeOpOverload, edge_op_of


class _EdgeOperators(ExtensionHandler):
    @classmethod
    def namespace(cls) -> str:
        return "edge"

    @classmethod
    def to_op_name(cls, op: EdgeOpOverload) -> str:
        return op._op._schema.name.replace("::", ".") + "." + op._op._overloadname

    @classmethod
    def from_op_name(cls, name: str) -> EdgeOpOverload:
        return edge_op_of(_torch_operator(name))

    @classmethod
    def op_schema(cls, op: EdgeOpOverload) -> torch.FunctionSchema:
        return op._op._schema


class _BackendOperators(_EdgeOperators):
    @classmethod
    def namespace(cls) -> str:
        return "backend"

    @classmethod
    def from_op_name(cls, name: str) -> BackendOpOverload:
        return backend_op_of(_torch_operator(name))


def _torch_operator(name: str) -> torch._ops.OpOverload:
    found: Any = torch.ops
    for part in name.split("."):
        if not hasattr(found, part):
            raise LookupError(
                f"operator {name} is not registered; import the module that defines it before loading"
            )
        found = getattr(found, part)
    return found


register_extension(EdgeOpOverload, _EdgeOperators)
register_extension(BackendOpOverload, _BackendOperators)
