# SPDX-License-Identifier: BSD-3-Clause
"""Stands in for NXP's SDK in tests, with the names that its users call: a converter that keeps the model, as the
weights of one NeutronGraph, whose microcode says the counts. Both modules of the SDK are this one.

The environment variable NEUTRON_STAND_IN says what else it does: exit, raise, none, two, garbage."""

import os
import struct
import sys
from types import SimpleNamespace

import numpy as np
from ai_edge_litert import schema_py_generated as schema
from flatbuffers import Builder

neutron_converter = neutron_library_utils = sys.modules[__name__]
for _name in ("neutron_converter", "neutron_library_utils"):
    sys.modules[f"{__name__}.{_name}"] = neutron_converter
_CUSTOM = schema.BuiltinOperator.CUSTOM
VARIABLE = "NEUTRON_STAND_IN"
SCRATCH = 48
__version__ = "3.1"


def getNeutronTargets() -> list[SimpleNamespace]:
    return [SimpleNamespace(name="imxrt700")]


def isNeutronTarget(name: str) -> bool:
    return name == "imxrt700"


def CompilationContext() -> SimpleNamespace:
    return SimpleNamespace(targetOpts=None, compilationOpts=SimpleNamespace(useProfiling=False))


def getNeutronTarget(name: str) -> SimpleNamespace:
    numbers = {"numUnits": 1, "numPipes": 8, "numMacs": 8, "hwVersion": 2}
    return SimpleNamespace(name=name, subsystem=False, **numbers)


def convertModel(model: list[int], context: SimpleNamespace) -> list[int]:
    how = os.environ.get(VARIABLE, "")
    if how == "exit":
        sys.exit(7)
    if how == "raise":
        raise ValueError("the stand-in was told to")
    if how == "garbage":
        return list(b"no model")
    if context.compilationOpts.dumpKernelSelectionCode:
        with open("_kernel_selection.c", "w") as file:
            file.write("/* kernels */\n")
    made = schema.ModelT.InitFromObj(schema.Model.GetRootAs(bytes(model)))
    return list(_packed(_converted(made, bytes(model), {"none": 0, "two": 2}.get(how, 1))))


def _converted(model, data: bytes, count: int):
    (graph,) = model.subgraphs
    inputs, outputs = list(graph.inputs), list(graph.outputs)
    words = [0] * 16
    words[0], words[6], words[7], words[9] = 0x64434D6E, 64, len(data), SCRATCH
    words[11], words[12] = len(inputs), len(outputs)
    tensors = [graph.tensors[each] for each in (*inputs, *outputs)]
    model.buffers = [schema.BufferT()]
    for each in tensors:
        each.buffer = 0
    for name, content in (
        ("microcode", struct.pack("<16I", *words)),
        ("weights", data),
        ("kernels", bytes(16)),
    ):
        tensors.append(_tensor(name, len(content), len(model.buffers)))
        buffer = schema.BufferT()
        buffer.data = np.frombuffer(content, np.uint8)
        model.buffers.append(buffer)
    tensors.append(_tensor("scratch", SCRATCH, 0))
    first = len(inputs)
    graph.tensors = tensors
    graph.inputs = list(range(first))
    graph.outputs = list(range(first, first + len(outputs)))
    node = schema.OperatorT()
    node.opcodeIndex = 0
    node.inputs = [*graph.inputs, *range(first + len(outputs), first + len(outputs) + 3)]
    node.outputs = [*graph.outputs, len(tensors) - 1]
    graph.operators = [node] * count
    code = schema.OperatorCodeT()
    code.deprecatedBuiltinCode = code.builtinCode = _CUSTOM
    code.customCode = "NeutronGraph"
    model.operatorCodes = [code]
    return model


def _tensor(name: str, size: int, buffer: int):
    made = schema.TensorT()
    made.name, made.shape, made.type, made.buffer = name, [size], schema.TensorType.UINT8, buffer
    return made


def _packed(model) -> bytes:
    builder = Builder(1 << 16)
    builder.Finish(model.Pack(builder), b"TFL3")
    return bytes(builder.Output())
