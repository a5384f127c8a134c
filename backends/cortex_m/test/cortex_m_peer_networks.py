# SPDX-License-Identifier: BSD-3-Clause
"""Runs in ExecuTorch 1.4.1's environment, by peer.lower_each: a program of cortex_m operators from a captured model.
Its quantizer imports TOSA's packages."""

from __future__ import annotations

from pathlib import Path

import torch
from torchao.quantization.pt2e.quantize_pt2e import convert_pt2e, prepare_pt2e

PRESERVED = ("linear", "hardsigmoid", "hardsigmoid_", "hardswish", "hardswish_")


def lower(path: Path) -> bytes:
    from executorch.backends.cortex_m.passes import CortexMPassManager
    from executorch.backends.cortex_m.quantizer.quantizer import CortexMQuantizer
    from executorch.exir import EdgeCompileConfig, ExecutorchBackendConfig, to_edge

    program = torch.export.load(path)
    inputs = tuple(each.clone() for each in program.example_inputs[0])
    prepared = prepare_pt2e(program.module(check_guards=False), CortexMQuantizer())
    prepared(*inputs)
    config = EdgeCompileConfig(
        preserve_ops=[getattr(torch.ops.aten, name).default for name in PRESERVED],
        _check_ir_validity=False,
        _core_aten_ops_exception_list=[torch.ops.aten.max_pool2d.default],
    )
    edge = to_edge(torch.export.export(convert_pt2e(prepared), inputs), compile_config=config)
    edge._edge_programs["forward"] = CortexMPassManager(edge.exported_program()).transform()
    made = edge.to_executorch(config=ExecutorchBackendConfig(extract_delegate_segments=False))
    return made.buffer
