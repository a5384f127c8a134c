# SPDX-License-Identifier: BSD-3-Clause
"""Each backend's documented quantizer, by the path that documents import, quantizes one small network, which stays
near to its float values. Those of Qualcomm, MediaTek, NXP and Samsung are not here (XQ-025 in
test/requirements/open.yaml)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import nn
from torchao.quantization.pt2e.quantize_pt2e import convert_pt2e, prepare_pt2e
from torchao.quantization.utils import compute_error


def xnnpack() -> Any:
    from executorch.backends.xnnpack.quantizer.xnnpack_quantizer import (
        XNNPACKQuantizer,
        get_symmetric_quantization_config,
    )

    return XNNPACKQuantizer().set_global(get_symmetric_quantization_config(is_per_channel=True))


def coreml() -> Any:
    from coremltools.optimize.torch.quantization import (
        LinearQuantizerConfig,
        ModuleLinearQuantizerConfig,
    )

    from executorch.backends.apple.coreml.quantizer import CoreMLQuantizer

    each = ModuleLinearQuantizerConfig(
        quantization_scheme="symmetric",
        activation_dtype=torch.quint8,
        weight_dtype=torch.qint8,
        weight_per_channel=True,
    )
    return CoreMLQuantizer(LinearQuantizerConfig(global_config=each))


def vulkan() -> Any:
    from executorch.backends.vulkan.quantizer.vulkan_quantizer import (
        VulkanQuantizer,
        get_symmetric_quantization_config,
    )

    config = get_symmetric_quantization_config(is_dynamic=False, weight_bits=8)
    return VulkanQuantizer().set_global(config)


def ethos_u() -> Any:
    from executorch.backends.arm.ethosu import EthosUCompileSpec
    from executorch.backends.arm.quantizer import (
        EthosUQuantizer,
        get_symmetric_quantization_config,
    )

    spec = EthosUCompileSpec("ethos-u55-128")
    return EthosUQuantizer(spec).set_global(get_symmetric_quantization_config())


def vgf() -> Any:
    from executorch.backends.arm.quantizer import VgfQuantizer, get_symmetric_quantization_config
    from executorch.backends.arm.vgf import VgfCompileSpec

    return VgfQuantizer(VgfCompileSpec()).set_global(get_symmetric_quantization_config())


def openvino() -> Any:
    from executorch.backends.openvino.quantizer import OpenVINOQuantizer

    return OpenVINOQuantizer()


def cadence(name: str) -> Callable[[], Any]:
    def make() -> Any:
        from executorch.backends.cadence.aot.quantizer import quantizer

        return getattr(quantizer, f"Cadence{name}Quantizer")()

    return make


CADENCE = """Default WithLayerNorm WakeWord WithSoftmax FusedConvRelu W8A32Mixed
    With16BitLinearActivations With16BitConvActivations With16BitMatmulActivations""".split()
QUANTIZERS: dict[str, Callable[[], Any]] = {
    "XNNPACKQuantizer": xnnpack,
    "CoreMLQuantizer": coreml,
    "VulkanQuantizer": vulkan,
    "EthosUQuantizer": ethos_u,
    "VgfQuantizer": vgf,
    "OpenVINOQuantizer": openvino,
    **{f"Cadence{name}Quantizer": cadence(name) for name in CADENCE},
}


class Network(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.conv, self.linear = nn.Conv2d(4, 8, 3, padding=1), nn.Linear(32, 16)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = self.linear(torch.relu(self.conv(x)).flatten(2))
        return torch.matmul(y, y.transpose(1, 2))


@pytest.mark.parametrize("name", QUANTIZERS)
def test_a_small_network_is_quantized(name: str) -> None:
    torch.manual_seed(0)
    model, x = Network().eval(), torch.randn(1, 4, 4, 8)
    prepared = prepare_pt2e(torch.export.export(model, (x,)).module(), QUANTIZERS[name]())
    prepared(x)
    quantized = convert_pt2e(prepared)
    operators = {str(node.target) for node in quantized.graph.nodes}
    assert [each for each in operators if "quantize" in each], operators
    with torch.no_grad():
        assert compute_error(model(x), quantized(x)) > 25
