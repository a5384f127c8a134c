# SPDX-License-Identifier: BSD-3-Clause
"""What lands in a program: values, instructions, constants and the maps for tools, field by field."""

import copy
import json
import operator

import pytest
import torch
from torch._ops import HigherOrderOperator
from torch.export import Dim, export
from torch.fx import Graph

from executorch.exir import ExecutorchBackendConfig, memory, schema, to_edge
from executorch.exir._native import verify_program
from executorch.exir._serialize import _deserialize_pte_binary
from executorch.exir._serialize._program import read_program
from executorch.exir.emit import emit_program
from executorch.exir.emit._values import ArgumentWriter, ValueTable, boxed, signature_of
from executorch.exir.error import ExportError, InternalError
from executorch.exir.passes.memory_planning_pass import MemoryPlanningPass
from executorch.exir.scalar_type import ScalarType

Module = torch.nn.Module


def lower(model: Module, *inputs: object, config: ExecutorchBackendConfig | None = None, **options):
    program = to_edge(export(model, inputs, **options)).to_executorch(config)
    verify_program(program.buffer)
    return program


def only_plan(program) -> schema.ExecutionPlan:
    (plan,) = program.executorch_program.execution_plan
    return plan


def calls(plan: schema.ExecutionPlan) -> list[tuple[str, list[int]]]:
    """(operator.overload, args) of the kernel calls."""
    found = []
    for instruction in plan.chains[0].instructions:
        call = instruction.instr_args
        if isinstance(call, schema.KernelCall):
            op = plan.operators[call.op_index]
            found.append((f"{op.name}.{op.overload}" if op.overload else op.name, call.args))
    return found


def contents(plan: schema.ExecutionPlan, args: list[int]) -> list[schema.KernelTypes]:
    return [plan.values[arg].val for arg in args]


