# SPDX-License-Identifier: BSD-3-Clause
"""All configurations that `XnnpackPartitioner(configs=...)` takes: one per operator, under users' names."""

from __future__ import annotations

from types import ModuleType

from executorch.backends.xnnpack.partition.config import (
    gemm_configs,
    generic_node_configs,
    node_configs,
    quant_affine_configs,
)
from executorch.backends.xnnpack.partition.config.xnnpack_config import (
    ConfigPrecisionType,
    XNNPartitionerConfig,
)


def _configs(module: ModuleType) -> dict[str, type[XNNPartitionerConfig]]:
    return {
        name: each
        for name, each in vars(module).items()
        if isinstance(each, type) and issubclass(each, XNNPartitionerConfig) and each.op
    }


_BY_NAME = {
    name: config
    for module in (generic_node_configs, gemm_configs, node_configs, quant_affine_configs)
    for name, config in _configs(module).items()
}
globals().update(_BY_NAME)

ALL_PARTITIONER_CONFIGS: list[type[XNNPartitionerConfig]] = list(_BY_NAME.values())

__all__ = ["ALL_PARTITIONER_CONFIGS", "ConfigPrecisionType", "XNNPartitionerConfig", *_BY_NAME]
