# SPDX-License-Identifier: BSD-3-Clause
"""Operators with weights."""

from executorch.backends.xnnpack.partition.config.xnnpack_config import GEMMConfig, config_of

AddmmConfig = config_of("AddmmConfig", "aten.addmm.default", GEMMConfig)
ConvolutionConfig = config_of("ConvolutionConfig", "aten.convolution.default", GEMMConfig)
LinearConfig = config_of("LinearConfig", "aten.linear.default", GEMMConfig)
MMConfig = config_of("MMConfig", "aten.mm.default", GEMMConfig)
