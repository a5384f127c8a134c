# SPDX-License-Identifier: BSD-3-Clause
"""DeepLabV3 with ResNets, as torchvision has it."""

from executorch.examples.models.from_torchvision import TorchVisionModel


class DeepLabV3ResNet50Model(TorchVisionModel):
    function = "segmentation.deeplabv3_resnet50"
    result = "out"


class DeepLabV3ResNet101Model(TorchVisionModel):
    function = "segmentation.deeplabv3_resnet101"
    result = "out"
