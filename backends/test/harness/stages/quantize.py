# SPDX-License-Identifier: BSD-3-Clause
"""Quantization: `Quantize` on the exported graph (PT2E), `Quantize_` on the module (torchao's `quantize_`)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch.export import export
from torch.fx import GraphModule

from executorch.backends.test.harness.stages.stage import Stage, StageType


class Quantize(Stage):
    """`quantizer` annotates; with `set_global` it is told `quantization_config` first. Calibrates on the
    `calibration_samples`, or on the example inputs."""

    def __init__(
        self,
        quantizer: Any = None,
        quantization_config: Any | None = None,
        calibrate: bool = True,
        calibration_samples: Sequence[Any] | None = None,
        is_qat: bool | None = False,
        set_global: bool = True,
        fold_quantize: bool = True,
    ) -> None:
        if quantizer is None:
            raise ValueError(
                "Quantize needs a quantizer; give one, or take the Quantize of a backend's tester"
            )
        self.quantizer = quantizer
        self.quantization_config = quantization_config
        self.calibrate = calibrate
        self.calibration_samples = calibration_samples
        self.is_qat = is_qat
        self.fold_quantize = fold_quantize
        if set_global and quantization_config is not None:
            self.quantizer.set_global(quantization_config)
        self.converted_graph: GraphModule | None = None

    def stage_type(self) -> StageType:
        return StageType.QUANTIZE

    def run(self, artifact: torch.nn.Module, inputs: tuple[torch.Tensor] | None) -> None:
        from torchao.quantization.pt2e.quantize_pt2e import (
            convert_pt2e,
            prepare_pt2e,
            prepare_qat_pt2e,
        )

        if self.is_qat:
            artifact.train()
        captured = export(artifact, inputs, strict=True).module()
        prepare = prepare_qat_pt2e if self.is_qat else prepare_pt2e
        prepared = prepare(captured, self.quantizer)
        if self.calibrate:
            for sample in self.calibration_samples or [inputs]:
                prepared(*sample)
        self.converted_graph = convert_pt2e(prepared, fold_quantize=self.fold_quantize)

    @property
    def artifact(self) -> GraphModule:
        return self.converted_graph

    @property
    def graph_module(self) -> GraphModule:
        return self.converted_graph

    def run_artifact(self, inputs: Any) -> Any:
        return self.converted_graph(*inputs)


class Quantize_(Stage):
    """Replaces weights of the module as `config`, one of torchao's, says."""

    def __init__(
        self, config: Any, filter_fn: Callable[[torch.nn.Module, str], bool] | None = None
    ) -> None:
        self.config = config
        self.filter_fn = filter_fn
        self.quantized_module: torch.nn.Module | None = None

    def stage_type(self) -> StageType:
        return StageType.QUANTIZE

    def run(self, artifact: torch.nn.Module, inputs: tuple[torch.Tensor] | None) -> None:
        from torchao.quantization import quantize_

        quantize_(artifact, self.config, self.filter_fn)
        self.quantized_module = artifact

    @property
    def artifact(self) -> torch.nn.Module:
        return self.quantized_module

    @property
    def graph_module(self) -> torch.nn.Module:
        return self.quantized_module

    def run_artifact(self, inputs: Any) -> Any:
        return self.quantized_module(*inputs)
