# SPDX-License-Identifier: BSD-3-Clause
"""Programs whose sums are computed on another device, lowered by the package that runs this: upstream's or ours.

usage: python device_plans.py FOLDER     (writes FOLDER/<name>.pte for each row of PROGRAMS)
This file imports public names only, and none that upstream lacks.
"""

import sys
from pathlib import Path

import torch
from torch.export import Dim, export

from executorch.exir import ExecutorchBackendConfig, to_edge
from executorch.exir.backend.backend_details import BackendDetails, PreprocessResult
from executorch.exir.backend.compile_spec_schema import CompileSpec
from executorch.exir.backend.partitioner import DelegationSpec, Partitioner, PartitionResult
from executorch.exir.passes.propagate_device_config import PropagateDeviceConfig


class SumsOnDevice(BackendDetails):
    @staticmethod
    def preprocess(edge_program, compile_specs):
        return PreprocessResult(b"sum")


class Sums(Partitioner):
    """Each sum by itself; `target_device` of the first is cuda:0."""

    def partition(self, exported_program):
        specs = [CompileSpec("target_device", b"cuda:0")]
        tags = {}
        for node in exported_program.graph.nodes:
            if node.op == "call_function" and "add" in node.name:
                node.meta["delegation_tag"] = node.name
                tags[node.name] = DelegationSpec("SumsOnDevice", specs)
        return PartitionResult(exported_program, tags)


class OneSum(torch.nn.Module):
    def forward(self, x, y):
        return x + y


class SumAndSine(torch.nn.Module):
    """What a delegate gives is read by another delegate and by the processor."""

    def forward(self, x, y):
        a = x + y
        b = a + x
        return b.sin(), b


class Between(torch.nn.Module):
    """Values go to the device, back, and there again."""

    def forward(self, x, y):
        return ((x + y).cos() + y).sin()


class Chain(torch.nn.Module):
    """Copies out and back between delegates are left out."""

    def forward(self, x, y):
        return ((x + y) + y) + x


class TwiceRead(torch.nn.Module):
    """What the processor made goes to the device once for each delegate that reads it."""

    def forward(self, x, y):
        a = x * y
        return a + x, a + y


X, Y = torch.ones(3, 4), torch.full((3, 4), 2.0)
ROWS = Dim("rows", min=1, max=8)
# name -> module, sizes that change, what stays on the device at the method's borders
PROGRAMS = {
    "one_sum": (OneSum(), None, {}),
    "sum_and_sine": (SumAndSine(), None, {}),
    "between": (Between(), None, {}),
    "chain": (Chain(), None, {}),
    "twice_read": (TwiceRead(), None, {}),
    "rows_that_change": (OneSum(), {"x": {0: ROWS}, "y": {0: ROWS}}, {}),
    "inputs_on_device": (OneSum(), None, {"skip_h2d_for_method_inputs": True}),
    "outputs_on_device": (OneSum(), None, {"skip_d2h_for_method_outputs": True}),
}


def main() -> None:
    for name, (module, shapes, borders) in PROGRAMS.items():
        edge = to_edge(export(module, (X, Y), dynamic_shapes=shapes)).to_backend(Sums())
        config = ExecutorchBackendConfig(propagate_device_config=PropagateDeviceConfig(**borders))
        Path(sys.argv[1], f"{name}.pte").write_bytes(edge.to_executorch(config).buffer)


if __name__ == "__main__":
    main()
