# SPDX-License-Identifier: BSD-3-Clause
"""One walk over a planned method: every node appends values and instructions to an execution plan."""

import operator
import warnings
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import torch
from torch.export import ExportedProgram
from torch.export.graph_signature import InputKind
from torch.fx import GraphModule, Node
from torch.utils import _pytree as pytree

from executorch.exir import memory, schema
from executorch.exir.emit._containers import container_metadata
from executorch.exir.emit._input_dimensions import input_dimensions, output_dimensions
from executorch.exir.emit._names import input_names, lines_of, output_names
from executorch.exir.emit._program_state import ProgramState
from executorch.exir.emit._stack_frames import frames_of
from executorch.exir.emit._training import USER_OUTPUTS
from executorch.exir.emit._values import ArgumentWriter, NodeValue, ValueTable, boxed, signature_of
from executorch.exir.error import ExportError, ExportErrorType, InternalError
from executorch.exir.graph_facts import called_op, changed_inputs, changing_data
from executorch.exir.tensor import TensorSpec, make_allocation_info, make_tensor_value
from executorch.exir.tensor import dim_order_from_stride as dim_order_from_stride

# Names for what stands in signatures.
_DelegateDebugIdentifierMap = dict[int, tuple[int, ...]] | dict[str, tuple[int, ...]]
_Target = Callable[..., Any] | str
_Argument = Any
Lowering = Callable[["MethodEmitter", Node], None]
_ET_VIEW = schema.Operator("executorch_prim::et_view", "default")


class NotPlanned(ExportError, RuntimeError):
    """A method whose tensors have no place in memory yet."""


@dataclass
class MethodRecord:
    """What tools want to know of a method's instructions; keys are instruction indices."""

    debug_handles: dict[int, int | list[int]] = field(default_factory=dict)
    delegate_maps: dict[int, dict[str, Any]] = field(default_factory=dict)
    num_outs: dict[int, int] = field(default_factory=dict)


@dataclass(frozen=True)
class EmitOptions:
    stacktrace: bool = False
    mutable_buffer_names: bool = False


