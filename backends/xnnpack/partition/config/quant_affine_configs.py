# SPDX-License-Identifier: BSD-3-Clause
"""torchao's calls. They are delegated with the operator that reads or feeds them, never for themselves."""

from executorch.backends.xnnpack.partition.config.xnnpack_config import QDQAffineConfigs, config_of

ChooseQParamsAffineConfig = config_of(
    "ChooseQParamsAffineConfig", "torchao.choose_qparams_affine.default", QDQAffineConfigs
)
DeQuantizeAffineConfig = config_of(
    "DeQuantizeAffineConfig", "torchao.dequantize_affine.default", QDQAffineConfigs
)
QuantizeAffineConfig = config_of(
    "QuantizeAffineConfig", "torchao.quantize_affine.default", QDQAffineConfigs
)
