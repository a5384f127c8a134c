# SPDX-License-Identifier: BSD-3-Clause
"""The tester of backends/test with Core ML's partitioner and 8-bit quantizer as defaults."""

from __future__ import annotations

from functools import partial
from typing import Any

import torch

from executorch.backends.apple.coreml.aot.library import ct
from executorch.backends.apple.coreml.compiler import CoreMLBackend
from executorch.backends.apple.coreml.partition import CoreMLPartitioner
from executorch.backends.apple.coreml.recipes.provider import eight_bits
from executorch.backends.test.harness import Tester, stages
from executorch.backends.test.harness.stages import StageType
from executorch.exir import EdgeCompileConfig
from executorch.exir.backend.partitioner import Partitioner


def _partitioner(target: ct.target) -> CoreMLPartitioner:
    specs = CoreMLBackend.generate_compile_specs(minimum_deployment_target=target)
    return CoreMLPartitioner(compile_specs=specs)


class Quantize(stages.Quantize):
    """Weights and activations have 8 bits, unless a quantizer is given."""

    def __init__(self, quantizer: Any = None, **how: Any) -> None:
        super().__init__(quantizer or eight_bits(torch.quint8), set_global=False, **how)


class Partition(stages.Partition):
    def __init__(
        self,
        partitioner: Partitioner | None = None,
        minimum_deployment_target: ct.target = ct.target.iOS15,
    ) -> None:
        super().__init__(partitioner or _partitioner(minimum_deployment_target))


class ToEdgeTransformAndLower(stages.ToEdgeTransformAndLower):
    def __init__(
        self,
        partitioners: list[Partitioner] | None = None,
        edge_compile_config: EdgeCompileConfig | None = None,
        minimum_deployment_target: ct.target = ct.target.iOS15,
    ) -> None:
        chosen = partitioners or [_partitioner(minimum_deployment_target)]
        super().__init__(None, chosen, edge_compile_config or EdgeCompileConfig())


class CoreMLTester(Tester):
    def __init__(
        self,
        module: torch.nn.Module,
        example_inputs: tuple[torch.Tensor],
        dynamic_shapes: tuple[Any] | None = None,
        minimum_deployment_target: ct.target = ct.target.iOS15,
    ) -> None:
        target = {"minimum_deployment_target": minimum_deployment_target}
        classes = self.default_stage_classes() | {
            StageType.QUANTIZE: Quantize,
            StageType.PARTITION: partial(Partition, **target),
            StageType.TO_EDGE_TRANSFORM_AND_LOWER: partial(ToEdgeTransformAndLower, **target),
        }
        super().__init__(module, example_inputs, classes, dynamic_shapes)
