# SPDX-License-Identifier: BSD-3-Clause
"""Which operators the kernel libraries of this package serve: their op tables (kernels/*/*.yaml), read once.

Other namespaces than torch's own belong to users and backends, who register kernels of their own."""

from __future__ import annotations

import functools

import torch

from executorch.exir.operator.facts import Facts, facts_by_name, operator_facts

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


def has_kernel_for(op: torch._ops.OpOverload, dtype: torch.dtype) -> bool:
    """Whether a kernel that serves `op` takes operands or gives results of that dtype, where torch does."""
    name = op._schema.name.partition("::")[2]
    facts = facts_by_name().get(name, Facts())
    if dtype.is_complex and facts.complex is False:
        return False
    return dtype in COMPUTED_DTYPES or facts.is_data_movement


@functools.cache
def served_operators() -> frozenset[str]:
    """Names as programs spell them: `aten::add.out`."""
    return frozenset(operator_facts())
