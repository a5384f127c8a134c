# SPDX-License-Identifier: BSD-3-Clause
"""Which operators the kernel libraries of this package serve: their op tables (kernels/*/*.yaml), read once.

Other namespaces than torch's own belong to users and backends, who register kernels of their own."""

from __future__ import annotations

import functools
from pathlib import Path

import torch
import yaml

_KERNELS = Path(__file__).resolve().parents[2] / "kernels"
_TABLES = ("portable/functions.yaml", "quantized/quantized.yaml")

# Every kernel of these stands in the tables; other libraries register operators in namespaces of their own.
OWN_NAMESPACES = frozenset({"aten", "dim_order_ops", "et_copy", "prims", "quantized_decomposed"})

# Dtypes that kernels compute with. What else a file can hold (uint16, float8, ...) is only moved, by these.
COMPUTED_DTYPES = frozenset(
    {
        torch.bool, torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64,
        torch.float16, torch.bfloat16, torch.float32, torch.float64,
        torch.complex64, torch.complex128,
    }
)  # fmt: skip
_MOVING = frozenset(
    """alias_copy as_strided_copy cat clone _clone_dim_order detach_copy diagonal_copy embedding empty
    _empty_dim_order expand_copy flip index index_put index_select narrow_copy permute_copy repeat repeat_interleave
    roll select_copy slice_copy slice_scatter split_copy split_with_sizes_copy squeeze_copy stack t_copy
    transpose_copy unbind_copy unfold_copy unsqueeze_copy view_copy""".split()
)
# Operators whose kernels refuse the complex numbers that eager takes.
REAL_ONLY = frozenset(
    """_adaptive_avg_pool2d _pdist_forward _upsample_bilinear2d_aa adaptive_avg_pool1d amax amin any col2im cumsum
    embedding_dense_backward isinf isnan logical_and logical_or logical_xor native_layer_norm_backward nonzero pow
    randn scaled_dot_product_attention scatter_reduce var var_mean""".split()
)


def has_kernel_for(op: torch._ops.OpOverload, dtype: torch.dtype) -> bool:
    """Whether a kernel that serves `op` takes operands or gives results of that dtype, where torch does."""
    name = op._schema.name.partition("::")[2]
    if dtype.is_complex and name in REAL_ONLY:
        return False
    return dtype in COMPUTED_DTYPES or name in _MOVING


@functools.cache
def served_operators() -> frozenset[str]:
    """Names as programs spell them: `aten::add.out`."""
    return frozenset(_name(row) for table in _TABLES for row in _rows(_KERNELS / table))


def _rows(path: Path) -> list[dict[str, str]]:
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    with path.open() as file:
        return yaml.load(file, loader)


def _name(row: dict[str, str]) -> str:
    return f"aten::{row['op']}" if "op" in row else row["func"].partition("(")[0]
