# SPDX-License-Identifier: BSD-3-Clause
"""Kernel keys and the kernels of operators, on torchgen's classes: for scripts that read op tables themselves.

What builds kernel libraries reads them with op_table.py, which needs no torch.
"""

from __future__ import annotations

import itertools
from collections import defaultdict, namedtuple
from dataclasses import dataclass
from enum import IntEnum

from torchgen.model import (
    BackendIndex,
    BackendMetadata,
    DispatchKey,
    NativeFunction,
    NativeFunctionsGroup,
    OperatorName,
)

from .op_table import SCALAR_TYPES

KERNEL_KEY_VERSION = 1
ScalarType = IntEnum(
    "ScalarType",
    {n: SCALAR_TYPES[n] for n in "Byte Char Short Int Long Float Double Bool".split()},
)
ETParsedYaml = namedtuple("ETParsedYaml", ["native_functions", "kernel_index"])


@dataclass(frozen=True)
class ETKernelKeyOpArgMeta:
    """One tensor of a key: dtype and dim order."""

    arg_name: str
    dtype: str
    dim_order: tuple[int, ...]

    def to_native_string(self) -> str:
        """`7;0,1`: the dtype's number, the dim order."""
        return f"{ScalarType[self.dtype].value};{','.join(map(str, self.dim_order))}"


@dataclass(frozen=True)
class ETKernelKey:
    """The tensors that a kernel is for; `default` is one for all others."""

    arg_meta: tuple[ETKernelKeyOpArgMeta, ...] = ()
    default: bool = False
    version: int = KERNEL_KEY_VERSION

    @staticmethod
    def gen_from_yaml(
        args: dict[str, tuple[str, str]],
        type_alias_map: dict[str, list[str]],
        dim_order_alias_map: dict[str, list[int]],
    ) -> list[ETKernelKey]:
        """One key for each combination of dtypes; arguments of one alias have one dtype."""
        for types, order in args.values():
            assert types in type_alias_map, f"Undefined type alias: {types}"
            assert order in dim_order_alias_map, f"Undefined dim_order alias: {order}"
        used = list(dict.fromkeys(types for types, _ in args.values()))
        keys = []
        for choice in itertools.product(*(type_alias_map[types] for types in used)):
            dtype_of = dict(zip(used, choice, strict=True))
            keys.append(
                ETKernelKey(
                    tuple(
                        ETKernelKeyOpArgMeta(
                            name, dtype_of[types], tuple(map(int, dim_order_alias_map[order]))
                        )
                        for name, (types, order) in args.items()
                    )
                )
            )
        return keys

    def to_native_string(self) -> str:
        """`default`, or `v1/6;0,1|7;0,1`: version, then one part per tensor."""
        if self.default:
            return "default"
        return f"v{self.version}/" + "|".join(meta.to_native_string() for meta in self.arg_meta)


_Kernels = dict[OperatorName, dict[ETKernelKey, BackendMetadata]]


@dataclass(frozen=True)
class ETKernelIndex:
    """The kernels of operators by key."""

    index: _Kernels

    def has_kernels(self, g: NativeFunction | NativeFunctionsGroup) -> bool:
        return bool(self.get_kernels(g))

    def get_kernels(
        self, g: NativeFunction | NativeFunctionsGroup
    ) -> dict[ETKernelKey, BackendMetadata]:
        function = g.functional if isinstance(g, NativeFunctionsGroup) else g
        return self.index.get(function.func.name, {})

    @staticmethod
    def grow_from_backend_indices(
        kernel_index: _Kernels,
        backend_indices: dict[DispatchKey, dict[OperatorName, BackendMetadata]],
    ) -> None:
        """Adds torchgen's kernels as default ones, in place."""
        for kernels in backend_indices.values():
            for name, metadata in kernels.items():
                kernel_index.setdefault(name, {})[ETKernelKey(default=True)] = metadata

    @staticmethod
    def from_backend_indices(
        backend_indices: dict[DispatchKey, dict[OperatorName, BackendMetadata]],
    ) -> ETKernelIndex:
        index: _Kernels = defaultdict(dict)
        ETKernelIndex.grow_from_backend_indices(index, backend_indices)
        return ETKernelIndex(index)

    def grow(
        self, backend_indices: dict[DispatchKey, dict[OperatorName, BackendMetadata]]
    ) -> ETKernelIndex:
        ETKernelIndex.grow_from_backend_indices(self.index, backend_indices)
        return self

    def _to_backend_index(self) -> BackendIndex:
        """The default kernels, as torchgen holds them."""
        default = ETKernelKey(default=True)
        return BackendIndex(
            dispatch_key=DispatchKey.CPU,
            use_out_as_primary=False,
            external=False,
            device_guard=False,
            index={name: kernels[default] for name, kernels in self.index.items()},
        )

    @staticmethod
    def merge_indices(index_a: ETKernelIndex, index_b: ETKernelIndex) -> ETKernelIndex:
        """Both; where they have the same operator and key, that of `index_b`."""
        merged: _Kernels = defaultdict(dict)
        for index in (index_a, index_b):
            for name, kernels in index.index.items():
                merged[name].update(kernels)
        return ETKernelIndex(merged)
