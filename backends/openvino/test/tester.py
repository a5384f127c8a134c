# SPDX-License-Identifier: BSD-3-Clause
"""The tester of backends/test with OpenVINO's partitioner and quantizer as defaults."""

from __future__ import annotations

from typing import Any

import torch

from executorch.backends.openvino.partitioner import OpenvinoPartitioner
from executorch.backends.openvino.quantizer import OpenVINOQuantizer
from executorch.backends.test.harness import Tester, stages
from executorch.backends.test.harness.stages import StageType
from executorch.exir import EdgeCompileConfig
from executorch.exir.backend.compile_spec_schema import CompileSpec
from executorch.exir.backend.partitioner import Partitioner


def _partitioner(compile_specs: list[CompileSpec] | None) -> OpenvinoPartitioner:
    return OpenvinoPartitioner(compile_specs or [CompileSpec("device", b"CPU")])


class Quantize(stages.Quantize):
    def __init__(
        self,
        calibrate: bool = True,
        calibration_samples: Any | None = None,
        is_qat: bool | None = False,
        set_global: bool = True,
    ) -> None:
        super().__init__(
            OpenVINOQuantizer(),
            calibrate=calibrate,
            calibration_samples=calibration_samples,
            is_qat=is_qat,
            set_global=set_global,
            fold_quantize=False,
        )


class ToEdgeTransformAndLower(stages.ToEdgeTransformAndLower):
    def __init__(
        self,
        partitioners: list[Partitioner] | None = None,
        edge_compile_config: EdgeCompileConfig | None = None,
        compile_specs: list[CompileSpec] | None = None,
    ) -> None:
        partitioners = partitioners or [_partitioner(compile_specs)]
        super().__init__(None, partitioners, edge_compile_config or EdgeCompileConfig())


class Partition(stages.Partition):
    def __init__(
        self,
        partitioner: Partitioner | None = None,
        compile_specs: list[CompileSpec] | None = None,
    ) -> None:
        super().__init__(partitioner or _partitioner(compile_specs))


class OpenVINOTester(Tester):
    def __init__(
        self,
        module: torch.nn.Module,
        example_inputs: tuple[torch.Tensor],
        dynamic_shapes: tuple[Any] | None = None,
        compile_specs: list[CompileSpec] | None = None,
    ) -> None:
        classes = self.default_stage_classes() | {
            StageType.QUANTIZE: Quantize,
            StageType.PARTITION: lambda: Partition(compile_specs=compile_specs),
            StageType.TO_EDGE_TRANSFORM_AND_LOWER: lambda: ToEdgeTransformAndLower(
                compile_specs=compile_specs
            ),
        }
        super().__init__(module, example_inputs, classes, dynamic_shapes)
