# SPDX-License-Identifier: BSD-3-Clause
"""Stages whose defaults are XNNPACK's: quantizer, partitioner, edge configuration, passes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch.export import ExportedProgram

from executorch.backends.test.harness import Tester as TesterBase
from executorch.backends.test.harness import stages
from executorch.backends.test.harness.stages import (
    Export,
    Serialize,
    StageType,
    ToExecutorch,
)
from executorch.backends.xnnpack._passes import XNNPACKPassManager
from executorch.backends.xnnpack.partition.xnnpack_partitioner import XnnpackPartitioner
from executorch.backends.xnnpack.quantizer.xnnpack_quantizer import (
    XNNPACKQuantizer,
    get_symmetric_quantization_config,
)
from executorch.backends.xnnpack.utils.configs import get_xnnpack_edge_compile_config
from executorch.exir import EdgeCompileConfig
from executorch.exir.backend.partitioner import Partitioner


class Quantize(stages.Quantize):
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
        super().__init__(
            quantizer or XNNPACKQuantizer(),
            quantization_config or get_symmetric_quantization_config(),
            calibrate=calibrate,
            calibration_samples=calibration_samples,
            is_qat=is_qat,
            set_global=set_global,
            fold_quantize=fold_quantize,
        )


class RunPasses(stages.RunPasses):
    def __init__(
        self,
        pass_list: list[type] | None = None,
        pass_functions: list[Callable[[ExportedProgram], ExportedProgram]] | None = None,
    ) -> None:
        super().__init__(XNNPACKPassManager, pass_list, pass_functions)


class ToEdge(stages.ToEdge):
    def __init__(self, edge_compile_config: EdgeCompileConfig | None = None) -> None:
        super().__init__(edge_compile_config or get_xnnpack_edge_compile_config())


class ToEdgeTransformAndLower(stages.ToEdgeTransformAndLower):
    def __init__(
        self,
        partitioners: list[Partitioner] | None = None,
        edge_compile_config: EdgeCompileConfig | None = None,
    ) -> None:
        config = edge_compile_config or get_xnnpack_edge_compile_config()
        super().__init__(XnnpackPartitioner, partitioners, config)


class Partition(stages.Partition):
    def __init__(self, partitioner: Partitioner | None = None) -> None:
        super().__init__(partitioner or XnnpackPartitioner())


class Tester(TesterBase):
    def __init__(
        self,
        module: torch.nn.Module,
        example_inputs: tuple[torch.Tensor],
        dynamic_shapes: tuple[Any] | None = None,
        **kwargs: Any,
    ) -> None:
        classes = self.default_stage_classes() | {
            StageType.QUANTIZE: Quantize,
            StageType.RUN_PASSES: RunPasses,
            StageType.TO_EDGE: ToEdge,
            StageType.TO_EDGE_TRANSFORM_AND_LOWER: ToEdgeTransformAndLower,
            StageType.PARTITION: Partition,
        }
        super().__init__(module, example_inputs, classes, dynamic_shapes, **kwargs)


__all__ = [
    "Export",
    "Partition",
    "Quantize",
    "RunPasses",
    "Serialize",
    "Tester",
    "ToEdge",
    "ToEdgeTransformAndLower",
    "ToExecutorch",
]
