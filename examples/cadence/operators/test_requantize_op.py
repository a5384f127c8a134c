# SPDX-License-Identifier: BSD-3-Clause
"""Stored values of one scale and dtype become those of another, for all pairs of four dtypes.

python3 -m examples.cadence.operators.test_requantize_op
"""

from __future__ import annotations

import unittest
from itertools import product

import torch
from torch import Tensor, nn

import executorch.backends.cadence.aot.ops_registrations  # noqa: F401  defines the operator
from executorch.backends.cadence.aot import compiler
from executorch.backends.cadence.runtime import runtime

DTYPES = (torch.int8, torch.uint8, torch.int16, torch.uint16)


class Requantize(nn.Module):
    def __init__(self, out_dtype: torch.dtype) -> None:
        super().__init__()
        self.out_dtype = out_dtype
        numbers = {"in_scale": 0.01, "out_scale": 0.02, "in_point": 0, "out_point": 1}
        for name, value in numbers.items():
            dtype = torch.float32 if isinstance(value, float) else torch.int32
            self.register_buffer(name, torch.tensor([value], dtype=dtype))

    def forward(self, x: Tensor) -> Tensor:
        return torch.ops.cadence.requantize(
            x, self.in_scale, self.in_point, self.out_scale, self.out_point, self.out_dtype
        )


class RequantizeTest(unittest.TestCase):
    def test_all_pairs(self) -> None:
        for source, result in product(DTYPES, DTYPES):
            with self.subTest(source=source, result=result):
                self._run(source, result)

    def _run(self, source: torch.dtype, result: torch.dtype) -> None:
        info = torch.iinfo(source)
        x = torch.randint(max(info.min, -100), min(info.max, 100), (5, 2)).to(source)
        model = Requantize(result)
        program = compiler.export_to_executorch_gen_etrecord(model, (x,))
        runtime.run_and_compare(program, (x,), model(x), eps_error=1.0)


if __name__ == "__main__":
    unittest.main()
