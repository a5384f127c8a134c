# SPDX-License-Identifier: BSD-3-Clause
"""InceptionV3, as torchvision has it."""

from executorch.examples.models.from_torchvision import TorchVisionModel


class InceptionV3Model(TorchVisionModel):
    function = "inception_v3"
