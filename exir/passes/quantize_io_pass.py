# SPDX-License-Identifier: BSD-3-Clause
# compat
"""Inputs and outputs of a method in the quantized form that the graph uses anyway.

before: %x float; %q = quantize(%x, 0.5, 1, ...); use(%q)      after: %x int8; use(%x)
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch.export import ExportedProgram
from torch.export.graph_signature import ExportGraphSignature, OutputKind
from torch.fx import Graph, GraphModule, Node
from torch.fx.passes.infra.pass_base import PassResult

import executorch.exir.passes._quant_patterns_and_replacements  # noqa: F401  (defines the operators)
from executorch.exir.backend.lowering.quantized import is_dequantize, is_quantize, quantization_of
from executorch.exir.dialects._ops import ops
from executorch.exir.pass_base import ExportPass
from executorch.exir.passes.dead_code_elimination_pass import dead_code_elimination_pass
from executorch.exir.program._managers import EdgeProgramManager
from executorch.exir.program_copies import own_copy, signature_for
from executorch.exir.tensor import scalar_type_enum

# Scale, zero point, smallest and largest value, dtype: the arguments of both operators after the tensor.
QuantParams = tuple[Any, ...]
_KEYS = ("scale", "zp", "quant_min", "quant_max", "dtype")


def quantize_input(
    exported_program: ExportedProgram, input_index: int, qparams: dict[str, Any] | None = None
) -> QuantParams:
    """Works in place. With `qparams` (scale, zp, dtype, optionally quant_min and quant_max) the input need not feed a
    quantize operator: what reads it gets the dequantized value. Returns the parameters of the input."""
    signature, graph = exported_program.graph_signature, exported_program.graph
    found = _quantize_input(graph, signature, input_index, qparams)
    _finish(exported_program)
    return found


def quantize_output(exported_program: ExportedProgram, output_index: int) -> QuantParams:
    """Works in place: the output that a dequantize operator gives becomes what that operator reads."""
    signature, graph = exported_program.graph_signature, exported_program.graph
    found = _quantize_output(graph, signature, output_index)
    _finish(exported_program)
    return found


def get_config_method_name(
    prefix: str | None = "forward", arg_type: str = "input", index: int = 0, key: str = "scale"
) -> str:
    """Name of the constant method that tells a parameter: forward_input0_scale."""
    name = f"{arg_type}{index}_{key}"
    return name if prefix is None else f"{prefix}_{name}"


class _QuantizeIo(ExportPass):
    """Changes one method's graph and gives the manager, and so what comes of it, a constant method per parameter."""

    _arg_type: str

    def __init__(
        self,
        manager: EdgeProgramManager,
        method_name: str | None,
        exported_program: ExportedProgram | None,
    ) -> None:
        super().__init__()
        self._manager = manager
        self._method_name = method_name
        program = exported_program or manager.exported_program(method_name or "forward")
        self._signature = program.graph_signature
        self._found: dict[int, QuantParams] = {}

    def _record_qparams(self, index: int, values: QuantParams) -> None:
        methods = dict(self._manager._config_methods or {})
        for key, value in zip(_KEYS, values, strict=True):
            name = get_config_method_name(self._method_name, self._arg_type, index, key)
            methods[name] = scalar_type_enum(value) if key == "dtype" else value
        self._manager._config_methods = methods

    def edge_manager_update_quant_config_methods_all(self) -> None:
        for index, values in self._found.items():
            self._record_qparams(index, values)

    def _done(self, graph_module: GraphModule) -> PassResult:
        self.edge_manager_update_quant_config_methods_all()
        dead_code_elimination_pass(graph_module)
        graph_module.recompile()
        return PassResult(graph_module, bool(self._found))


class QuantizeInputs(_QuantizeIo):
    """`quantized_inputs_idx`: inputs that feed a quantize operator, or a dict with the parameters of each."""

    _arg_type = "input"

    def __init__(
        self,
        edge_program_manager: EdgeProgramManager,
        quantized_inputs_idx: dict[int, dict[str, Any]] | list[int],
        method_name: str | None = None,
        exported_program: ExportedProgram | None = None,
    ) -> None:
        super().__init__(edge_program_manager, method_name, exported_program)
        given = isinstance(quantized_inputs_idx, dict)
        self._wanted: dict[int, dict[str, Any] | None] = (
            dict(quantized_inputs_idx) if given else dict.fromkeys(quantized_inputs_idx)
        )

    def edge_manager_update_quant_config_method(self, idx: int, quant_args: QuantParams) -> None:
        self._tell(idx, quant_args)

    def call(self, graph_module: GraphModule) -> PassResult:
        for index, given in self._wanted.items():
            self._found[index] = _quantize_input(graph_module.graph, self._signature, index, given)
        return self._done(graph_module)


