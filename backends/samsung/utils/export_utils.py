# SPDX-License-Identifier: BSD-3-Clause
"""Models of PyTorch to quantized models, and to programs for the NPU, in one call."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import torch
from torch.export import export
from torch.fx import GraphModule
from torchao.quantization.pt2e.quantize_pt2e import convert_pt2e, prepare_pt2e, prepare_qat_pt2e

from executorch.backends.samsung.partition.enn_partitioner import EnnPartitioner
from executorch.backends.samsung.quantizer import EnnQuantizer, Precision
from executorch.exir import EdgeCompileConfig, EdgeProgramManager, to_edge_transform_and_lower
from executorch.exir.backend.compile_spec_schema import CompileSpec

_aten = torch.ops.aten
_EXCEPTIONS = (
    _aten.max_pool2d.default,
    _aten.linear.default,
    _aten.hardswish.default,
    _aten.prelu.default,
    _aten.pixel_shuffle.default,
    _aten._safe_softmax.default,
    _aten.layer_norm.default,
    _aten.matmul.default,
    _aten.hardsigmoid.default,
)


def get_edge_compile_config() -> EdgeCompileConfig:
    return EdgeCompileConfig(_skip_dim_order=True, _core_aten_ops_exception_list=list(_EXCEPTIONS))


def get_enn_pass_list() -> list[Any]:
    """None: rows of a table write graphs here (aot/ops.py)."""
    return []


def quantize_module(
    module: torch.nn.Module,
    inputs: tuple[Any, ...],
    calibration_dataset: Iterable[tuple[Any, ...]],
    precision: Precision | str,
    is_per_channel: bool = True,
    is_qat: bool = False,
) -> GraphModule:
    """Prepares, runs each tuple of inputs, converts."""
    quantizer = EnnQuantizer()
    quantizer.setup_quant_params(precision, is_per_channel, is_qat)
    prepare = prepare_qat_pt2e if is_qat else prepare_pt2e
    prepared = prepare(export(module, inputs, strict=True).module(), quantizer)
    with torch.no_grad():
        for sample in calibration_dataset:
            prepared(*sample)
    return convert_pt2e(prepared, fold_quantize=False)


def to_edge_transform_and_lower_to_enn(
    module: torch.nn.Module,
    inputs: tuple[Any, ...],
    custom_pass_config: Sequence[Any] | None = None,
    compile_specs: Sequence[CompileSpec] | None = None,
) -> EdgeProgramManager:
    """`custom_pass_config`: passes of the edge program before it is partitioned. AssertionError without specs."""
    if compile_specs is None:
        raise AssertionError(
            "compile_specs are needed: gen_samsung_backend_compile_spec() makes one"
        )
    return to_edge_transform_and_lower(
        export(module, inputs, strict=True),
        transform_passes=list(custom_pass_config or ()),
        partitioner=[EnnPartitioner(compile_specs)],
        compile_config=get_edge_compile_config(),
    )
