# SPDX-License-Identifier: BSD-3-Clause
"""An ExportedProgram of torch.export in, an edge ExportedProgram out. The input is not changed."""

from __future__ import annotations

import dataclasses
import logging
import math
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, nullcontext
from typing import Any

import torch
from torch._export.verifier import Verifier
from torch._guards import detect_fake_mode
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.export import ExportedProgram
from torch.export.graph_signature import (
    ExportGraphSignature,
    InputKind,
    InputSpec,
    OutputKind,
    OutputSpec,
    TensorArgument,
)
from torch.fx import Graph, GraphModule, Node
from torch.fx.experimental.symbolic_shapes import (
    ShapeEnv,
    _ShapeEnvGuardError,
    has_free_unbacked_symbols,
)
from torch.utils._pytree import tree_leaves
from torch.utils._sympy.value_ranges import ValueRanges

from executorch.exir.error import ExportError, ExportErrorType, source_line
from executorch.exir.graph_facts import input_specs
from executorch.exir.program_copies import own_copy
from executorch.exir.retrace.builder import Number
from executorch.exir.retrace.lifted_constants import with_lifted_branch_constants
from executorch.exir.retrace.op_rules import PRESERVED, OpRules, decomposition_table
from executorch.exir.retrace.symbols import UnknownSymbol
from executorch.exir.retrace.template import AliasesUnknown, NeedsFullTrace, map_values
from executorch.exir.retrace.tracer import GraphTracer, TraceOptions, remove_dead_calls
from executorch.exir.sym_util import upper_bound_or_none

OpOverload = torch._ops.OpOverload
_log = logging.getLogger(__name__)
_MUTATION_OF = {
    InputKind.BUFFER: OutputKind.BUFFER_MUTATION,
    InputKind.PARAMETER: OutputKind.PARAMETER_MUTATION,
    InputKind.USER_INPUT: OutputKind.USER_INPUT_MUTATION,
}


def retrace_to_edge(
    program: ExportedProgram,
    *,
    preserve: Iterable[OpOverload] = (),
    keep: Callable[[Node], bool] = lambda node: False,
    skip_dim_order: bool = False,
    decompose: frozenset[OpOverload] = frozenset(),
    verifier: type[Verifier],
) -> ExportedProgram:
    """The edge program of `program`. `preserve` and `keep` name operators and nodes that are not decomposed,
    `decompose` those that are although the runtime has kernels for them."""
    _refuse_untraceable(program)
    _bound_by_mask(program)
    program = with_lifted_branch_constants(program)
    preserve = frozenset(preserve)
    rules = OpRules(preserve, decompose=decompose)
    kept = {node.name for node in program.graph.nodes if keep(node)}
    shape_env = fake_mode_of(program).shape_env
    attempt = program
    for prepare in (_with_shared_memory, None):
        try:
            # Deciding about a symbolic size would narrow the caller's program, too.
            with guards_refused(shape_env):
                return _Retrace(
                    attempt, rules, lambda node: node.name in kept, skip_dim_order, verifier
                ).run()
        except AliasesUnknown as reason:
            attempt = prepare(program) if prepare is not None else None
            if attempt is None:
                _log.info("functionalising with torch first: %s", reason)
                break
        except (NeedsFullTrace, UnknownSymbol, _ShapeEnvGuardError) as reason:
            _log.info("functionalising with torch first: %s", reason)
            break
    # torch's nodes are other nodes: here operators are kept, all calls of them.
    preserve |= {node.target for node in program.graph.nodes if node.name in kept}
    rules = OpRules(preserve, decompose=decompose)
    functional = _functionalise(program, preserve, decompose)
    with shape_env.suppress_guards() if shape_env is not None else nullcontext():
        return _Retrace(
            functional, rules, lambda node: False, skip_dim_order, verifier, is_last_attempt=True
        ).run()


