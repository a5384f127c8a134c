# SPDX-License-Identifier: BSD-3-Clause
"""Operators on images in rows of pixels become aten's between permutes.

before: channels_last.avg_pool2d(%x, ...)
after:  permute_copy(avg_pool2d(permute_copy(%x, [0, 3, 1, 2]), ...), [0, 2, 3, 1])
"""

from __future__ import annotations

from typing import Any

import torch

from executorch.backends.transforms.channels_last_ops import IMAGE_OPS, TO_NCHW, TO_NHWC
from executorch.exir.dialects.edge._ops import EdgeOpOverload, edge_op_of
from executorch.exir.graph_facts import torch_op
from executorch.exir.pass_base import ExportPass, NodeMetadata, ProxyValue

_library = torch.ops.channels_last
_PERMUTE = torch.ops.aten.permute_copy.default
_ATEN = {
    **{getattr(_library, op.name).default: op.aten for op in IMAGE_OPS},
    _library.permute_copy.default: _PERMUTE,
}


class DecomposeChannelsLastPass(ExportPass):
    """In the dialect of each call."""

    def call_operator(self, op: Any, args: Any, kwargs: Any, meta: NodeMetadata) -> ProxyValue:
        aten = _ATEN.get(torch_op(op))
        if aten is None:
            return super().call_operator(op, args, kwargs, meta)

        def run(operator: Any, *given: Any) -> ProxyValue:
            target = edge_op_of(operator) if isinstance(op, EdgeOpOverload) else operator
            return ExportPass.call_operator(self, target, given, {}, meta)

        given = _in_order(op, args, kwargs)
        if aten is _PERMUTE:
            return run(_PERMUTE, *given)
        result = run(aten, run(_PERMUTE, given[0], TO_NCHW), *given[1:])
        if isinstance(result.data, torch.Tensor):
            return run(_PERMUTE, result, TO_NHWC)
        parts = [self.call_getitem(result, place, meta) for place in range(len(result.data))]
        return [run(_PERMUTE, part, TO_NHWC) for part in parts]

    def call_getitem(self, value: Any, key: int, meta: NodeMetadata) -> ProxyValue:
        """Results of a call that was taken apart are there one by one."""
        return value[key] if isinstance(value, list) else super().call_getitem(value, key, meta)


def _in_order(op: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> list[Any]:
    """All arguments by position: aten's may have other names."""
    names = [argument.name for argument in torch_op(op)._schema.arguments]
    return [*args, *(kwargs[name] for name in names[len(args) :])]
