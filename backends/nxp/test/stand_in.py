# SPDX-License-Identifier: BSD-3-Clause
"""The SDK's stand-in in place, converting in this process; and LiteRT, which runs the models that it keeps."""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable, Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import torch

from executorch.backends.nxp.aot import payload as payloads
from executorch.backends.nxp.aot.graph import SCHEMA
from executorch.backends.nxp.backend.neutron_converter_manager import NeutronConverterManager
from executorch.backends.nxp.neutron_partitioner import NeutronPartitioner
from executorch.backends.nxp.quantizer.neutron_quantizer import NeutronQuantizer
from executorch.backends.test.conformance.backend import Backend, Run

SDK = Path(__file__).parent / "sdk"


def why_missing() -> str:
    return "" if find_spec("ai_edge_litert") else "ai-edge-litert is not installed"


def use_stand_in() -> None:
    if str(SDK) not in sys.path and find_spec("eiq_neutron_sdk") is None:
        sys.path.append(str(SDK))
    NeutronConverterManager.in_process = True


def tflite_in(payload: bytes) -> bytes:
    """The model that the stand-in kept."""
    return payloads.read(payload).weights


def interpreted(model: bytes, inputs: Sequence[np.ndarray], keeps_all: bool = False) -> Any:
    """LiteRT's interpreter behind a run, without XNNPACK. `keeps_all`: values between operators, too."""
    from ai_edge_litert.interpreter import Interpreter, OpResolverType

    interpreter = Interpreter(
        model_content=model,
        experimental_op_resolver_type=OpResolverType.BUILTIN_WITHOUT_DEFAULT_DELEGATES,
        experimental_preserve_all_tensors=keeps_all,
    )
    interpreter.allocate_tensors()
    for detail, given in zip(interpreter.get_input_details(), inputs, strict=True):
        interpreter.set_tensor(detail["index"], given)
    interpreter.invoke()
    return interpreter


def run(model: bytes, inputs: Sequence[np.ndarray]) -> list[np.ndarray]:
    interpreter = interpreted(model, inputs)
    return [
        interpreter.get_tensor(each["index"]).copy() for each in interpreter.get_output_details()
    ]


def given(payload: payloads.Payload, inputs: Sequence[torch.Tensor]) -> list[np.ndarray]:
    """What the model gets of a delegate's arguments."""
    pairs = zip(payload.input_map, payload.input_flags, strict=True)
    return [_to_last(inputs[place]) if flag else _array(inputs[place]) for place, flag in pairs]


def reference(payload: bytes, data: Mapping[str, bytes]) -> Run:
    return functools.partial(run_payload, payload)


def run_payload(payload: bytes, inputs: list[torch.Tensor]) -> list[torch.Tensor]:
    """As the runtime does: with the header's transposes."""
    found = payloads.read(payload)
    made = run(found.weights, given(found, inputs))
    results = [
        _from_last(each) if flag else torch.from_numpy(np.asarray(each))
        for each, flag in zip(made, found.output_flags, strict=True)
    ]
    return [results[found.output_map.index(place)] for place in range(len(results))]


def _array(value: torch.Tensor) -> np.ndarray:
    return value.contiguous().numpy()


def _to_last(value: torch.Tensor) -> np.ndarray:
    return np.ascontiguousarray(np.moveaxis(value.numpy(), 1, -1))


def _from_last(value: np.ndarray) -> torch.Tensor:
    return torch.from_numpy(np.ascontiguousarray(np.moveaxis(value, -1, 1)))


def backend(partitioner: Callable[[], NeutronPartitioner] = NeutronPartitioner) -> Backend:
    return Backend(
        "NeutronBackend",
        partitioner,
        named_data=False,
        dynamic_shapes=False,
        runtime=False,
        quantize=NeutronQuantizer,
        reference=reference,
        why_missing=why_missing,
    )


def operators(model: bytes) -> list[str]:
    """Of a TFLite model."""
    root = SCHEMA.unpack(model)
    kinds = [each.builtin_code.name for each in root.operator_codes]
    return [kinds[each.opcode_index] for each in root.subgraphs[0].operators]
