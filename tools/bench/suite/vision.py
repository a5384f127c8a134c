# SPDX-License-Identifier: BSD-3-Clause
"""Networks that see: sizes and widths are their configurations' own, transformers have their first layers only."""

from __future__ import annotations

from typing import Any

from executorch.tools.architectures.row import Input, floats
from executorch.tools.bench.suite import groups, images, volumes
from executorch.tools.bench.suite.network import Network, hub, own

FIRST = {"num_hidden_layers": 4}
TINY = {**FIRST, "hidden_size": 192, "num_attention_heads": 3, "intermediate_size": 768}


def pixels(size: int) -> dict[str, Input]:
    return {"pixel_values": floats(1, 3, size, size)}


def hub_image(name: str, family: str, stem: str, size: int = 224, **more: Any) -> Network:
    return hub(name, family, stem, pixels(size), **more)


ROWS = [
    hub_image(
        "resnet18",
        "convnet",
        "ResNet",
        is_uncut=True,
        layer_type="basic",
        depths=[2, 2, 2, 2],
        hidden_sizes=[64, 128, 256, 512],
    ),
    hub_image("resnet50", "convnet", "ResNet"),
    hub_image("regnet", "convnet", "RegNet", depths=[2, 4, 8, 2]),
    hub_image("bit", "convnet", "Bit", depths=[2, 2, 2, 2]),
    hub_image("convnext", "convnet", "ConvNext"),
    hub_image("convnextv2", "convnet", "ConvNextV2"),
    hub_image("mobilenet_v1", "mobile convnet", "MobileNetV1"),
    hub_image("mobilenet_v2", "mobile convnet", "MobileNetV2"),
    hub_image(
        "efficientnet_b0",
        "mobile convnet",
        "EfficientNet",
        width_coefficient=1.0,
        depth_coefficient=1.0,
        hidden_dim=1280,
    ),
    hub_image("mobilevit", "hybrid", "MobileViT", 256),
    hub_image("mobilevitv2", "hybrid", "MobileViTV2", 256),
    hub_image("levit", "hybrid", "Levit"),
    hub_image("cvt", "hybrid", "Cvt", depth=[1, 2, 3]),
    hub_image("poolformer", "hybrid", "PoolFormer"),
    hub_image("focalnet", "hybrid", "FocalNet"),
    hub_image("vit", "vision transformer", "ViT", **TINY),
    hub_image("deit_base", "vision transformer", "DeiT", **FIRST),
    hub_image("beit", "vision transformer", "Beit", **FIRST),
    hub_image("dinov2", "vision transformer", "Dinov2", **{**TINY, "mlp_ratio": 4}),
    hub_image("swin", "vision transformer", "Swin"),
    hub_image("swinv2", "vision transformer", "Swinv2", 256, image_size=256, window_size=8),
    hub_image("pvt", "vision transformer", "Pvt"),
    hub_image("pvtv2", "vision transformer", "PvtV2"),
    hub_image("hiera", "vision transformer", "Hiera", depths=[1, 2, 3, 2]),
    hub_image("yolos", "detector", "Yolos", **TINY, image_size=[224, 224]),
    hub_image("segformer", "segmenter", "Segformer", 256, model="ForSemanticSegmentation"),
    hub_image("glpn", "depth", "GLPN", 256, model="ForDepthEstimation"),
    own("keypoints", "keypoints", images.Hourglass, (1, 3, 256, 256), cut="one hourglass"),
    hub_image(
        "swin2sr",
        "super-resolution",
        "Swin2SR",
        64,
        model="ForImageSuperResolution",
        image_size=64,
        embed_dim=60,
        depths=[2, 2],
        num_heads=[6, 6],
    ),
    own("vgg11", "convnet", images.Vgg, (1, 3, 224, 224), cut="no wide classifier"),
    own(
        "densenet", "convnet", images.DenseNet, (1, 3, 224, 224), cut="blocks of 3, 6, 6, 4 layers"
    ),
    own("squeezenet", "mobile convnet", images.SqueezeNet, (1, 3, 224, 224)),
    own("shufflenet", "mobile convnet", images.ShuffleNet, (1, 3, 224, 224)),
    own("mobilenet_v3", "mobile convnet", images.MobileNetV3, (1, 3, 224, 224)),
    own("mlp_mixer", "hybrid", images.Mixer, (1, 3, 224, 224), cut="4 layers of 8"),
    own("ssd", "detector", images.Detector, (1, 3, 320, 320), cut="three scales"),
    own("deeplab", "segmenter", images.Atrous, (1, 3, 256, 256), cut="small trunk"),
    own("unet", "segmenter", images.Unet, (1, 3, 256, 256), cut="half width"),
    own(
        "unet_diffusion",
        "diffusion",
        images.DiffusionUnet,
        (1, 4, 32, 32),
        (1, 128),
        cut="two levels of four",
    ),
    own("espcn", "super-resolution", images.SubPixel, (1, 1, 240, 240)),
    own("edsr", "super-resolution", images.Residual, (1, 3, 96, 96), cut="6 blocks of 16"),
    own("dcgan", "generator", images.Generator, (1, 100, 1, 1)),
    own("video_r3d", "video", volumes.Volume, (1, 3, 8, 112, 112), cut="8 frames of 16"),
    own("x3d", "video", volumes.Expanded, (1, 3, 8, 112, 112), cut="8 frames of 13"),
    own("scan_unet", "volume", volumes.Scan, (1, 1, 16, 48, 48), cut="two levels, half width"),
    own("stereo", "volume", volumes.Stereo, (1, 3, 96, 192), (1, 3, 96, 192), cut="small"),
    own("convlstm", "video", images.ConvLstm, (1, 6, 1, 64, 64), cut="one cell of three"),
    own("nasnet", "mobile convnet", images.NasNet, (1, 3, 224, 224), cut="three cells of twelve"),
    own("cross_stage", "detector", images.CrossStage, (1, 3, 320, 320), cut="trunk"),
    own("resnext", "convnet", groups.ResNeXt, (1, 3, 224, 224), cut="two blocks a stage"),
    own(
        "selective_kernels",
        "convnet",
        groups.selective_kernels,
        (1, 3, 224, 224),
        cut="two blocks a stage",
    ),
    own(
        "large_kernels",
        "hybrid",
        groups.LargeKernels,
        (1, 3, 256, 256),
        cut="stages of 2, 2, 4, 2 blocks",
    ),
    hub_image(
        "siglip",
        "vision transformer",
        "SiglipVision",
        **FIRST,
        hidden_size=384,
        num_attention_heads=6,
        intermediate_size=1536,
    ),
]