class MethodEmitter:
    """Emits one method. `state` is shared by all methods of the program; `higher_order` lowers what
    is no operator."""

    def __init__(
        self,
        name: str,
        program: ExportedProgram,
        state: ProgramState,
        options: EmitOptions,
        higher_order: dict[str, Lowering],
    ) -> None:
        self.name = name
        self.record = MethodRecord()
        self.table = ValueTable()
        self.value_of: dict[Node, NodeValue] = {}
        self.arguments = ArgumentWriter(self.table, self.value_of)
        self._program = program
        self._state = state
        self._options = options
        # Tensors that point at run time to another place than the planned one: results of torch.cond.
        self.moved: set[int] = set()
        self._higher_order = higher_order
        self._instructions: list[schema.Instruction] = []
        self._frames: list[schema.FrameList] | None = [] if options.stacktrace else None
        self._operators: list[schema.Operator] = []
        self._operator_index: dict[tuple[str, str], int] = {}
        self._delegates: list[schema.BackendDelegate] = []
        self._node: Node | None = None  # being emitted
        self._user_inputs: list[Node] = []

    def emit(self) -> schema.ExecutionPlan:
        module = self._program.graph_module
        sizes = module.meta.get("non_const_buffer_sizes")
        if sizes is None:
            raise NotPlanned(
                ExportErrorType.MISSING_PROPERTY,
                f"Must set 'non_const_buffer_sizes' in graph meta: method {self.name} has no memory plan; run "
                "MemoryPlanningPass before emission",
            )
        inputs = self._emit_placeholders()
        returned = self._returned(self.emit_graph(module))
        changed = self._changed_inputs()
        names = input_names(self._program, self._user_inputs)
        name_of = dict(zip(self._user_inputs, names, strict=True))
        outputs = [*map(self.index_of, changed), *map(self._output, returned)]
        chain = schema.Chain(
            inputs=[], outputs=[], instructions=self._instructions, stacktrace=self._frames
        )
        return schema.ExecutionPlan(
            name=self.name,
            container_meta_type=container_metadata(self._program),
            values=self.table.values,
            inputs=inputs,
            outputs=outputs,
            chains=[chain],
            operators=self._operators,
            delegates=self._delegates,
            non_const_buffer_sizes=list(sizes),
            non_const_buffer_device=module.meta.get("non_const_buffer_device"),
            input_dimensions=input_dimensions(self._program, self._user_inputs),
            input_name_lines=lines_of(names),
            output_name_lines=lines_of(
                [*map(name_of.__getitem__, changed), *output_names(self._program, len(returned))]
            ),
            output_dimensions=output_dimensions(self._program, [*changed, *returned]),
        )

    # ---- For the lowering functions ----

    @property
    def next_instruction(self) -> int:
        return len(self._instructions)

    def append(self, call: schema.InstructionArguments, num_outs: int = 0) -> int:
        """Adds an instruction of the current node; returns its index."""
        index = len(self._instructions)
        self._instructions.append(schema.Instruction(call))
        if self._node is not None:
            if self._frames is not None:
                self._frames.append(frames_of(self._node))
            handle = self._node.meta.get("debug_handle")
            if handle is not None:
                self.record.debug_handles[index] = handle
        if isinstance(call, schema.DelegateCall):
            self.record.num_outs[index] = num_outs
        return index

    def kernel_call(self, name: str, overload: str, args: list[int], num_outs: int) -> None:
        key = (name, overload)
        index = self._operator_index.get(key)
        if index is None:
            index = self._operator_index[key] = len(self._operators)
            self._operators.append(schema.Operator(name, overload))
        self.append(schema.KernelCall(index, args), num_outs)

    def add_delegate(self, delegate: schema.BackendDelegate) -> int:
        self._delegates.append(delegate)
        return len(self._delegates) - 1

    def add_blob(self, blob: bytes) -> int:
        return self._state.add_delegate_blob(blob)

    def new_tensor(self, spec: TensorSpec, data_buffer_idx: int = 0) -> int:
        """A slot for a tensor in the place that planning gave it."""
        allocation = None
        if spec.mem_id is not None and not spec.const:
            allocation = make_allocation_info(spec.mem_id, spec.mem_offset)
        return self.table.add(make_tensor_value(data_buffer_idx, allocation, spec))

    def new_slot(self, spec: Any, value: Any) -> int:
        """A slot for what a node yields: a tensor, or a scalar known at run time."""
        if isinstance(spec, TensorSpec):
            return self.new_tensor(spec)
        return self.table.add(_run_time_scalar(value))

    def new_slots(self, node: Node) -> list[int]:
        """Slots for each thing that `node` yields."""
        specs, values = node.meta.get("spec"), node.meta["val"]
        if not isinstance(values, list | tuple):
            specs, values = [specs], [values]
        return [self.new_slot(spec, value) for spec, value in zip(specs, values, strict=True)]

    def index_of(self, value: Any) -> int:
        """The slot of a node, or of a constant."""
        if not isinstance(value, Node):
            return self.table.constant(value)
        index = self.value_of[value]
        if isinstance(index, list):
            raise InternalError(f"node {value} of method {self.name} is a list, expected one value")
        return index

    def emit_graph(self, module: GraphModule) -> list[Any]:
        """Emits all but placeholders, which have their values already; gives the graph's output
        arguments."""
        outer = self._node
        outputs: list[Any] = []
        for node in module.graph.nodes:
            self._node = node
            if node.op == "call_function":
                self._emit_call(node)
            elif node.op == "get_attr":
                self._emit_attribute(module, node)
            elif node.op == "output":
                outputs = pytree.tree_leaves(node.args[0], is_leaf=lambda leaf: leaf is None)
            elif node.op != "placeholder":
                raise InternalError(
                    f"node {node.format_node()} of method {self.name} is a {node.op}"
                )
        self._node = outer
        return outputs

    # ---- Placeholders and outputs ----

    def _emit_placeholders(self) -> list[int]:
        """Values for all placeholders; gives those of the user's inputs."""
        signature = self._program.graph_signature
        mutable = changing_data(signature)
        placeholders = self._program.graph_module.graph.find_nodes(op="placeholder")
        inputs = []
        for node, spec in zip(placeholders, signature.input_specs, strict=True):
            if spec.kind == InputKind.USER_INPUT:
                self.value_of[node] = self._user_input(node)
                self._user_inputs.append(node)
                inputs.append(self.value_of[node])
            elif spec.kind in (InputKind.PARAMETER, InputKind.BUFFER, InputKind.CONSTANT_TENSOR):
                # What another method writes has a place, too (share_mutable_buffers).
                is_mutable = spec.target in mutable or node.meta["spec"].mem_id is not None
                self.value_of[node] = self._data(node, spec.target, is_mutable)
            else:
                raise ExportError(
                    ExportErrorType.NOT_SUPPORTED,
                    f"input {node.name} of method {self.name} is a {spec.kind.name}; "
                    "only tensors, numbers, strings and None can be inputs of a program",
                )
        return inputs

    def _user_input(self, node: Node) -> int:
        spec, value = node.meta.get("spec"), node.meta.get("val")
        if isinstance(spec, TensorSpec):
            return self.new_tensor(spec)
        if isinstance(value, torch.SymInt | torch.SymFloat | torch.SymBool):
            if not value.node.has_hint():
                return self.table.add(_run_time_scalar(value))
            value = value.node.hint
        return self.table.add(boxed(value))

    def _data(self, node: Node, name: str, is_mutable: bool) -> int:
        """A parameter, buffer or lifted constant."""
        spec: TensorSpec = node.meta["spec"]
        tensor = self._program.state_dict.get(name)
        if tensor is None:
            tensor = self._program.constants.get(name)
        if tensor is None:
            raise ExportError(
                ExportErrorType.MISSING_PROPERTY,
                f"method {self.name}: the program has no tensor for {name} (placeholder {node.name})",
            )
        tag = node.meta.get("constant_tag")
        if tag is not None:
            buffer = self._state.add_external_constant(tensor, spec, tag, name)
        elif is_mutable:
            if spec.mem_id is None and not self._options.mutable_buffer_names:
                raise InternalError(
                    f"method {self.name}: buffer {name} has neither memory (alloc_mutable_buffers=False) nor a name in "
                    "the file, so that nobody could give it any; set "
                    "ExecutorchBackendConfig(emit_mutable_buffer_names=True)"
                )
            buffer = self._state.add_initial_data(tensor, spec) if spec.mem_id is not None else 0
        else:
            buffer = self._state.add_constant(tensor, spec)
        index = self.new_tensor(spec, buffer)
        value = self.table.tensor(index)
        if not is_mutable:
            value.allocation_info = None
        if tag is not None:
            location = schema.TensorDataLocation.EXTERNAL
            value.extra_tensor_info = schema.ExtraTensorInfo(
                fully_qualified_name=name, location=location
            )
        elif is_mutable and self._options.mutable_buffer_names:
            value.extra_tensor_info = schema.ExtraTensorInfo(fully_qualified_name=name)
        return index

    def _returned(self, arguments: list[Any]) -> list[Any]:
        """What the user gets; written-back buffers may or may not stand among the outputs."""
        kinds = [spec.kind for spec in self._program.graph_signature.output_specs]
        if len(kinds) == len(arguments):
            arguments = [
                argument
                for argument, kind in zip(arguments, kinds, strict=True)
                if kind in USER_OUTPUTS
            ]
        expected = sum(kind in USER_OUTPUTS for kind in kinds)
        if len(arguments) != expected:
            raise InternalError(
                f"method {self.name}: {len(arguments)} outputs, but the signature has {expected}"
            )
        return arguments

    def _output(self, argument: Any) -> int:
        if isinstance(argument, Node):
            return self.index_of(argument)
        return self.table.add(boxed(argument))

    def _changed_inputs(self) -> list[Node]:
        """Inputs that the method writes are outputs before all others, in their order: a caller whose tensor was
        copied into planned memory finds the new value there."""
        changed = changed_inputs(self._program.graph_signature)
        if changed:
            warnings.warn(
                f"method {self.name} changes its inputs {', '.join(changed)}: their new values are outputs before "
                "those of the model. An input that is not memory-planned (alloc_graph_input=False) is changed in the "
                "caller's memory as well",
                stacklevel=2,
            )
        return [node for node in self._user_inputs if node.name in changed]

    def _emit_attribute(self, module: GraphModule, node: Node) -> None:
        """Tensors become constants; submodules are looked up by those who call them."""
        attribute = operator.attrgetter(node.target)(module)
        if isinstance(attribute, torch.Tensor):
            spec = node.meta.get("spec") or TensorSpec.from_tensor(attribute, const=True)
            buffer = self._state.add_constant(attribute, spec)
            self.value_of[node] = self.table.add(make_tensor_value(buffer, None, spec))

    # ---- Calls ----

    def _emit_call(self, node: Node) -> None:
        lower = _LOWERINGS.get(node.target)
        if lower is None and isinstance(node.target, torch._ops.HigherOrderOperator):
            lower = self._higher_order.get(node.target.name())
        op = called_op(node)
        if lower is not None:
            lower(self, node)
        elif op is not None:
            self._emit_operator(node, op)
        else:
            raise ExportError(
                ExportErrorType.NOT_SUPPORTED,
                f"method {self.name}, node {node.name}: {node.target} cannot stand in a "
                "program; expected an operator, torch.cond or a delegate call\n"
                f"{node.meta.get('stack_trace') or ''}",
            )

    def _emit_operator(self, node: Node, op: torch._ops.OpOverload) -> None:
        signature = signature_of(op)
        args: list[int] = []
        written: list[int] = []
        for position, parameter in enumerate(signature.parameters):
            if position < len(node.args):
                value = node.args[position]
            else:
                value = node.kwargs.get(parameter.name, parameter.default)
            index = self.arguments.argument(value, parameter)
            args.append(index)
            if parameter.is_result:
                written.append(index)
        if signature.returns == 0:
            self.kernel_call(signature.name, signature.overload, [*args, *written], len(written))
        elif not signature.returns_tensors:
            result = self.new_slot(None, node.meta["val"])
            self.value_of[node] = result
            self.kernel_call(signature.name, signature.overload, [*args, result], 1)
        elif not written:
            raise InternalError(
                f"method {self.name}, node {node.name}: {op} writes none of its "
                "arguments; expected an out-variant"
            )
        else:
            self.value_of[node] = self._results(written, signature.returns)
            last = written[0]
            if signature.returns > 1:
                last = self.table.constant_list(schema.TensorList, written[: signature.returns])
            self.kernel_call(signature.name, signature.overload, [*args, last], signature.returns)

    def _results(self, written: list[int], returns: int) -> NodeValue:
        if returns > 1:
            return written[:returns]
        content = self.table.values[written[0]].val
        return content.items if isinstance(content, schema.TensorList) else written[0]


