# SPDX-License-Identifier: BSD-3-Clause
"""ViT-B/16, as torchvision has it."""

from executorch.examples.models.from_torchvision import TorchVisionModel


class TorchVisionViTModel(TorchVisionModel):
    function = "vit_b_16"
