# SPDX-License-Identifier: BSD-3-Clause
"""Networks, and how many of their calls are delegated: run as a program by the interpreter of this package or of the
released one, `python networks.py`, with the stand-in, `sdk`, on PYTHONPATH, it prints a line of JSON for each.

    PYTHONPATH=backends/nxp/test/sdk:... python backends/nxp/test/networks.py [NAME ...]"""

from __future__ import annotations

import argparse
import json
import warnings
from collections import Counter
from collections.abc import Callable
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn


class Of(nn.Module):
    """Layers, with a function of them."""

    def __init__(self, function: Callable[..., Tensor], **layers: nn.Module) -> None:
        super().__init__()
        self._function = function
        for name, layer in layers.items():
            setattr(self, name, layer)

    def forward(self, x: Tensor) -> Tensor:
        return self._function(self, x)


class CifarNet(nn.Module):
    """Of the page on NXP's backend: three convolutions of 5 by 5 with padding, pools, one linear layer, a softmax."""

    def __init__(self) -> None:
        super().__init__()
        self.conv1, self.conv2 = nn.Conv2d(8, 32, 5), nn.Conv2d(32, 32, 5)
        self.conv3, self.fc = nn.Conv2d(32, 64, 5), nn.Linear(1024, 10)

    def forward(self, x: Tensor) -> Tensor:
        x = F.relu(F.max_pool2d(self.conv1(F.pad(x, (2, 2, 2, 2))), 2, 2))
        x = F.relu(F.max_pool2d(self.conv2(F.pad(x, (2, 2, 2, 2))), 2, 2))
        x = F.relu(F.max_pool2d(self.conv3(F.pad(x, (2, 2, 2, 2))), 2, 2))
        return F.softmax(self.fc(x.reshape(-1, 1024)), dim=1)