def _refuse_untraceable(program: ExportedProgram) -> None:
    """What the re-trace has no values for. torch.export records transforms such as torch.func.grad with the example's
    values instead of the inputs, which shows by the wrappers that it leaves among the fake values."""
    for node in program.graph.nodes:
        for value in tree_leaves(node.meta.get("val")):
            if not isinstance(value, torch.Tensor):
                continue
            where = source_line(node)
            if torch._C._functorch.is_gradtrackingtensor(value):
                raise ExportError(
                    ExportErrorType.NOT_SUPPORTED,
                    f"torch.export has not recorded a transform of torch.func{where}: the program would compute with "
                    "the example's values. Write the derivative with ordinary operators",
                )
            if value.layout is not torch.strided:
                raise ExportError(
                    ExportErrorType.NOT_SUPPORTED,
                    f"{node.name}{where} has layout {value.layout}; call .to_dense() before export",
                )


def _bound_by_mask(program: ExportedProgram) -> None:
    """How many elements masked_select gives at most: torch counts those of the input, which the mask may be larger
    than."""
    shape_env = fake_mode_of(program).shape_env
    for node in program.graph.find_nodes(
        op="call_function", target=torch.ops.aten.masked_select.default
    ):
        size = node.meta["val"].shape[0]
        shape = torch.broadcast_shapes(*(each.meta["val"].shape for each in node.args))
        bound = upper_bound_or_none(math.prod(shape))
        if isinstance(size, torch.SymInt) and bound is not None and shape_env is not None:
            shape_env.var_to_range[size.node.expr] = ValueRanges(0, bound)


@contextmanager
def guards_refused(shape_env: ShapeEnv | None) -> Iterator[None]:
    """Operators that would decide about a symbolic size raise, and torch does not log that: callers go another way."""
    if shape_env is None:
        yield
        return
    logger = logging.getLogger(torch._subclasses.fake_tensor.__name__)
    logger.addFilter(_is_news)
    try:
        with shape_env.error_on_new_guards():
            yield
    finally:
        logger.removeFilter(_is_news)


def _is_news(record: logging.LogRecord) -> bool:
    return not isinstance((record.exc_info or (None, None))[1], _ShapeEnvGuardError)


def _with_shared_memory(program: ExportedProgram) -> ExportedProgram | None:
    """A copy whose fake values share memory as the tensors will, found by running it on them; None where a value
    cannot be made again: one that depends on data, or that a higher-order operator makes."""
    copy = own_copy(program)
    made: dict[Node, Any] = {}
    mode = fake_mode_of(copy)
    shape_env = mode.shape_env
    with mode, shape_env.suppress_guards() if shape_env is not None else nullcontext():
        for node in copy.graph.nodes:
            if node.op == "placeholder":
                made[node] = node.meta.get("val")
            elif node.op == "call_function" and not _is_made_by_data(node):
                args = map_values(node.args, Node, made.__getitem__)
                kwargs = {k: map_values(v, Node, made.__getitem__) for k, v in node.kwargs.items()}
                made[node] = node.meta["val"] = node.target(*args, **kwargs)
            elif node.op != "output":
                return None
    return copy


def _is_made_by_data(node: Node) -> bool:
    values = tree_leaves(node.meta.get("val"))
    return isinstance(node.target, torch._ops.HigherOrderOperator) or any(
        has_free_unbacked_symbols(value) for value in values
    )


def _functionalise(
    program: ExportedProgram, preserve: frozenset[OpOverload], decompose: frozenset[OpOverload]
) -> ExportedProgram:
    table = torch.export.default_decompositions()
    for op in (*(PRESERVED - decompose), *preserve):
        table.pop(op, None)
    for op, function in decomposition_table().items():
        if op not in preserve:
            table[op] = function
    notes = {node.name: node.meta["custom"] for node in _inputs(program) if "custom" in node.meta}
    functional = program.run_decompositions(table)
    for node in _inputs(functional):
        if node.name in notes:
            node.meta["custom"] = notes[node.name]
    return functional


