# SPDX-License-Identifier: BSD-3-Clause
"""Modules whose TOSA graphs are compared with 1.4.1's, and how both are lowered: run as a program by the interpreter of
either, `arm_peer_networks.py FOLDER [site-packages of the tools]` writes a graph for each, and payloads of Ethos-U.
`--dump OURS`: 1.4.1's own tool writes the graphs of that folder as JSON, too."""

from __future__ import annotations

import argparse
import importlib
import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

Made = Callable[[], tuple[nn.Module, tuple[Tensor, ...]]]


class _Of(nn.Module):
    def __init__(self, function: Callable[..., Tensor]) -> None:
        super().__init__()
        self._function = function

    def forward(self, *args: Tensor) -> Tensor:
        return self._function(*args)


def _image(channels: int = 3) -> tuple[Tensor, ...]:
    return (torch.randn(1, channels, 16, 16),)


def _two() -> tuple[Tensor, ...]:
    return torch.randn(2, 3), torch.randn(2, 3)


def _conv_norm() -> nn.Module:
    return nn.Sequential(nn.Conv2d(3, 8, 3, padding=1), nn.BatchNorm2d(8), nn.ReLU())


# Those whose graphs are equal; docs/compatibility.md has where ours differ.
EQUAL: dict[str, Made] = {
    "add": lambda: (_Of(torch.add), _two()),
    "mul": lambda: (_Of(torch.mul), _two()),
    "conv norm relu": lambda: (_conv_norm(), _image()),
    "depthwise": lambda: (nn.Conv2d(8, 8, 3, padding=1, groups=8), _image(8)),
    "conv transpose": lambda: (nn.ConvTranspose2d(4, 8, 2, 2), _image(4)),
    "gelu": lambda: (nn.GELU(), _two()[:1]),
    "max pool": lambda: (nn.MaxPool2d(2, 2), _image()),
    "sum": lambda: (_Of(lambda x: x.sum(1)), _image()),
}


# Of which payloads are read and written again.
COMPILED = ("add", "conv norm relu", "max pool")


def write(folder: Path) -> None:
    from executorch.backends.arm.quantizer import TOSAQuantizer
    from executorch.backends.arm.tosa.compile_spec import TosaCompileSpec
    from executorch.backends.arm.tosa.partitioner import TOSAPartitioner

    spec = TosaCompileSpec("TOSA-1.0+INT")
    for name in EQUAL:
        payload = _payload(name, TOSAQuantizer(spec), TOSAPartitioner(spec))
        (folder / f"{name}.tosa").write_bytes(payload)


def write_compiled(folder: Path) -> None:
    from executorch.backends.arm.ethosu import EthosUCompileSpec, EthosUPartitioner
    from executorch.backends.arm.quantizer import EthosUQuantizer

    spec = EthosUCompileSpec("ethos-u55-128")
    for name in COMPILED:
        payload = _payload(name, EthosUQuantizer(spec), EthosUPartitioner(spec))
        (folder / f"{name}.bin").write_bytes(payload)


def _payload(name: str, quantizer: Any, partitioner: Any) -> bytes:
    from torchao.quantization.pt2e.quantize_pt2e import convert_pt2e, prepare_pt2e

    from executorch.backends.arm.quantizer import get_symmetric_quantization_config
    from executorch.exir import to_edge_transform_and_lower
    from executorch.exir.lowered_backend_module import get_lowered_backend_modules

    torch.manual_seed(0)
    module, inputs = EQUAL[name]()
    captured = torch.export.export(module.eval(), inputs, strict=True)
    quantizer.set_global(get_symmetric_quantization_config())
    prepared = prepare_pt2e(captured.module(check_guards=False), quantizer)
    prepared(*inputs)
    program = torch.export.export(convert_pt2e(prepared), inputs, strict=True)
    edge = to_edge_transform_and_lower(program, partitioner=[partitioner])
    (delegate,) = get_lowered_backend_modules(edge.exported_program().graph_module)
    return bytes(delegate.processed_bytes)


def dump(ours: Path, folder: Path) -> None:
    """By 1.4.1's tool."""
    tool = importlib.import_module("executorch.backends.arm.test.runner_utils")
    for path in ours.glob("*.tosa"):
        found = tool.dbg_tosa_fb_to_json(path.read_bytes())
        (folder / f"{path.stem}.json").write_text(json.dumps(found))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path, help="where the graphs go")
    parser.add_argument("packages", nargs="*", help="folders of Python packages, for the tools")
    parser.add_argument("--dump", type=Path, help="a folder of our graphs")
    arguments = parser.parse_args()
    sys.path += arguments.packages
    write(arguments.folder)
    write_compiled(arguments.folder)
    if arguments.dump:
        dump(arguments.dump, arguments.folder)