def conv_norm(inputs: int, outputs: int, kernel: int = 3, stride: int = 1, groups: int = 1,
              limit: type[nn.Module] | None = nn.ReLU6) -> nn.Sequential:  # fmt: skip
    layers = [
        nn.Conv2d(inputs, outputs, kernel, stride, kernel // 2, groups=groups, bias=False),
        nn.BatchNorm2d(outputs),
    ]
    return nn.Sequential(*layers, *([limit()] if limit else []))


class Inverted(nn.Module):
    """A block of MobileNetV2."""

    def __init__(self, inputs: int, outputs: int, stride: int, times: int) -> None:
        super().__init__()
        inner = inputs * times
        first = [] if times == 1 else [conv_norm(inputs, inner, 1)]
        self.layers = nn.Sequential(
            *first,
            conv_norm(inner, inner, 3, stride, inner),
            conv_norm(inner, outputs, 1, limit=None),
        )
        self.adds = stride == 1 and inputs == outputs

    def forward(self, x: Tensor) -> Tensor:
        return x + self.layers(x) if self.adds else self.layers(x)


# Of MobileNetV2: times of channels inside, outputs in times of the width, how many, stride of the first.
BLOCKS = (
    (1, 1, 1, 1),
    (6, 1, 2, 2),
    (6, 2, 3, 2),
    (6, 3, 4, 2),
    (6, 4, 3, 1),
    (6, 6, 3, 2),
    (6, 8, 1, 1),
)


def mobile_net(width: int = 8) -> nn.Module:
    """With few channels."""
    layers: list[nn.Module] = [conv_norm(3, width, 3, 2)]
    inputs = width
    table = (
        (1, 1, 1, 1),
        (6, 1, 2, 2),
        (6, 2, 3, 2),
        (6, 3, 4, 2),
        (6, 4, 3, 1),
        (6, 6, 3, 2),
        (6, 8, 1, 1),
    )
    for times, channels, count, stride in table:
        for place in range(count):
            layers.append(Inverted(inputs, channels * width, stride if place == 0 else 1, times))
            inputs = channels * width
    layers.append(conv_norm(inputs, 64, 1))
    head = nn.Sequential(nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Dropout(), nn.Linear(64, 16))
    return nn.Sequential(*layers, head)


class Residual(nn.Module):
    def __init__(self, channels: int) -> None:
        super().__init__()
        self.first, self.second = (
            conv_norm(channels, channels, limit=nn.ReLU),
            conv_norm(channels, channels, limit=None),
        )

    def forward(self, x: Tensor) -> Tensor:
        return F.relu(x + self.second(self.first(x)))


class Fire(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.squeeze, self.one, self.three = (
            nn.Conv2d(8, 4, 1),
            nn.Conv2d(4, 8, 1),
            nn.Conv2d(4, 8, 3, padding=1),
        )

    def forward(self, x: Tensor) -> Tensor:
        x = F.relu(self.squeeze(x))
        return torch.cat([F.relu(self.one(x)), F.relu(self.three(x))], 1)


class UNet(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.down, self.inner = conv_norm(8, 16), conv_norm(16, 16)
        self.up, self.last = nn.ConvTranspose2d(16, 16, 2, 2), conv_norm(32, 8)

    def forward(self, x: Tensor) -> Tensor:
        wide = self.down(x)
        return self.last(torch.cat([wide, self.up(self.inner(F.max_pool2d(wide, 2)))], 1))


class SqueezeExcite(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.first, self.second = nn.Conv2d(8, 4, 1), nn.Conv2d(4, 8, 1)

    def forward(self, x: Tensor) -> Tensor:
        means = F.adaptive_avg_pool2d(x, 1)
        return x * torch.sigmoid(self.second(F.relu(self.first(means))))


IMAGE, SIGNAL, ROWS = (1, 8, 16, 16), (1, 8, 32), (4, 32)
Made = Callable[[], nn.Module]
NETWORKS: dict[str, tuple[Made, tuple[int, ...]]] = {
    "cifar": (CifarNet, (1, 8, 32, 32)),
    "mobile net": (mobile_net, (1, 3, 64, 64)),
    "residual": (lambda: nn.Sequential(Residual(8), Residual(8)), IMAGE),
    "fire": (Fire, IMAGE),
    "unet": (UNet, IMAGE),
    "squeeze excite": (SqueezeExcite, IMAGE),
}


def network(name: str, *sizes: int) -> Callable[[Made], Made]:
    def put(made: Made) -> Made:
        NETWORKS[name] = (made, sizes)
        return made

    return put


@network("linear layers", *ROWS)
def linear_layers() -> nn.Module:
    return nn.Sequential(nn.Linear(32, 64), nn.ReLU(), nn.Linear(64, 16), nn.Softmax(-1))


@network("linear norm", *ROWS)
def linear_norm() -> nn.Module:
    return nn.Sequential(nn.Linear(32, 16), nn.BatchNorm1d(16), nn.ReLU(), nn.Linear(16, 8))


@network("depthwise", *IMAGE)
def depthwise() -> nn.Module:
    return nn.Sequential(conv_norm(8, 8, groups=8), conv_norm(8, 16, 1))


@network("grouped", *IMAGE)
def grouped() -> nn.Module:
    return nn.Sequential(nn.Conv2d(8, 16, 3, padding=1, groups=2), nn.ReLU())


@network("signal", *SIGNAL)
def signal() -> nn.Module:
    layers = nn.Conv1d(8, 16, 3), nn.ReLU(), nn.Conv1d(16, 8, 3), nn.Flatten(), nn.Linear(224, 8)
    return nn.Sequential(*layers)


@network("signal norm", *SIGNAL)
def signal_norm() -> nn.Module:
    layers = nn.Conv1d(8, 16, 3, padding=1), nn.BatchNorm1d(16), nn.ReLU(), nn.MaxPool1d(2)
    return nn.Sequential(*layers)


@network("pools", *IMAGE)
def pools() -> nn.Module:
    layers = nn.Conv2d(8, 8, 3, 2, 1), nn.AvgPool2d(2, 2), nn.MaxPool2d(2, 2), nn.Flatten()
    return nn.Sequential(*layers)


@network("decoder", *IMAGE)
def decoder() -> nn.Module:
    wide = nn.Upsample(scale_factor=2)
    return nn.Sequential(nn.Conv2d(8, 8, 3), nn.Tanh(), wide, nn.Conv2d(8, 3, 1), nn.Sigmoid())


@network("gates", *IMAGE)
def gates() -> nn.Module:
    first, second = nn.Conv2d(8, 8, 1), nn.Conv2d(8, 8, 1)
    return Of(lambda m, x: torch.tanh(m.a(x)) * torch.sigmoid(m.b(x)), a=first, b=second)


@network("slices", *IMAGE)
def slices() -> nn.Module:
    return Of(lambda m, x: m.a(x[:, :4]) - m.a(x[:, 4:]), a=nn.Conv2d(4, 8, 1))


@network("split", *IMAGE)
def split() -> nn.Module:
    joined = lambda m, x: torch.cat([m.a(part) for part in x.split(4, 1)], 1)  # noqa: E731
    return Of(joined, a=nn.Conv2d(4, 8, 1))


@network("scaled", *IMAGE)
def scaled() -> nn.Module:
    return Of(lambda m, x: (m.a(x) / 4).abs().mean((2, 3)), a=nn.Conv2d(8, 8, 1))


@network("leaky", *IMAGE)
def leaky() -> nn.Module:
    layers = nn.Conv2d(8, 8, 3), nn.LeakyReLU(0.2), nn.Conv2d(8, 8, 3), nn.PReLU(8)
    return nn.Sequential(*layers)


@network("tokens", *IMAGE)
def tokens() -> nn.Module:
    rows = lambda m, x: m.b(torch.relu(m.a(x.flatten(2).transpose(1, 2))))  # noqa: E731
    return Of(rows, a=nn.Linear(8, 16), b=nn.Linear(16, 8))


@network("mixing", *SIGNAL)
def mixing() -> nn.Module:
    mixed = lambda m, x: m.a(x.permute(0, 2, 1)).permute(0, 2, 1) + x  # noqa: E731
    return Of(mixed, a=nn.Linear(8, 8))


def made(name: str) -> tuple[nn.Module, Tensor]:
    torch.manual_seed(0)
    model, sizes = NETWORKS[name]
    return model().eval(), torch.randn(sizes)


def exported(name: str) -> torch.export.ExportedProgram:
    """Quantized, as either package does it."""
    from executorch.backends.nxp.backend.neutron_target_spec import NeutronTargetSpec
    from executorch.backends.nxp.quantizer.neutron_quantizer import NeutronQuantizer
    from executorch.backends.nxp.quantizer.utils import calibrate_and_quantize

    model, x = made(name)
    program = torch.export.export(model, (x,), strict=True)
    samples = [(torch.randn_like(x),) for _ in range(3)]
    module = calibrate_and_quantize(
        program, samples, NeutronQuantizer(NeutronTargetSpec("imxrt700"))
    )
    return torch.export.export(module, (x,), strict=True)


def left_of(name: str) -> Counter[str]:
    """Calls that compute and are not delegated."""
    from executorch.backends.nxp.backend.neutron_target_spec import NeutronTargetSpec
    from executorch.backends.nxp.edge_passes.neutron_edge_pass_manager import NeutronEdgePassManager
    from executorch.backends.nxp.neutron_partitioner import NeutronPartitioner
    from executorch.backends.nxp.nxp_backend import (
        core_aten_ops_exception_list,
        generate_neutron_compile_spec,
    )
    from executorch.exir import EdgeCompileConfig, to_edge_transform_and_lower

    program = exported(name)
    specs = generate_neutron_compile_spec("imxrt700")
    partitioner = NeutronPartitioner(
        specs, NeutronTargetSpec("imxrt700"), post_quantization_state_dict=program.state_dict
    )
    lowered = to_edge_transform_and_lower(
        program,
        transform_passes=NeutronEdgePassManager(),
        partitioner=[partitioner],
        compile_config=EdgeCompileConfig(
            _check_ir_validity=False, _core_aten_ops_exception_list=core_aten_ops_exception_list
        ),
    )
    nodes = lowered.exported_program().graph.nodes
    names = [_name(node) for node in nodes if node.op == "call_function"]
    return Counter(each for each in names if each)


def _name(node: Any) -> str:
    name = getattr(node.target, "__name__", str(node.target))
    is_call = "quantized_decomposed" not in str(node.target) and "aten" in str(node.target)
    return name if is_call else ""


def main(argv: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("names", nargs="*", metavar="NAME", help="of networks; default: all")
    warnings.simplefilter("ignore")
    for name in parser.parse_args(argv).names or NETWORKS:
        try:
            left: Any = left_of(name)
        except Exception as error:
            left = f"{type(error).__name__}: {error}"[:300]
        print(json.dumps({"network": name, "left": left}), flush=True)


if __name__ == "__main__":
    main()
