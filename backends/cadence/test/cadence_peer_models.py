# SPDX-License-Identifier: BSD-3-Clause
"""Runs in ExecuTorch 1.4.1's environment, by peer.lower_each: a captured model by its ahead-of-time part. Its compiler
imports typing.override, which Python has from 3.12 on."""

from __future__ import annotations

import typing
from pathlib import Path

import torch
import typing_extensions


def lower(path: Path) -> bytes:
    typing.override = typing_extensions.override
    import executorch.backends.cadence.aot.ops_registrations  # noqa: F401
    from executorch.backends.cadence.aot import compiler
    from executorch.backends.cadence.aot.quantizer.quantizer import CadenceDefaultQuantizer

    program = torch.export.load(path)
    inputs = tuple(program.example_inputs[0])
    quantizer = CadenceDefaultQuantizer()
    model = program.module()
    model.eval = model.train = lambda *mode: model  # it is in evaluation, and refuses to be told so
    prepared = compiler.prepare_pt2(model, inputs, quantizer)
    prepared(*inputs)
    converted = torch.export.export(compiler.convert_pt2(prepared), inputs, strict=True)
    fused = compiler.apply_pre_edge_transform_passes(converted, quantizer)
    return compiler._lower_ep_to_cadence_gen_etrecord(fused).buffer