def _inputs(program: ExportedProgram) -> list[Node]:
    return program.graph.find_nodes(op="placeholder")


class _Retrace:
    """One method's way from torch.export to the edge dialect."""

    def __init__(
        self,
        program: ExportedProgram,
        rules: OpRules,
        keep: Callable[[Node], bool],
        skip_dim_order: bool,
        verifier: type[Verifier],
        is_last_attempt: bool = False,
    ) -> None:
        self._program = program
        self._verifier = verifier
        self._state = dict(program.state_dict)
        self._buffers = len(program.graph_signature.inputs_to_buffers)
        self._lifted: dict[tuple[Any, ...], Node] = {}
        self._lifted_specs: list[InputSpec] = []
        self._graph = Graph()
        self._options = TraceOptions(
            fake_mode_of(program),
            rules,
            skip_dim_order,
            keep,
            is_last_attempt=is_last_attempt,
        )
        self._tracer = GraphTracer(self._options, self._graph, self._lift_scalar)
        self._first_user_input: Node | None = None

    def run(self) -> ExportedProgram:
        source = self._program
        specs = input_specs(source.graph_signature)
        env: dict[Node, Any] = {}
        for node in source.graph.nodes:
            if node.op == "placeholder":
                env[node] = self._tracer.placeholder(node)
                is_input = specs[node.name].kind == InputKind.USER_INPUT
                if is_input and self._first_user_input is None:
                    self._first_user_input = env[node]
        placeholders = dict(env)
        first_call = self._graph.call_function(torch.ops.aten.alias.default, ())  # keeps the place
        if self._first_user_input is None:
            self._first_user_input = first_call
        outputs = list(self._tracer.run(source.graph_module, env))
        self._graph.erase_node(first_call)
        return self._assemble(outputs, placeholders)

    def _assemble(self, outputs: list[Any], placeholders: dict[Node, Node]) -> ExportedProgram:
        source = self._program
        signature = source.graph_signature
        specs, values = self._output_specs(outputs)
        output = self._graph.output(tuple(values))
        output.meta["val"] = map_values(tuple(values), Node, lambda node: node.meta.get("val"))
        remove_dead_calls(self._graph)
        input_specs = self._without_unused_parameters(
            self._input_specs(signature, placeholders), specs
        )
        program = ExportedProgram(
            root=dict(self._tracer.submodules),
            graph=self._graph,
            graph_signature=ExportGraphSignature(input_specs=input_specs, output_specs=specs),
            state_dict=self._state,
            range_constraints=dict(source.range_constraints),
            module_call_graph=source.module_call_graph,
            example_inputs=source.example_inputs,
            constants=dict(source.constants),
            verifiers=[self._verifier],
        )
        program.graph_module.meta.update(source.graph_module.meta)
        return program

    def _input_specs(
        self, signature: ExportGraphSignature, placeholders: dict[Node, Node]
    ) -> list[InputSpec]:
        """The source's inputs under the names they have here, with the lifted constants before the user's."""
        names = {node.name: value.name for node, value in placeholders.items()}
        specs = [
            dataclasses.replace(spec, arg=dataclasses.replace(spec.arg, name=names[spec.arg.name]))
            for spec in signature.input_specs
        ]
        place = next(
            (i for i, spec in enumerate(specs) if spec.kind == InputKind.USER_INPUT), len(specs)
        )
        return specs[:place] + self._lifted_specs + specs[place:]

    def _without_unused_parameters(
        self, specs: list[InputSpec], outputs: list[OutputSpec]
    ) -> list[InputSpec]:
        """Parameters that no node reads leave the program; buffers stay, since their names are state."""
        written = {spec.target for spec in outputs}
        placeholders = {node.name: node for node in self._graph.find_nodes(op="placeholder")}
        kept, dropped = [], []
        for spec in specs:
            node = placeholders[spec.arg.name]
            is_unused = spec.kind == InputKind.PARAMETER and not node.users
            if is_unused and spec.target not in written:
                self._graph.erase_node(node)
                dropped.append(spec.target)
            else:
                kept.append(spec)
        left = {spec.target for spec in kept}
        for target in dropped:
            if target not in left:
                self._state.pop(target, None)
        return kept

    def _output_specs(self, outputs: list[Any]) -> tuple[list[OutputSpec], list[Any]]:
        """New values of written buffers first, then what the source returned."""
        by_name = input_specs(self._program.graph_signature)
        written = self._tracer.written
        specs, values = [], []
        for placeholder, value in written.items():
            spec = by_name[placeholder.name]
            target = spec.target if spec.target is not None else placeholder.name
            kind = _MUTATION_OF.get(spec.kind)
            if kind is None:
                raise NeedsFullTrace(f"a write to {placeholder.name}, a constant")
            if (
                value in values
            ):  # one buffer under two names: each has memory of its own in a program
                value = self._tracer.own_copy(value)
            specs.append(OutputSpec(kind, TensorArgument(value.name), target))
            values.append(value)
        changed = {env.name for env in written}
        source_outputs = next(iter(reversed(self._program.graph.nodes))).args[0]
        for spec, value, origin in zip(
            self._program.graph_signature.output_specs, outputs, source_outputs, strict=True
        ):
            if self._needs_own_memory(spec, value, origin, changed):
                value = self._tracer.own_copy(value, origin)
            arg = spec.arg
            if isinstance(value, Node):
                arg = type(arg)(value.name) if hasattr(arg, "name") else TensorArgument(value.name)
            specs.append(OutputSpec(spec.kind, arg, spec.target))
            values.append(value)
        return specs, values

    def _needs_own_memory(
        self, spec: OutputSpec, value: Any, origin: Any, changed: set[str]
    ) -> bool:
        """An output that is an input's value by the removal of a copy, or a buffer's value before it is
        overwritten, must not share its memory."""
        if not isinstance(value, Node) or value.op != "placeholder":
            return False
        if not isinstance(value.meta.get("val"), torch.Tensor):
            return False
        return value.name in changed or (isinstance(origin, Node) and origin.op != "placeholder")

    def _lift_scalar(self, number: Number, dtype: torch.dtype) -> Node:
        key = (type(number), str(number), dtype)
        node = self._lifted.get(key)
        if node is None:
            node = self._lifted[key] = self._new_constant(number, dtype)
        return node

    def _new_constant(self, number: Number, dtype: torch.dtype) -> Node:
        """A buffer: passes and backends look for data there."""
        name = f"_lifted_tensor_constant{self._buffers + len(self._lifted)}"
        while name in self._state or name in self._program.constants:
            name += "_"
        tensor = torch.tensor(number, dtype=dtype)
        self._state[name] = tensor
        with self._graph.inserting_before(self._first_user_input):
            node = self._graph.placeholder(name)
        with self._options.fake_mode:
            node.meta["val"] = torch.empty((), dtype=dtype)
        if not isinstance(number, complex):  # no Scalar of a program is complex
            node.meta["lifted_scalar"] = number
        self._lifted_specs.append(
            InputSpec(InputKind.BUFFER, TensorArgument(node.name), name, persistent=True)
        )
        return node


def fake_mode_of(program: ExportedProgram) -> FakeTensorMode:
    mode = _mode_of_inputs(program.graph)
    return mode if mode is not None else FakeTensorMode(allow_non_fake_inputs=True)


def _mode_of_inputs(graph: Graph) -> FakeTensorMode | None:
    values = (
        node.meta["val"] for node in graph.nodes if node.op == "placeholder" and "val" in node.meta
    )
    return detect_fake_mode(list(values))


def shape_env_of(graph_module: GraphModule) -> ShapeEnv | None:
    """The environment of a graph's symbolic sizes; None when there are none."""
    mode = _mode_of_inputs(graph_module.graph)
    return mode.shape_env if mode is not None else None
