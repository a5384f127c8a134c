# SPDX-License-Identifier: BSD-3-Clause
"""Vision: transformers, convolutional networks and hybrids on small images."""

from __future__ import annotations

from typing import Any

from executorch.tools.architectures.row import Architecture, Input, floats

IMAGE: dict[str, Input] = {"pixel_values": floats(1, 3, 32, 32)}
IMAGES: dict[str, Input] = {"pixel_values": floats("batch", 3, 32, 32)}
LARGER: dict[str, Input] = {"pixel_values": floats(1, 3, 64, 64)}
UP_TO_4 = {"batch": (1, 4)}
VIT: dict[str, Any] = {
    "image_size": 32,
    "patch_size": 8,
    "hidden_size": 64,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "intermediate_size": 128,
}
STAGES: dict[str, Any] = {
    "hidden_sizes": [16, 32, 48, 64],
    "depths": [1, 1, 1, 1],
}
PYRAMID: dict[str, Any] = {**STAGES, "image_size": 64, "num_attention_heads": [1, 2, 3, 4]}
SHIFTED: dict[str, Any] = {
    "image_size": 32,
    "patch_size": 2,
    "embed_dim": 16,
    "depths": [1, 2],
    "num_heads": [2, 4],
    "window_size": 4,
}


def vision(
    stem: str, arguments: dict[str, Any], model: str = "Model", inputs: dict[str, Input] = IMAGE
) -> Architecture:
    return Architecture(
        stem.lower(), "vision", f"{stem}{model}", f"{stem}Config", arguments, inputs
    )


ROWS: list[Architecture] = [
    Architecture("vit", "vision", "ViTForImageClassification", "ViTConfig", VIT, IMAGES, UP_TO_4),
    Architecture("deit", "vision", "DeiTModel", "DeiTConfig", VIT, IMAGES, UP_TO_4),
    vision("Beit", VIT),
    vision("Dinov2", {**VIT, "mlp_ratio": 2}),
    vision("ViTMSN", VIT),
    vision("Yolos", {**VIT, "image_size": [32, 32], "num_detection_tokens": 8}),
    vision("Data2VecVision", VIT),
    vision("IJepa", VIT),
    vision("DPT", {**VIT, "is_hybrid": False, "backbone_out_indices": [0, 1]}),
    Architecture("siglip_vision", "vision", "SiglipVisionModel", "SiglipVisionConfig", VIT, IMAGE),
    Architecture("clip_vision", "vision", "CLIPVisionModel", "CLIPVisionConfig", VIT, IMAGE),
    vision("Swin", SHIFTED),
    vision("Swinv2", SHIFTED),
    Architecture(
        "swin2sr",
        "vision",
        "Swin2SRForImageSuperResolution",
        "Swin2SRConfig",
        {
            "image_size": 16,
            "embed_dim": 16,
            "depths": [2],
            "num_heads": [2],
            "window_size": 4,
        },
        {"pixel_values": floats(1, 3, 16, 16)},
    ),
    Architecture(
        "resnet",
        "vision",
        "ResNetForImageClassification",
        "ResNetConfig",
        {**STAGES, "embedding_size": 16, "layer_type": "basic"},
        IMAGES,
        UP_TO_4,
    ),
    Architecture(
        "convnext",
        "vision",
        "ConvNextModel",
        "ConvNextConfig",
        {**STAGES},
        LARGER,
    ),
    vision("ConvNextV2", STAGES, inputs=LARGER),
    vision("RegNet", {**STAGES, "embedding_size": 16, "groups_width": 8}),
    Architecture(
        "bit",
        "vision",
        "BitModel",
        "BitConfig",
        {**STAGES, "embedding_size": 16, "num_groups": 4},
        LARGER,
    ),
    vision("MobileNetV1", {"image_size": 32, "depth_multiplier": 0.25}),
    vision("MobileNetV2", {"image_size": 32, "depth_multiplier": 0.25}),
    vision(
        "EfficientNet",
        {"image_size": 32, "width_coefficient": 0.25, "depth_coefficient": 0.25, "hidden_dim": 320},
    ),
    vision(
        "MobileViT",
        {
            "image_size": 64,
            "hidden_sizes": [16, 24, 32],
            "neck_hidden_sizes": [8, 8, 16, 16, 24, 32, 32],
            "num_attention_heads": 2,
        },
        inputs=LARGER,
    ),
    vision("MobileViTV2", {"image_size": 64, "width_multiplier": 0.25}, inputs=LARGER),
    vision(
        "Segformer",
        {
            "hidden_sizes": [8, 16, 24, 32],
            "depths": [1, 1, 1, 1],
            "decoder_hidden_size": 32,
            "num_attention_heads": [1, 2, 2, 4],
        },
        model="ForSemanticSegmentation",
        inputs=LARGER,
    ),
    vision("PoolFormer", {**STAGES, "sequence_length": 4}, inputs=LARGER),
    vision(
        "Levit",
        {"image_size": 64, "hidden_sizes": [32, 48, 64], "depths": [1, 1, 1]},
        inputs=LARGER,
    ),
    vision("Pvt", PYRAMID, inputs=LARGER),
    vision("PvtV2", PYRAMID, inputs=LARGER),
    vision(
        "FocalNet",
        {
            "image_size": 32,
            "embed_dim": 16,
            "depths": [1, 1],
            "patch_size": 2,
            "focal_levels": [1, 1],
            "focal_windows": [3, 3],
            "hidden_sizes": [16, 32],
        },
    ),
    vision(
        "Hiera",
        {
            "image_size": [64, 64],
            "embed_dim": 16,
            "depths": [1, 1, 1, 1],
            "num_heads": [1, 2, 4, 8],
        },
        inputs=LARGER,
    ),
    vision("VitDet", {**VIT, "window_size": 2, "window_block_indices": [0]}),
    vision(
        "GLPN",
        {
            "hidden_sizes": [8, 16, 24, 32],
            "depths": [1, 1, 1, 1],
            "num_attention_heads": [1, 2, 2, 4],
            "decoder_hidden_size": 16,
        },
        model="ForDepthEstimation",
        inputs=LARGER,
    ),
]
