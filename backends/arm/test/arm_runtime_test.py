# SPDX-License-Identifier: BSD-3-Clause
"""Programs with Ethos-U's delegates in the runtime, with a stub of the driver whose answers TOSA's evaluator
computes: what goes into the scratch, where, and what comes out."""

from __future__ import annotations

import ctypes
from collections.abc import Callable

import pytest
import torch
from torch import nn

from executorch.backends.arm.arm_vela import VELA
from executorch.backends.arm.ethosu import EthosUCompileSpec, EthosUPartitioner
from executorch.backends.arm.ethosu.payload import Port, read
from executorch.backends.arm.quantizer import EthosUQuantizer
from executorch.backends.arm.test.arm_reference import (
    delegates,
    first_delegate,
    lowered,
    needs_model,
    quantized,
    run,
)
from executorch.extension.pybindings.portable_lib import _load_for_executorch_from_buffer
from executorch.test.e2e.build_tree import load_backend, loadable

pytestmark = [
    needs_model,
    pytest.mark.skipif(bool(VELA.why_missing()), reason=VELA.why_missing()),
]
STUB = "ethos_u_stub"
TARGET = "ethos-u55-128"


class Two(nn.Module):
    """A map and a mean of it, of which one is channels last inside."""

    def __init__(self) -> None:
        super().__init__()
        self.conv = nn.Conv2d(3, 4, 3, padding=1)

    def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        y = torch.relu(self.conv(x))
        return y, y.mean((2, 3)) + 1


NETWORKS = {
    "a sum": (lambda: _Sum(), lambda: (torch.randn(2, 3), torch.randn(2, 3))),
    "two outputs": (Two, lambda: (torch.randn(1, 3, 8, 8),)),
    "channels last": (
        lambda: nn.Conv2d(3, 4, 3),
        lambda: (torch.randn(1, 3, 8, 8).to(memory_format=torch.channels_last),),
    ),
}


class _Sum(nn.Module):
    def forward(self, x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        return x + y


class Driver:
    """The stub; bytes that it is given live as long as this."""

    def __init__(self) -> None:
        load_backend(STUB)
        self._library = ctypes.CDLL(str(loadable(STUB)))
        self._kept: list[bytes] = []
        self._library.ethosu_stub_reset()

    def expect(self, port: Port, value: torch.Tensor) -> None:
        self._set_port(self._library.ethosu_stub_expect, port, value)

    def answer(self, port: Port, value: torch.Tensor) -> None:
        self._set_port(self._library.ethosu_stub_answer, port, value)

    def _set_port(self, function: Callable[..., int], port: Port, value: torch.Tensor) -> None:
        self._kept.append(value.contiguous().numpy().tobytes())
        data = self._kept[-1]
        function(0, ctypes.c_size_t(port.offset), data, ctypes.c_size_t(len(data)))

    @property
    def calls(self) -> int:
        return self._library.ethosu_stub_calls()


@pytest.mark.parametrize("name", NETWORKS)
def test_a_program_with_a_delegate(name: str) -> None:
    torch.manual_seed(0)
    make, inputs = NETWORKS[name][0], NETWORKS[name][1]()
    spec = EthosUCompileSpec(TARGET)
    module = quantized(make().eval(), inputs, quantizer=EthosUQuantizer(spec))
    graph, given = first_delegate(lowered(module, inputs, str(spec.tosa_spec)), inputs)
    edge = lowered(module, inputs, "", EthosUPartitioner(spec))
    (delegate,) = delegates(edge)
    payload = read(bytes(delegate.processed_bytes))
    driver = Driver()
    for port, value in zip(payload.inputs, given, strict=True):
        driver.expect(port, value)
    for port, value in zip(payload.outputs, run(graph, given), strict=True):
        driver.answer(port, value)
    loaded = _load_for_executorch_from_buffer(edge.to_executorch().buffer)
    results, expected = loaded.forward(inputs), module(*inputs)
    expected = expected if isinstance(expected, tuple) else (expected,)
    assert driver.calls == 1
    for found, wanted in zip(results, expected, strict=True):
        quantum = (wanted.max() - wanted.min()) / 200  # a little more than one of 255
        torch.testing.assert_close(found, wanted, rtol=0, atol=quantum.item())
