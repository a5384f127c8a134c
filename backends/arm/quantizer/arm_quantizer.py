# SPDX-License-Identifier: BSD-3-Clause
"""Quantizers: every call of a row of aot/ops.py is quantized, as its row says."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import torch
from torch.fx import GraphModule
from torchao.quantization.pt2e.quantize_pt2e import convert_pt2e, prepare_pt2e, prepare_qat_pt2e

from executorch.backends.arm.aot.ops import INT_TABLE, table_of
from executorch.backends.arm.common.arm_compile_spec import ArmCompileSpec
from executorch.backends.arm.ethosu.compile_spec import EthosUCompileSpec
from executorch.backends.arm.quantizer.decompositions import decompose
from executorch.backends.arm.quantizer.quantization_config import (  # noqa: F401, documented here
    QuantizationConfig,
    get_symmetric_a8w4_quantization_config,
    get_symmetric_a16w8_quantization_config,
    get_symmetric_quantization_config,
    get_uint8_io_quantization_config,
)
from executorch.backends.arm.tosa.specification import TosaSpecification
from executorch.backends.arm.vgf.compile_spec import VgfCompileSpec
from executorch.exir.backend.lowering.quantizer.captured import CapturedTable
from executorch.exir.backend.lowering.quantizer.rewrites import computed_operands_to_tensors
from executorch.exir.backend.lowering.quantizer.splits_to_slices import splits_to_slices
from executorch.exir.backend.lowering.quantizer.table_quantizer import TableQuantizer


class TOSAQuantizer(TableQuantizer):
    """Of several configurations the most particular one counts; None leaves floats."""

    table = INT_TABLE
    everywhere = True

    def __init__(
        self,
        compile_spec_or_tosa_spec: ArmCompileSpec | TosaSpecification,
        use_composable_quantizer: bool = True,
    ) -> None:
        super().__init__()
        spec = compile_spec_or_tosa_spec
        if isinstance(spec, ArmCompileSpec):
            self.compile_spec: ArmCompileSpec | None = spec
            spec._get_pass_pipeline_config()
            spec = spec.tosa_spec
        elif not isinstance(spec, TosaSpecification):
            raise TypeError(
                f"expected a compile spec of Arm or a TosaSpecification, found {type(spec).__name__}"
            )
        self.tosa_spec = spec
        if spec.support_integer():
            self.table = table_of(spec)  # type: ignore[misc]  # of each instance

    def transform_for_annotation(self, model: GraphModule) -> GraphModule:
        """Without the checks of inputs that a captured module may begin with."""
        for node in list(model.graph.nodes):
            if node.op == "call_module" and str(node.target).startswith("_guards"):
                model.graph.erase_node(node)
        self._prepare(model)
        decompose(model, CapturedTable(self.table))
        self._prepare(model)  # what it has left
        return super().transform_for_annotation(model)

    def _prepare(self, model: GraphModule) -> None:
        splits_to_slices(model)
        if not any(config.is_qat for config in self._configs()):
            computed_operands_to_tensors(model)

    def validate(self, model: GraphModule) -> None:
        """All tensors of an operator are on one device."""
        for node in model.graph.nodes:
            values = [each.meta.get("val") for each in node.all_input_nodes]
            devices = {each.device for each in values if isinstance(each, torch.Tensor)}
            if node.op == "call_function" and len(devices) > 1:
                raise ValueError(
                    f"{node.name}: expected operands on one device, found {sorted(map(str, devices))}"
                )

    def quantize_with_submodules(
        self,
        model: GraphModule,
        calibration_samples: Iterable[tuple[Any, ...]],
        is_qat: bool = False,
        fold_quantize: bool = True,
    ) -> GraphModule:
        """Prepares, runs the samples, converts."""
        if any(isinstance(each, GraphModule) for each in model.children()):
            raise NotImplementedError(
                "branches of torch.cond and loops are not quantized: quantize a model without them"
            )
        prepared = (prepare_qat_pt2e if is_qat else prepare_pt2e)(model, self)
        for sample in calibration_samples:
            prepared(*sample)
        return convert_pt2e(prepared, fold_quantize=fold_quantize)

    _quantize_with_submodules = quantize_with_submodules


class EthosUQuantizer(TOSAQuantizer):
    def __init__(
        self, compile_spec: EthosUCompileSpec, use_composable_quantizer: bool = True
    ) -> None:
        super().__init__(compile_spec, use_composable_quantizer)


class VgfQuantizer(TOSAQuantizer):
    def __init__(self, compile_spec: VgfCompileSpec, use_composable_quantizer: bool = True) -> None:
        super().__init__(compile_spec, use_composable_quantizer)
