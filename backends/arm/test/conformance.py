# SPDX-License-Identifier: BSD-3-Clause
"""The hook of backends/test/conformance. TOSA graphs are evaluated; what Vela and the model converter
make of them runs on no computer, so that of Ethos-U and VGF the compilers' halves are asked alone."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping

from executorch.backends.arm.arm_vela import VELA
from executorch.backends.arm.ethosu import EthosUCompileSpec, EthosUPartitioner
from executorch.backends.arm.quantizer import (
    EthosUQuantizer,
    TOSAQuantizer,
    get_symmetric_quantization_config,
)
from executorch.backends.arm.test.arm_reference import run
from executorch.backends.arm.tosa.compile_spec import TosaCompileSpec
from executorch.backends.arm.tosa.partitioner import TOSAPartitioner
from executorch.backends.arm.vgf import VgfPartitioner
from executorch.backends.arm.vgf.model_converter import CONVERTER
from executorch.backends.test.conformance.backend import Backend, Run

# What all of Arm's have in common: constants are in the payload, sizes are fixed, no computer runs them.
_Arm: Callable[..., Backend] = functools.partial(
    Backend, named_data=False, dynamic_shapes=False, runtime=False
)


def reference(payload: bytes, data: Mapping[str, bytes]) -> Run:
    return functools.partial(run, payload)


def quantizer() -> EthosUQuantizer:
    made = EthosUQuantizer(EthosUCompileSpec("ethos-u55-128"))
    return made.set_global(get_symmetric_quantization_config())


INTEGERS = TosaCompileSpec("TOSA-1.0+INT")


def tosa_quantizer() -> TOSAQuantizer:
    return TOSAQuantizer(INTEGERS).set_global(get_symmetric_quantization_config())


BACKENDS = [
    _Arm(
        "TOSABackend",
        lambda: TOSAPartitioner(TosaCompileSpec("TOSA-1.0+FP")),
        reference=reference,
        by_memory=True,
    ),
    _Arm(
        "TOSABackend",
        lambda: TOSAPartitioner(INTEGERS),
        quantize=tosa_quantizer,
        reference=reference,
        by_memory=True,
        name="TOSABackend in integers",
    ),
    _Arm("EthosUBackend", EthosUPartitioner, quantize=quantizer, why_missing=VELA.why_missing),
    _Arm("VgfBackend", VgfPartitioner, why_missing=CONVERTER.why_missing),
]