class QuantizeOutputs(_QuantizeIo):
    """Outputs, by index, that a dequantize operator gives."""

    _arg_type = "output"

    def __init__(
        self,
        edge_program_manager: EdgeProgramManager,
        quantized_outputs_idx_list: list[int],
        method_name: str | None = None,
        exported_program: ExportedProgram | None = None,
    ) -> None:
        super().__init__(edge_program_manager, method_name, exported_program)
        self._wanted = list(quantized_outputs_idx_list)

    def edge_manager_update_quant_config_method(self, idx: int, dequant_args: QuantParams) -> None:
        self._tell(idx, dequant_args)

    def call(self, graph_module: GraphModule) -> PassResult:
        for index in self._wanted:
            self._found[index] = _quantize_output(graph_module.graph, self._signature, index)
        return self._done(graph_module)


def extract_io_quant_params(
    edge_prog: EdgeProgramManager,
    *,
    input_idxs: Sequence[int] = (0,),
    output_idxs: Sequence[int] = (0,),
) -> dict[str, dict[str, dict[str, Any]]]:
    """Parameters of inputs and outputs of `forward` by name, without changing the program."""
    program = own_copy(edge_prog.exported_program())
    inputs = {
        program.graph_signature.user_inputs[i]: quantize_input(program, i) for i in input_idxs
    }
    results = [quantize_output(program, i) for i in output_idxs]
    names = [program.graph_signature.user_outputs[i] for i in output_idxs]
    return {
        "inputs": {str(name): _by_key(values) for name, values in inputs.items()},
        "outputs": {str(name): _by_key(values) for name, values in zip(names, results)},
    }


def _by_key(values: QuantParams) -> dict[str, Any]:
    named = dict(zip(("scale", "zero_point", *_KEYS[2:]), values, strict=True))
    return {**named, "dtype": scalar_type_enum(named["dtype"])}


def _quantize_input(
    graph: Graph, signature: ExportGraphSignature, index: int, given: dict[str, Any] | None
) -> QuantParams:
    name = signature.user_inputs[index]
    (node,) = (n for n in graph.find_nodes(op="placeholder") if n.name == name)
    if given is not None:
        return _insert_dequantize(graph, node, given)
    users = list(node.users)
    others = [str(user.target) for user in users if not _is_static(user, is_quantize)]
    if others or not users:
        raise ValueError(
            f"input {index} ({name}): expected a quantize operator alone to read it, found "
            f"{', '.join(others) or 'no user'}; pass the parameters in a dict"
        )
    found = {tuple(user.args[1:6]) for user in users}
    if len(found) != 1:
        raise ValueError(
            f"input {index} ({name}) is quantized in {len(found)} ways; expected one: {found}"
        )
    node.meta["val"] = users[0].meta["val"]
    for user in users:
        user.replace_all_uses_with(node)
        graph.erase_node(user)
    return found.pop()


def _is_static(node: Node, kind: Callable[[Node], bool]) -> bool:
    """Whether it is of that kind, by numbers."""
    qparams = quantization_of(node) if kind(node) else None
    return qparams is not None and qparams.is_static


def _insert_dequantize(graph: Graph, node: Node, given: dict[str, Any]) -> QuantParams:
    limits = torch.iinfo(given["dtype"])
    low, high = given.get("quant_min", limits.min), given.get("quant_max", limits.max)
    values = (given["scale"], given["zp"], low, high, given["dtype"])
    first = next(n for n in graph.nodes if n.op != "placeholder")
    with graph.inserting_before(first):
        target = ops.edge.quantized_decomposed.dequantize_per_tensor.default
        dequantized = graph.call_function(target, (node, *values))
    dequantized.meta = dict(node.meta)
    node.replace_all_uses_with(dequantized, lambda user: user is not dequantized)
    node.meta["val"] = node.meta["val"].to(given["dtype"])
    return values


def _quantize_output(graph: Graph, signature: ExportGraphSignature, index: int) -> QuantParams:
    kinds = [spec.kind for spec in signature.output_specs]
    place = [i for i, kind in enumerate(kinds) if kind == OutputKind.USER_OUTPUT][index]
    output = next(iter(reversed(graph.nodes)))
    node = output.args[0][place]
    if not isinstance(node, Node) or not _is_static(node, is_dequantize):
        target = getattr(node, "target", node)
        raise ValueError(f"output {index}: expected a dequantize operator, found {target}")
    values = list(output.args[0])
    values[place] = node.args[0]
    output.args = (type(output.args[0])(values),)
    return tuple(node.args[1:6])


def _finish(program: ExportedProgram) -> None:
    dead_code_elimination_pass(program.graph_module)
    program.graph_module.recompile()
    program._graph_signature = signature_for(program.graph_signature, program.graph_module)
