# SPDX-License-Identifier: BSD-3-Clause
"""Operators that take items or folded neighbours along. Of max.dim, which has no row in the table, no call is taken."""

from executorch.backends.xnnpack.partition.config.xnnpack_config import (
    XNNPartitionerConfig,
    config_of,
)

BatchNormConfig = config_of(
    "BatchNormConfig", "aten._native_batch_norm_legit_no_training.default", XNNPartitionerConfig
)
MaxDimConfig = config_of("MaxDimConfig", "aten.max.dim", XNNPartitionerConfig)
PreluConfig = config_of("PreluConfig", "aten.prelu.default", XNNPartitionerConfig)
