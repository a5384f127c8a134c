# SPDX-License-Identifier: BSD-3-Clause
"""Runs a registered kernel on torch tensors: outputs are made as eager PyTorch's are, then given to the kernel."""

from __future__ import annotations

import importlib
from pathlib import Path
from types import ModuleType
from typing import Any

import torch

from executorch.codegen.op_table import read_table
from executorch.codegen.schema import Argument, Schema, SchemaSource, parse_signature
from executorch.exir.operator import attention  # noqa: F401  (the out variant that torch lacks)

ROOT = Path(__file__).resolve().parents[2]
TABLES = {
    "portable": ROOT / "kernels/portable/functions.yaml",
    "optimized": ROOT / "kernels/portable/functions.yaml",
    "quantized": ROOT / "kernels/quantized/quantized.yaml",
    "torchao": ROOT / "kernels/torchao/torchao.yaml",
    "llm": ROOT / "extension/llm/custom_ops/custom_ops.yaml",
}

_DTYPES = [
    torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64, torch.float16, torch.float32,
    torch.float64, torch.complex32, torch.complex64, torch.complex128, torch.bool,
]  # fmt: skip
DTYPE_NUMBERS = {dtype: number for number, dtype in enumerate(_DTYPES)} | {torch.bfloat16: 15}


def load_library(name: str) -> ModuleType:
    """The native module with the kernels of a library; ImportError when it has not been built."""
    return importlib.import_module(f"kernels.test._{name}_kernels")


def load_schemas(library: str = "portable") -> dict[str, Schema]:
    """Schema by qualified name of all operators of a library's table."""
    table = read_table(TABLES[library], SchemaSource())
    return {row.schema.qualified_name: row.schema for row in table}


def dim_order_of(tensor: torch.Tensor) -> list[int]:
    """Dimensions from the outermost in memory to the innermost."""
    return sorted(range(tensor.dim()), key=lambda d: (-tensor.stride(d), d))


def is_dense(tensor: torch.Tensor) -> bool:
    """Whether a permutation of row-major strides describes the tensor."""
    order = tuple(dim_order_of(tensor))
    dense = torch.empty_permuted(tuple(tensor.shape), order, device="meta").stride()
    strides = zip(tensor.shape, tensor.stride(), dense, strict=True)
    return tensor.numel() <= 1 or all(size == 1 or a == b for size, a, b in strides)


class Call:
    """One kernel call with all memory it uses."""

    def __init__(self, library: ModuleType, schema: Schema, dynamic: bool = False) -> None:
        self._library = library
        self._schema = schema
        self._dynamic = dynamic
        self._views: list[tuple[torch.Tensor, Any]] = []
        self.items: list[tuple[str, Any]] = []
        self.outputs: list[torch.Tensor] = []

    def view_of(self, tensor: torch.Tensor, dynamic: bool = False) -> Any:
        """The tensor as kernels see it; it lives as long as the call."""
        order = dim_order_of(tensor)
        if not is_dense(tensor):
            raise ValueError(f"tensor with strides {tensor.stride()} is not dense")
        view = self._library.TensorView(
            tensor.data_ptr(), DTYPE_NUMBERS[tensor.dtype], list(tensor.shape), order, dynamic
        )
        self._views.append((tensor, view))
        return view

    def add_input(self, argument: Argument, value: Any) -> None:
        self.items.append(self._item(argument.type, value))

    def _item(self, kind: str, value: Any) -> tuple[str, Any]:
        if value is None:
            return ("none", None)
        base = kind.rstrip("?").replace("!", "")
        if base == "Tensor":
            return ("tensor", self.view_of(value))
        if base == "Tensor[]":
            return ("tensors", [self.view_of(v) for v in value])
        if base == "Tensor?[]":
            return ("optional_tensors", [None if v is None else self.view_of(v) for v in value])
        if base in ("int[]", "float[]", "bool[]"):
            values = list(value) if isinstance(value, (list, tuple)) else [value]
            return (base[:-2] + "s", values)
        if base == "ScalarType":
            return ("int", DTYPE_NUMBERS[value])
        if base == "MemoryFormat":
            return ("int", value)
        if base == "Scalar":
            return (type(value).__name__, value)
        return (base, value)

    def add_output(self, tensor: torch.Tensor) -> Any:
        """An output like `tensor`, filled with bytes that no test expects."""
        shape = list(tensor.shape)
        if self._dynamic:
            shape = [size + 1 for size in shape]
        order = dim_order_of(tensor)
        out = torch.empty_permuted(tuple(shape), tuple(order), dtype=tensor.dtype)
        if out.numel():
            out.untyped_storage().copy_(
                torch.full((out.nbytes,), 0x5A, dtype=torch.uint8).untyped_storage()
            )
        self.outputs.append(out)
        return self.view_of(out, dynamic=self._dynamic)

    def add_outputs(self, expected: tuple[torch.Tensor, ...]) -> None:
        written = [a for a in self._schema.arguments if a.is_out]
        if written[0].type == "Tensor![]":
            self.items.append(("tensors", [self.add_output(t) for t in expected]))
            return
        for tensor in expected:
            self.items.append(("tensor", self.add_output(tensor)))

    def run(self, has_scratch: bool = True) -> int:
        """The Error as a number. `has_scratch`: with an allocator of temporary memory."""
        return int(self._library.call(self._schema.qualified_name, self.items, has_scratch))

    def results(self) -> list[torch.Tensor]:
        """The outputs, cut to the sizes that the kernel gave them."""
        shapes = {id(t): v.sizes() for t, v in self._views}
        cut = []
        for out in self.outputs:
            shape = shapes[id(out)]
            order = dim_order_of(out)
            strides = torch.empty_permuted(tuple(shape), tuple(order), device="meta").stride()
            cut.append(out.as_strided(shape, strides))
        return cut


def functional_of(schema: Schema) -> Any:
    """The operator without outputs that has the same inputs."""
    packet = getattr(getattr(torch.ops, schema.namespace), schema.name)
    wanted = [(a.name, a.type) for a in schema.arguments if not a.is_out]
    for overload in packet.overloads():
        candidate = getattr(packet, overload)
        found = parse_signature(str(candidate._schema))
        if [(a.name, a.type) for a in found.arguments] == wanted:
            return candidate
    raise LookupError(f"no functional form of {schema.qualified_name}")
