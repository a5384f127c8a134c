# SPDX-License-Identifier: BSD-3-Clause
"""One program becomes one payload: OpenVINO's frontend for PyTorch reads the graph, a device's library compiles it."""

from __future__ import annotations

import struct
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch
from torch.export import ExportedProgram
from torch.fx import GraphModule, Node

from executorch.backends.openvino.aot.graph import graph_for_frontend
from executorch.backends.openvino.aot.options import Options, wrong
from executorch.exir.backend.lowering.external.compiler import ExternalCompiler, Refused
from executorch.exir.error import ExportError

if TYPE_CHECKING:
    import openvino

WANTED = ">=2025.4,<2027"
MAGIC = b"ETOVIR01"  # of portable payloads, see runtime/payload.h
WEIGHTS_ALIGNMENT = 64


def compile_program(
    program: ExportedProgram, options: Mapping[str, str], place: Path | None
) -> bytes:
    chosen = Options.of_texts(options)
    model = model_of(program)
    if place:
        (place / "model.xml").write_bytes(_serialized(model)[0])
    if chosen.payload == "ir":
        return portable(model)
    core = core_of(chosen.properties)
    if not _is_here(core, chosen.device):
        if chosen.payload == "compiled":
            raise wrong(
                f"device {chosen.device} is not here (found {', '.join(core.available_devices)}): compile where it is, "
                "or give the compile spec payload=ir, which is compiled where the file is loaded"
            )
        return portable(model)
    return _compiled(core, model, chosen)


OPENVINO = ExternalCompiler("OpenVINO", "openvino", WANTED, "openvino", compile_program)


def model_of(program: ExportedProgram) -> openvino.Model:
    """Raises Refused, with the names of the calls that have no translation."""
    from openvino.frontend import FrontEndManager
    from openvino.frontend.pytorch.fx_decoder import TorchFXPythonDecoder

    module = graph_for_frontend(program)
    frontend = FrontEndManager().load_by_framework("pytorch")
    decoder = TorchFXPythonDecoder(module)
    model = frontend.convert_partially(frontend.load(decoder))
    _check_translated(model)
    _check_computes(model)
    _set_inputs(model, module, program)
    model.validate_nodes_and_infer_types()
    return with_results(model, module)


def portable(model: openvino.Model) -> bytes:
    xml, weights = _serialized(model)
    head = MAGIC + struct.pack("<QQ", len(xml), len(weights)) + xml
    return head + bytes(-len(head) % WEIGHTS_ALIGNMENT) + weights


def _check_translated(model: openvino.Model) -> None:
    """What has no translation is left as a node of the framework, named after the call and its operator."""
    left = [op for op in model.get_ordered_ops() if "FrameworkNode" in op.get_type_name()]
    names = [op.get_friendly_name().partition("/") for op in left]
    if names:
        operators = ", ".join(sorted({operator for _, _, operator in names}))
        raise Refused(f"OpenVINO translates no {operators}", [name for name, _, _ in names])


def _check_computes(model: openvino.Model) -> None:
    """A model that gives its inputs back writes nothing into memory that is given to it for its results."""
    kinds = {op.get_type_name() for op in model.get_ordered_ops()}
    if kinds <= {"Parameter", "Constant", "Result"}:
        raise Refused("nothing is computed", is_final=True)


def _set_inputs(model: openvino.Model, module: GraphModule, program: ExportedProgram) -> None:
    from openvino import PartialShape, Type

    placeholders = module.graph.find_nodes(op="placeholder")
    for port, node in zip(model.inputs, placeholders, strict=True):
        value = node.meta["val"]
        is_tensor = isinstance(value, torch.Tensor)
        sizes = [_dimension(size, program) for size in value.shape] if is_tensor else [1]
        port.get_node().set_element_type(Type(_numpy(value.dtype)) if is_tensor else Type.i64)
        port.get_node().set_partial_shape(PartialShape(sizes))


def _dimension(size: int | torch.SymInt, program: ExportedProgram) -> Any:
    from openvino import Dimension

    if isinstance(size, int):
        return Dimension(size)
    bounds = program.range_constraints.get(size.node.expr)
    if bounds is None:
        return Dimension.dynamic()
    return Dimension(int(bounds.lower), int(bounds.upper) if bounds.upper < 2**31 else -1)


def _numpy(dtype: torch.dtype) -> Any:
    return torch.empty(0, dtype=dtype).numpy().dtype


def with_results(model: openvino.Model, module: GraphModule) -> openvino.Model:
    """Results of the dtypes that the program says, where the frontend chose another. Raises Refused where it gives
    others: so many, or of other sizes."""
    from openvino import Type
    from openvino.preprocess import PrePostProcessor

    results = module.graph.output_node().args[0]
    if len(model.outputs) != len(results):
        raise Refused(f"OpenVINO gives {len(model.outputs)} results, {len(results)} are expected")
    steps = PrePostProcessor(model)
    for place, (port, node) in enumerate(zip(model.outputs, results, strict=True)):
        _check_sizes(port, node)
        steps.output(place).tensor().set_element_type(Type(_numpy(node.meta["val"].dtype)))
    return steps.build()


def _check_sizes(port: Any, node: Node) -> None:
    sizes = node.meta["val"].shape
    shape = port.get_partial_shape()
    fits = shape.rank.is_dynamic or (
        len(shape) == len(sizes)
        and all(
            isinstance(want, torch.SymInt) or found.is_dynamic or found.get_length() == want
            for found, want in zip(shape, sizes, strict=True)
        )
    )
    if not fits:
        raise Refused(f"OpenVINO gives sizes {shape}, {list(sizes)} are expected", [node.name])


def _serialized(model: openvino.Model) -> tuple[bytes, bytes]:
    import openvino

    with tempfile.TemporaryDirectory() as folder:
        files = Path(folder, "model.xml"), Path(folder, "model.bin")
        openvino.serialize(model, *map(str, files))
        return files[0].read_bytes(), files[1].read_bytes()


_cores: dict[tuple[tuple[str, str], ...], openvino.Core] = {}


def core_of(properties: Mapping[str, str]) -> openvino.Core:
    """For programs with these properties alone: a core keeps what is set on it."""
    import openvino

    key = tuple(sorted(properties.items()))
    if key not in _cores:
        _cores[key] = openvino.Core()
    return _cores[key]


def _is_here(core: openvino.Core, device: str) -> bool:
    """Whether models are compiled for it and stored; devices that choose among others do not store."""
    return device.partition(".")[0] in {each.partition(".")[0] for each in core.available_devices}


def _compiled(core: openvino.Core, model: openvino.Model, options: Options) -> bytes:
    _check_properties(core, options)
    compiled = core.compile_model(model, options.device, options.compile_properties())
    return compiled.export_model().getvalue()


def _check_properties(core: openvino.Core, options: Options) -> None:
    known = set(core.get_property(options.device, "SUPPORTED_PROPERTIES"))
    unknown = sorted(set(options.properties) - known)
    if unknown:
        raise wrong(
            f"device {options.device} has no property {', '.join(unknown)}; compile specs are device, payload, "
            f"config and its properties: {', '.join(sorted(known))}"
        )
    for key, value in options.properties.items():
        try:
            core.set_property(options.device, {key: value})
        except RuntimeError as error:
            raise _refused_value(key, value, error) from None


def _refused_value(key: str, value: str, error: Exception) -> ExportError:
    reason = str(error).strip().splitlines()[-1].strip()
    return wrong(f"property {key} cannot be {value!r}: {reason}")
