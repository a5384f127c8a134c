# SPDX-License-Identifier: BSD-3-Clause
"""ViT-B/16, as torchvision has it."""

from executorch.examples.models.torchvision_vit.model import TorchVisionViTModel

__all__ = ["TorchVisionViTModel"]
