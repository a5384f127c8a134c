# SPDX-License-Identifier: BSD-3-Clause
"""MobileNetV3, small, as torchvision has it."""

from executorch.examples.models.from_torchvision import TorchVisionModel


class MV3Model(TorchVisionModel):
    function = "mobilenet_v3_small"