def _run_time_scalar(value: Any) -> schema.KernelTypes:
    """The placeholder of a scalar that an instruction computes."""
    if isinstance(value, torch.SymBool | bool):
        return schema.Bool(False)
    if isinstance(value, torch.SymFloat | float):
        return schema.Double(0.0)
    if isinstance(value, torch.SymInt | int):
        return schema.Int(0)
    raise InternalError(f"a scalar was expected, the graph has a {type(value).__name__}")


def _emit_alloc(emitter: MethodEmitter, node: Node) -> None:
    spec = node.meta["spec"]
    if isinstance(spec, list | tuple):
        emitter.value_of[node] = [emitter.new_tensor(one) for one in spec]
    else:
        emitter.value_of[node] = emitter.new_tensor(spec)


def _emit_view(emitter: MethodEmitter, node: Node) -> None:
    """A view whose place and sizes are known costs nothing; any other asks the runtime to make it."""
    base_node, size = node.args
    base_index = emitter.index_of(base_node)
    base = emitter.table.tensor(base_index)
    spec: TensorSpec = node.meta["spec"]
    is_moved = base_index in emitter.moved
    view = make_tensor_value(0, None if is_moved else base.allocation_info, spec)
    is_external = base.extra_tensor_info is not None and (
        base.extra_tensor_info.location == schema.TensorDataLocation.EXTERNAL
    )
    is_constant = base.allocation_info is None and base.data_buffer_idx > 0 and not is_external
    is_static = base.shape_dynamism == view.shape_dynamism == schema.TensorShapeDynamism.STATIC
    if is_constant:
        view.data_buffer_idx = base.data_buffer_idx
    index = emitter.value_of[node] = emitter.table.add(view)
    if not (is_static and (is_constant or view.allocation_info is not None)):
        view.data_buffer_idx = 0
        args = [base_index, emitter.arguments.int_list(list(size)), index]
        emitter.kernel_call(_ET_VIEW.name, _ET_VIEW.overload, args, 1)


def _emit_getitem(emitter: MethodEmitter, node: Node) -> None:
    source, position = node.args
    values = emitter.value_of[source]
    if not isinstance(values, list):
        if position != 0:
            raise InternalError(f"{node.format_node()}: item {position} of a single value")
        values = [values]
    emitter.value_of[node] = values[position]


def _emit_free(emitter: MethodEmitter, node: Node) -> None:
    emitter.append(schema.FreeCall(emitter.index_of(node.args[0])))


_LOWERINGS: dict[Any, Lowering] = {
    memory.alloc: _emit_alloc,
    memory.view: _emit_view,
    memory.free: _emit_free,
    operator.getitem: _emit_getitem,
}