class Add(Module):
    def forward(self, x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        return torch.add(x, y, alpha=3)


def test_out_variant_call_repeats_its_result() -> None:
    plan = only_plan(lower(Add(), torch.randn(2, 3), torch.randn(3)))
    ((name, args),) = calls(plan)
    assert name == "aten::add.out"
    x, y, alpha, out, result = args
    assert [x, y] == plan.inputs
    assert [out] == [result] == plan.outputs
    assert plan.values[alpha].val == schema.Int(3)
    tensor = plan.values[out].val
    assert (tensor.scalar_type, tensor.sizes, tensor.dim_order) == (
        ScalarType.FLOAT,
        [2, 3],
        [0, 1],
    )
    assert tensor.shape_dynamism == schema.TensorShapeDynamism.STATIC
    assert (tensor.storage_offset, tensor.layout, tensor.data_buffer_idx) == (0, 0, 0)
    assert tensor.allocation_info is not None


def test_several_outs_come_as_a_list_behind_the_arguments() -> None:
    class Max(Module):
        def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
            return torch.max(x, 1)

    plan = only_plan(lower(Max(), torch.randn(2, 3)))
    ((name, args),) = calls(plan)
    assert name == "aten::max.dim_max"
    *inputs, values, indices, outs = args
    assert contents(plan, inputs[1:]) == [schema.Int(1), schema.Bool(False)]
    assert plan.values[outs].val == schema.TensorList([values, indices])
    assert plan.values[indices].val.scalar_type == ScalarType.LONG
    assert plan.outputs == [values, indices]


def test_list_out_and_boxed_int_list() -> None:
    class Split(Module):
        def forward(self, x: torch.Tensor) -> list[torch.Tensor]:
            return list(torch.split(x, [1, 2], 1))

    plan = only_plan(lower(Split(), torch.randn(2, 3)))
    ((name, (x, sizes, dim, out, result)),) = calls(plan)
    assert name == "aten::split_with_sizes_copy.out"
    assert contents(plan, plan.values[sizes].val.items) == [schema.Int(1), schema.Int(2)]
    assert plan.values[out].val == plan.values[result].val == schema.TensorList(plan.outputs)
    assert plan.values[dim].val == schema.Int(1)


def test_optional_tensor_list_and_null() -> None:
    class Index(Module):
        def forward(self, x: torch.Tensor, i: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
            return x[:, i], x.sum(0)

    plan = only_plan(lower(Index(), torch.randn(4, 4), torch.tensor([1, 2])))
    found = dict(calls(plan))
    _, indices, *_ = found["aten::index.Tensor_out"]
    assert plan.values[indices].val == schema.OptionalTensorList([-1, plan.inputs[1]])
    assert schema.Null() in contents(plan, found["aten::sum.IntList_out"])


def test_double_arguments_and_infinity() -> None:
    class Clamp(Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return torch.nn.functional.leaky_relu(x, 0.25).masked_fill(x > 1, float("-inf"))

    plan = only_plan(lower(Clamp(), torch.randn(3)))
    values = [value.val for value in plan.values]
    assert schema.Double(0.25) in values
    found = dict(calls(plan))
    assert "aten::leaky_relu.out" in found


def test_operators_are_listed_once() -> None:
    class Chain(Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return ((x * 2).exp() * 3).exp()

    plan = only_plan(lower(Chain(), torch.randn(3)))
    names = [(op.name, op.overload) for op in plan.operators]
    assert len(names) == len(set(names)) == 2
    assert len(plan.chains[0].instructions) == 4
    assert (plan.chains[0].inputs, plan.chains[0].outputs) == ([], [])


@pytest.mark.req("RT-025")
def test_cond_is_jumps_and_moves() -> None:
    class Choice(Module):
        def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
            return torch.cond(x.sum() > 0, lambda a: (a + 1, a * 2), lambda a: (a - 1, a / 2), (x,))

    plan = only_plan(lower(Choice(), torch.randn(3)))
    code = [instruction.instr_args for instruction in plan.chains[0].instructions]
    kinds = [type(call).__name__ for call in code]
    jumps = [index for index, kind in enumerate(kinds) if kind == "JumpFalseCall"]
    assert len(jumps) == 2
    to_false, over = (code[index] for index in jumps)
    assert to_false.destination_instruction == jumps[1] + 1
    assert over.destination_instruction == len(code)
    assert plan.values[to_false.cond_value_index].val.scalar_type == ScalarType.BOOL
    assert plan.values[over.cond_value_index].val == schema.Bool(False)
    for end in (jumps[1], len(code)):
        copies = code[end - 2 : end]
        assert [move.move_to for move in copies] == plan.outputs
        assert kinds[end - 2 : end] == ["MoveCall", "MoveCall"]


@pytest.mark.req("RT-024")
def test_dynamic_sizes_are_computed_by_prim_ops_and_views_made_at_run_time() -> None:
    class Rows(Module):
        def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, int]:
            return (x + 1).view(-1, 2) * 2, x.size(0)

    rows = Dim("rows", min=2, max=8)
    plan = only_plan(lower(Rows(), torch.randn(4, 4), dynamic_shapes={"x": {0: rows}}))
    found = dict(calls(plan))
    x, dim, size = found["aten::sym_size.int"]
    assert [x] == plan.inputs
    assert contents(plan, [dim, size]) == [schema.Int(0), schema.Int(0)]
    assert size in plan.outputs
    base, sizes, view = found["executorch_prim::et_view.default"]
    (added,) = (args[-1] for name, args in found.items() if name.startswith("aten::add."))
    assert added == base
    assert [plan.values[i].val.int_val for i in plan.values[sizes].val.items] == [-1, 2]
    assert plan.values[view].val.sizes == [16, 2]
    assert plan.values[view].val.shape_dynamism == schema.TensorShapeDynamism.DYNAMIC_BOUND


def test_a_size_known_at_run_time_has_a_slot_of_its_own() -> None:
    class Fill(Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return torch.full((x.size(0), 0 + 1), 7.0) + x

    rows = Dim("rows", min=2, max=8)
    plan = only_plan(lower(Fill(), torch.randn(4, 1), dynamic_shapes={"x": {0: rows}}))
    found = dict(calls(plan))
    size = found["aten::sym_size.int"][-1]
    items = [value.val.items for value in plan.values if isinstance(value.val, schema.IntList)]
    assert any(size in item for item in items)
    others = [args for name, args in calls(plan) if name != "aten::sym_size.int"]
    assert all(size not in args for args in others)  # nobody else writes it


def test_static_views_cost_nothing() -> None:
    class View(Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return (x + 1).view(6).unsqueeze(0) * 2

    plan = only_plan(lower(View(), torch.randn(2, 3)))
    (_, (*_, added)), (_, (viewed, *_)) = calls(plan)
    assert viewed != added
    assert plan.values[viewed].val.sizes == [1, 6]
    assert plan.values[viewed].val.allocation_info == plan.values[added].val.allocation_info


class Counter(Module):
    def __init__(self, start: torch.Tensor) -> None:
        super().__init__()
        self.register_buffer("count", start)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        self.count.add_(x)
        return self.count * 1


def mutable_tensor(plan: schema.ExecutionPlan) -> schema.Tensor:
    (copy_args,) = (args for name, args in calls(plan) if name == "aten::copy_")
    assert copy_args[0] == copy_args[-1]
    return plan.values[copy_args[0]].val


def test_mutable_buffer_starts_with_its_value() -> None:
    program = lower(Counter(torch.tensor([5.0, 0.0, -1.0])), torch.randn(3))
    tensor = mutable_tensor(only_plan(program))
    assert tensor.data_buffer_idx == 1
    assert tensor.allocation_info is not None
    assert tensor.extra_tensor_info is None
    data = _deserialize_pte_binary(program.buffer).mutable_data
    assert [buffer.storage for buffer in data] == [
        b"",
        torch.tensor([5.0, 0.0, -1.0]).numpy().tobytes(),
    ]


def test_zero_buffer_needs_no_data() -> None:
    program = lower(Counter(torch.zeros(3)), torch.randn(3))
    assert mutable_tensor(only_plan(program)).data_buffer_idx == 0
    assert read_program(program.buffer).mutable_data_segments is None


def test_negative_zero_is_not_zero() -> None:
    program = lower(Counter(torch.tensor([-0.0])), torch.randn(1))
    assert mutable_tensor(only_plan(program)).data_buffer_idx == 1


@pytest.mark.req("CMP-008")
def test_mutable_buffer_names_on_request() -> None:
    config = ExecutorchBackendConfig(emit_mutable_buffer_names=True)
    program = lower(Counter(torch.zeros(3)), torch.randn(3), config=config)
    info = mutable_tensor(only_plan(program)).extra_tensor_info
    assert info == schema.ExtraTensorInfo(fully_qualified_name="count")


def test_only_what_changes_is_named() -> None:
    class WithWeights(Counter):
        def __init__(self) -> None:
            super().__init__(torch.zeros(3))
            self.weight = torch.nn.Parameter(torch.ones(3))

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return super().forward(x) * self.weight

    config = ExecutorchBackendConfig(emit_mutable_buffer_names=True)
    plan = only_plan(lower(WithWeights(), torch.randn(3), config=config))
    tensors = [value.val for value in plan.values if isinstance(value.val, schema.Tensor)]
    named = [tensor.extra_tensor_info for tensor in tensors if tensor.extra_tensor_info]
    assert named == [schema.ExtraTensorInfo(fully_qualified_name="count")]


@pytest.mark.req("RT-009")
def test_constants_are_shared_and_not_copied() -> None:
    class Weights(Module):
        def __init__(self) -> None:
            super().__init__()
            self.a = torch.nn.Parameter(torch.randn(40, 40))
            self.b = torch.nn.Parameter(self.a.detach().clone())  # equal bytes
            self.c = torch.nn.Parameter(self.a.detach() + 1)
            self.d = self.a  # the same tensor

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return (x * self.a + self.b) * (x * self.c + self.d)

    model = Weights()
    program = lower(model, torch.randn(40, 40)).executorch_program
    assert len(program.constant_buffer) == 3
    assert len(program.constant_buffer[0].storage) == 0
    addresses = [buffer.storage.address for buffer in program.constant_buffer[1:]]
    assert addresses[1] == model.c.data_ptr()
    assert addresses[0] in (model.a.data_ptr(), model.b.data_ptr())


def test_a_constant_and_its_conjugate_lie_at_one_address_but_are_two() -> None:
    class Views(Module):
        def __init__(self) -> None:
            super().__init__()
            z, r = torch.tensor([1 + 2j, 3 - 4j]), torch.tensor([5.0, 6.0])
            for name, view in {
                "z": z,
                "zc": z.conj(),
                "r": r,
                "rn": torch._neg_view(r),
            }.items():
                self.register_buffer(name, view)

        def forward(self, x: torch.Tensor, y: torch.Tensor) -> list[torch.Tensor]:
            return [x + self.z, x + self.zc, y + self.r, y + self.rn]

    model = Views()
    program = lower(model, torch.zeros(2, dtype=torch.complex64), torch.zeros(2))
    stored = {bytes(buffer.storage) for buffer in program.executorch_program.constant_buffer[1:]}
    assert stored == {
        view.resolve_conj().resolve_neg().numpy().tobytes() for view in model.buffers()
    }


def test_transposed_and_channels_last_constants() -> None:
    class Layouts(Module):
        def __init__(self) -> None:
            super().__init__()
            self.t = torch.nn.Parameter(torch.arange(6.0).reshape(2, 3).t())
            weight = torch.arange(16.0).reshape(1, 4, 2, 2).to(memory_format=torch.channels_last)
            self.w = torch.nn.Parameter(weight)

        def forward(self, x: torch.Tensor, y: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
            return x + self.t, y + self.w

    y = torch.randn(1, 4, 2, 2).to(memory_format=torch.channels_last)
    model = Layouts()
    program = lower(model, torch.randn(3, 2), y)
    plan = only_plan(program)
    stored = {
        tuple(value.val.sizes): (
            value.val.dim_order,
            bytes(program.executorch_program.constant_buffer[value.val.data_buffer_idx].storage),
        )
        for value in plan.values
        if isinstance(value.val, schema.Tensor) and value.val.data_buffer_idx
    }
    for tensor in (model.t, model.w):
        order, data = stored[tuple(tensor.shape)]
        expected = tensor.detach().permute(order).contiguous().numpy().tobytes()
        assert data == expected


def test_inputs_and_outputs_of_every_kind() -> None:
    class Kinds(Module):
        def forward(self, x: torch.Tensor, n: int, f: float, b: bool, s: str, none: None):
            return {"out": [x + n, None], "flag": b}, x * f

    program = lower(Kinds(), torch.randn(2), 3, 0.5, True, "text", None)
    plan = only_plan(program)
    assert contents(plan, plan.inputs)[1:] == [
        schema.Int(3),
        schema.Double(0.5),
        schema.Bool(True),
        schema.String("text"),
        schema.Null(),
    ]
    assert contents(plan, plan.outputs)[1:3] == [schema.Null(), schema.Bool(True)]
    protocol, spec = json.loads(plan.container_meta_type.encoded_out_str)
    assert protocol == 1
    assert spec["type"] == "builtins.tuple"
    assert spec["children_spec"][0]["type"] == "builtins.dict"
    _, inputs = json.loads(plan.container_meta_type.encoded_inp_str)
    assert [child["type"] for child in inputs["children_spec"]] == [
        "builtins.tuple",
        "builtins.dict",
    ]


def test_container_without_a_name_becomes_a_tuple(caplog: pytest.LogCaptureFixture) -> None:
    class TopK(Module):
        def forward(self, x: torch.Tensor):
            return torch.topk(x, 2)

    plan = only_plan(lower(TopK(), torch.randn(4)))
    _, spec = json.loads(plan.container_meta_type.encoded_out_str)
    assert spec["type"] == "builtins.tuple"
    assert len(spec["children_spec"]) == len(plan.outputs) == 2


@pytest.mark.req("CMP-041")
def test_methods_are_sorted_and_constant_methods_follow() -> None:
    x = torch.randn(2)
    methods = {"b": export(Add(), (x, x)), "a": export(Counter(torch.zeros(2)), (x,))}
    getters = {
        "size": 7,
        "scale": 0.5,
        "on": True,
        "name": "n",
        "type": torch.int64,
        "pair": (1, [2.0, "x"]),
        "table": torch.arange(3),
    }
    program = to_edge(methods, constant_methods=getters).to_executorch().executorch_program
    plans = program.execution_plan
    assert [plan.name for plan in plans] == ["a", "b", *getters]
    by_name = {plan.name: plan for plan in plans}
    values = {name: contents(by_name[name], by_name[name].outputs) for name in getters}
    assert values["size"] == [schema.Int(7)]
    assert values["scale"] == [schema.Double(0.5)]
    assert values["on"] == [schema.Bool(True)]
    assert values["name"] == [schema.String("n")]
    assert values["type"] == [schema.Int(ScalarType.LONG)]
    assert values["pair"] == [schema.Int(1), schema.Double(2.0), schema.String("x")]
    (table,) = values["table"]
    stored = program.constant_buffer[table.data_buffer_idx].storage
    assert bytes(stored) == torch.arange(3).numpy().tobytes()
    for name in getters:
        plan = by_name[name]
        assert (plan.inputs, plan.operators, plan.delegates) == ([], [], [])
        assert plan.non_const_buffer_sizes == [0]
        assert [chain.instructions for chain in plan.chains] == [[]]
        assert plan.container_meta_type.encoded_inp_str == ""


@pytest.mark.req("CMP-008", "CMP-034")
def test_external_constants_go_to_data_files(tmp_path) -> None:
    class Scale(Module):
        def __init__(self) -> None:
            super().__init__()
            self.weight = torch.nn.Parameter(torch.randn(500))
            self.bias = torch.nn.Parameter(torch.randn(500))

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return x * self.weight + self.bias

    config = ExecutorchBackendConfig(external_constants=True)
    model = Scale()
    program = lower(model, torch.randn(500), config=config)
    infos = {
        value.val.extra_tensor_info.fully_qualified_name: value.val
        for value in only_plan(program).values
        if isinstance(value.val, schema.Tensor) and value.val.extra_tensor_info is not None
    }
    assert set(infos) == {"weight", "bias"}
    for tensor in infos.values():
        assert tensor.extra_tensor_info.location == schema.TensorDataLocation.EXTERNAL
        assert tensor.allocation_info is None
    program.write_tensor_data_to_file(str(tmp_path))
    (data_file,) = tmp_path.iterdir()
    assert data_file.suffix == ".ptd"
    assert model.weight.detach().numpy().tobytes() in data_file.read_bytes()
    assert len(program.buffer) < 2000 + 500


@pytest.mark.req("CMP-008")
def test_stack_traces_on_request() -> None:
    config = ExecutorchBackendConfig(emit_stacktrace=True)
    plan = only_plan(lower(Add(), torch.randn(3), torch.randn(3), config=config))
    (frames,) = plan.chains[0].stacktrace
    frame = frames.items[-1]
    assert frame.filename.endswith("emit_program_test.py")
    assert frame.name == "forward"
    assert "torch.add(x, y, alpha=3)" in frame.context
    assert frame.lineno > 0
    assert only_plan(lower(Add(), torch.randn(3), torch.randn(3))).chains[0].stacktrace is None


def test_maps_for_tools() -> None:
    program = lower(Add(), torch.randn(3), torch.randn(3))
    method = program.exported_program()
    for number, node in enumerate(method.graph.nodes):
        node.meta["debug_handle"] = number
    output = emit_program(method)
    (call,) = (n for n in method.graph.nodes if n.target == torch.ops.aten.add.out)
    assert output.debug_handle_map == {"forward": {0: call.meta["debug_handle"]}}
    assert output.instruction_id_to_num_outs_map == {"forward": {}}  # delegate calls
    assert output.method_to_delegate_debug_id_map == {"forward": {}}


def test_emission_leaves_the_method_alone_and_repeats() -> None:
    method = lower(Add(), torch.randn(3), torch.randn(3)).exported_program()
    before = str(method.graph)
    assert emit_program(method) == emit_program(method)
    assert str(method.graph) == before


def test_program_can_be_copied() -> None:
    program = lower(Counter(torch.ones(3)), torch.randn(3)).executorch_program
    assert copy.deepcopy(program) == program


def test_unplanned_method_is_an_error() -> None:
    method = lower(Add(), torch.randn(3), torch.randn(3)).exported_program()
    del method.graph_module.meta["non_const_buffer_sizes"]
    with pytest.raises(ExportError, match="method forward has no memory plan"):
        emit_program(method)
    with pytest.raises(RuntimeError, match="Must set 'non_const_buffer_sizes' in graph meta"):
        emit_program(method)
    with pytest.raises(ExportError, match="Did not receive ExportedProgram .*forward"):
        emit_program(method.graph_module)


def test_name_of_method_and_constant_method_clash() -> None:
    method = lower(Add(), torch.randn(3), torch.randn(3)).exported_program()
    with pytest.raises(ExportError, match=r"both a method and a constant method: \['forward'\]"):
        emit_program(method, prim_getters={"forward": 1})


def test_foreign_call_is_named() -> None:
    method = lower(Add(), torch.randn(3), torch.randn(3)).exported_program()
    graph: Graph = method.graph
    with graph.inserting_before(graph.output_node()):
        node = graph.call_function(operator.matmul, tuple(graph.find_nodes(op="placeholder")))
    node.meta["stack_trace"] = 'File "model.py", line 3, in forward'
    with pytest.raises(ExportError, match=r"(?s)node matmul: .*matmul.* cannot stand.*model\.py"):
        emit_program(method)


def test_functional_operator_is_our_bug() -> None:
    method = lower(Add(), torch.randn(3), torch.randn(3)).exported_program()
    for node in method.graph.find_nodes(op="call_function", target=torch.ops.aten.add.out):
        node.target, node.kwargs = torch.ops.aten.add.Tensor, {}
    with pytest.raises(InternalError, match="expected an out-variant"):
        emit_program(method)


def test_free_nodes_become_free_calls() -> None:
    method = lower(Add(), torch.randn(3), torch.randn(3)).exported_program()
    graph: Graph = method.graph
    with graph.inserting_before(graph.output_node()):
        graph.call_function(memory.free, (next(iter(graph.nodes)),))
    (plan,) = emit_program(method).program.execution_plan
    assert plan.chains[0].instructions[-1].instr_args == schema.FreeCall(plan.inputs[0])


def test_constants_of_different_type_or_sign_are_different_values() -> None:
    table = ValueTable()
    items = [0, 0.0, -0.0, False, "0", None, 1, True, 1.0, float("nan"), torch.int8, torch.strided]
    indices = [table.constant(item) for item in items]
    assert len(set(indices)) == len(items)
    assert [table.constant(item) for item in items] == indices
    assert str(table.values[indices[2]].val) == "Double(double_val=-0.0)"


class _CallDelegate(HigherOrderOperator):
    def __init__(self) -> None:
        super().__init__("executorch_call_delegate")

    def __call__(self, *args: object) -> object:
        return super().__call__(*args)


class _Lowered(torch.nn.Module):
    """What a backend leaves in the graph, as far as emission looks at it."""

    def __init__(self, blob: bytes, original: torch.export.ExportedProgram) -> None:
        super().__init__()
        self.backend_id = "demo"
        self.processed_bytes = blob
        self.compile_specs = [schema.CompileSpec("key", b"value")]
        self.original_module = original
        self.meta = {"debug_handle_map": {0: (1, 2)}}


def test_delegate_calls_share_equal_blobs() -> None:
    class Chain(Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return (x * 2) * 3

    method = lower(Chain(), torch.randn(3)).exported_program()
    graph: Graph = method.graph
    operation = getattr(torch.ops.higher_order, "executorch_call_delegate", None)
    operation = operation or _CallDelegate()
    for number, node in enumerate(
        graph.find_nodes(op="call_function", target=torch.ops.aten.mul.Scalar_out)
    ):
        name = f"lowered_module_{number}"
        setattr(method.graph_module, name, _Lowered(b"blob", method))
        with graph.inserting_before(node):
            module = graph.get_attr(name)
            call = graph.call_function(operation, (module, node.args[0]))
            item = graph.call_function(operator.getitem, (call, 0))
        call.meta.update(val=[node.meta["val"]], spec=[node.meta["spec"]], debug_handle=number)
        item.meta.update(val=node.meta["val"], spec=node.meta["spec"])
        node.replace_all_uses_with(item)
        graph.erase_node(node)
    MemoryPlanningPass().run(method.graph_module, method.graph_signature)
    output = emit_program(method)
    (plan,) = output.program.execution_plan
    code = [instruction.instr_args for instruction in plan.chains[0].instructions]
    (x,), (result,) = plan.inputs, plan.outputs
    middle = code[0].args[1]
    assert code == [schema.DelegateCall(0, [x, middle]), schema.DelegateCall(1, [middle, result])]
    inline = schema.BackendDelegateDataReference(schema.DataLocation.INLINE, 0)
    delegate = schema.BackendDelegate("demo", inline, [schema.CompileSpec("key", b"value")])
    assert plan.delegates == [delegate, delegate]
    assert [blob.data for blob in output.program.backend_delegate_data] == [b"blob"]
    assert plan.values[middle].val.allocation_info is not None
    assert output.method_to_delegate_debug_id_map["forward"][1] == {
        "name": "demo",
        "delegate_map": {0: (1, 2)},
    }
    assert output.instruction_id_to_num_outs_map == {"forward": {0: 1, 1: 1}}


def test_symbolic_size_without_a_node_is_an_error() -> None:
    x = torch.randn(4)
    program = export(torch.nn.ReLU(), (x,), dynamic_shapes=({0: Dim("n", min=2, max=8)},))
    (placeholder,) = program.graph.find_nodes(op="placeholder")
    size = placeholder.meta["val"].shape[0]
    assert isinstance(size, torch.SymInt)
    with pytest.raises(ExportError, match="SymInt .* cannot be stored"):
        ArgumentWriter(ValueTable(), {}).int_list([size])


@pytest.mark.parametrize("value", [object(), 1j, torch.device("cpu"), b"bytes"])
def test_values_without_a_form_are_errors(value: object) -> None:
    with pytest.raises(ExportError, match="cannot be stored in a program"):
        boxed(value)


def test_signature_knows_outs_and_defaults() -> None:
    signature = signature_of(torch.ops.aten.sum.IntList_out)
    by_name = {parameter.name: parameter for parameter in signature.parameters}
    assert by_name["out"].is_out
    assert by_name["dim"].is_list
    assert by_name["keepdim"].default is False
    assert (signature.name, signature.overload) == ("aten::sum", "IntList_out")
