# SPDX-License-Identifier: BSD-3-Clause
"""The four networks of the MLPerf Tiny benchmark, untrained."""

from executorch.examples.models.mlperf_tiny.deep_autoencoder import (
    DeepAutoEncoder,
    DeepAutoEncoderModel,
)
from executorch.examples.models.mlperf_tiny.ds_cnn import DSCNNKWS, DSCNNKWSModel
from executorch.examples.models.mlperf_tiny.mobilenet_v1_025 import (
    MobileNetV1025,
    MobileNetV1025Model,
)
from executorch.examples.models.mlperf_tiny.resnet8 import ResNet8, ResNet8Model

__all__ = [
    "DSCNNKWS",
    "DSCNNKWSModel",
    "DeepAutoEncoder",
    "DeepAutoEncoderModel",
    "MobileNetV1025",
    "MobileNetV1025Model",
    "ResNet8",
    "ResNet8Model",
]
