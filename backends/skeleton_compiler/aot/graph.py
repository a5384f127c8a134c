# SPDX-License-Identifier: BSD-3-Clause
"""A program as calls of the vendor's C API: `Graph` of the module _skeleton_compiler is the vendor's graph."""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType
from typing import Any

import torch
from torch.fx import Node

from executorch.exir._serialize._tensor_bytes import tensor_bytes
from executorch.exir.backend.lowering.layout import PLAIN, Layout
from executorch.exir.backend.lowering.op_table import Constants
from executorch.exir.backend.lowering.payload.writer import Writer
from executorch.exir.backend.lowering.quantized import is_dequantize, quantization_of
from executorch.exir.backend.lowering.steps import Step, sources_of

_DTYPES = {torch.float32: "FLOAT32", torch.int16: "INT16", torch.int32: "INT32"}


def vendor() -> ModuleType:
    """Where the backend was built."""
    from executorch.backends.skeleton_compiler import _skeleton_compiler

    return _skeleton_compiler


class GraphWriter(Writer[int, str]):
    """Ids are the vendor's; operations, the names of its operators."""

    backend, partitioner = "SkeletonCompilerBackend", "SkeletonCompilerPartitioner"
    names_outputs = True
    has_data = True  # of constants

    def __init__(self, table: Any, constants: Any, name: str = "") -> None:
        super().__init__(table, constants)
        self.graph = vendor().Graph(name)

    def call(self, kind: str, step: Step, *inputs: int) -> None:
        """An operator that gives what the step does."""
        self._add(getattr(vendor().Kind, kind), list(inputs), self.write(step.result))
        self.operations.append(kind)

    def constant(
        self, tensor: torch.Tensor, dtype: str = "", scales: torch.Tensor | None = None
    ) -> int:
        """Of INT4, one in each byte of `tensor`."""
        tensor = tensor.detach()
        sizes, numbers = list(tensor.shape), [] if scales is None else scales.flatten().tolist()
        data = None
        if self.has_data:
            data = bytes(tensor_bytes(_pairs(tensor) if dtype == "INT4" else tensor.contiguous()))
        return self._tensor("CONSTANT", dtype or _DTYPES[tensor.dtype], sizes, numbers, data)

    def make_input(self, node: Node, place: int) -> tuple[int, Layout]:
        return self._of_node("INPUT", node), PLAIN

    def make_value(self, node: Node, layout: Layout) -> int:
        return self._of_node("VALUE", node)

    def read_constant(self, node: Node, layout: Layout, rank: int) -> int:
        return self.constant_once(node, lambda: self.constant(self.constants[node]))

    def _of_node(self, role: str, node: Node) -> int:
        value = node.meta["val"]
        return self._tensor(role, _DTYPES[value.dtype], list(value.shape), _scales(node))

    def _tensor(
        self, role: str, dtype: str, sizes: list[int], scales: list[float], data: Any = None
    ) -> int:
        kinds = getattr(vendor().Role, role), getattr(vendor().Dtype, dtype)
        return self.graph.tensor(*kinds, sizes, scales, data)

    def _add(self, kind: Any, inputs: list[int], output: int) -> None:
        self.graph.op(kind, inputs, output)


class _Validator(GraphWriter):
    """Has one call checked, of any values, which a row writes as it would in a program."""

    has_data = False

    def __init__(self, constants: Constants, device: str) -> None:
        super().__init__(None, constants)
        self._device = device

    def _add(self, kind: Any, inputs: list[int], output: int) -> None:
        self.graph.validate(self._device, kind, inputs, output)


def why_refused(
    device: str, lower: Callable[..., None], call: Node | Step, constants: Constants
) -> str:
    """What the vendor has against one call; empty when it takes it."""
    step = Step(call, call) if isinstance(call, Node) else call
    validator = _Validator(constants, device)
    try:
        for place, source in enumerate(sources_of(step)):
            if source not in constants:
                validator.define(source, *validator.make_input(source, place))
        lower(validator, step)
    except vendor().Refused as refused:
        return str(refused)
    return ""


def _pairs(tensor: torch.Tensor) -> torch.Tensor:
    """Two to a byte, the first in its lower half."""
    halves = torch.nn.functional.pad(tensor.flatten(), (0, tensor.numel() % 2)) & 15
    return halves[::2] | halves[1::2] << 4


def _scales(node: Node) -> list[float]:
    """Of what is quantized: the call that does it, or else one that dequantizes it, says so."""
    qparams = quantization_of(node) or next(
        (quantization_of(user) for user in node.users if is_dequantize(user)), None
    )
    return [] if qparams is None else [qparams.scale]
