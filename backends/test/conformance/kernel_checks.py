# SPDX-License-Identifier: BSD-3-Clause
"""What every backend that is kernels must pass, as tests of a fixture `backend`: a KernelBackend. Its operators are
PyTorch's rules, its table tells the truth of what it takes, and programs compute what they did: by the operators in
PyTorch wherever the compiler runs, by the kernels where they are built."""

from __future__ import annotations

import copy
import functools
from collections.abc import Iterator
from typing import Any

import torch
from torch.export import Dim, ExportedProgram, export
from torch.utils import _pytree as pytree

from executorch.backends.test.conformance.backend import KernelBackend
from executorch.backends.test.conformance.lowered import load
from executorch.backends.test.conformance.models import Uses
from executorch.backends.test.conformance.needs import needs_runtime
from executorch.backends.test.corpus.lookalikes import LOOKALIKES
from executorch.backends.test.corpus.row import Row
from executorch.exir import EdgeProgramManager, to_edge, to_edge_transform_and_lower
from executorch.exir.backend.lowering.table_pass import TablePass
from executorch.exir.graph_facts import op_name

# ---- The operators ----

_FOR_EXPORT = ("test_schema", "test_faketensor")
_ALL_RULES = (
    "test_schema",
    "test_autograd_registration",
    "test_faketensor",
    "test_aot_dispatch_dynamic",
)


def test_every_operator_has_a_sample(backend: KernelBackend) -> None:
    assert set(backend.samples) == set(backend.operators.names())


def _operators(backend: KernelBackend) -> Iterator[tuple[Any, tuple[Any, ...]]]:
    namespace = getattr(torch.ops, backend.namespace)
    for name, sample in backend.samples.items():
        packet, _, overload = name.partition(".")
        yield getattr(getattr(namespace, packet), overload or "default"), sample


def test_operators_keep_the_rules_of_pytorch(backend: KernelBackend) -> None:
    """Arguments are not written, results are new, sizes and dtypes are known without values. Of those that programs
    call by name: what export asks."""
    for name, (operator, sample) in zip(backend.samples, _operators(backend), strict=True):
        tests = _FOR_EXPORT if name in backend.by_name else _ALL_RULES
        torch.library.opcheck(operator, sample, test_utils=tests)


class Calls(torch.nn.Module):
    """Each operator once: tensors of its sample are inputs, numbers are as they are."""

    def __init__(self, samples: list[tuple[Any, tuple[Any, ...]]]) -> None:
        super().__init__()
        self.samples = samples

    def tensors(self) -> tuple[torch.Tensor, ...]:
        values = [each for _, sample in self.samples for each in sample]
        return tuple(each for each in values if isinstance(each, torch.Tensor))

    def forward(self, *tensors: torch.Tensor) -> Any:
        given = iter(tensors)
        return [
            operator(*(next(given) if isinstance(each, torch.Tensor) else each for each in sample))
            for operator, sample in self.samples
        ]


def check_kernels(samples: list[tuple[Any, tuple[Any, ...]]], tolerance: float) -> None:
    """Runs all calls as one program, and compares each with what its operator gives in PyTorch."""
    calls = Calls(samples)
    edge = to_edge(export(calls, calls.tensors()))
    called = {op_name(node) for node in edge.exported_program().graph.nodes}
    assert {str(operator) for operator, _ in samples} <= called, "some are taken apart"
    found = iter(load(edge.to_executorch().buffer).run_method("forward", calls.tensors()))
    for operator, sample in samples:
        wanted = pytree.tree_leaves(operator(*sample))
        _check([next(found) for _ in wanted], wanted, tolerance, f"{operator}")


@needs_runtime
def test_kernels_give_what_operators_do(backend: KernelBackend) -> None:
    check_kernels([*_operators(backend)], backend.tolerance)


# ---- The table ----


def lowered(backend: KernelBackend, program: ExportedProgram) -> EdgeProgramManager:
    passes = backend.passes("forward", program)
    config = backend.edge_config()
    return to_edge_transform_and_lower(program, transform_passes=passes, compile_config=config)


def _exported(row: Row) -> ExportedProgram:
    with torch.no_grad():
        return export(row.module(), row.inputs, dynamic_shapes=row.shapes(), strict=False)


@functools.cache
def _rows(backend: KernelBackend) -> dict[str, tuple[Row, ExportedProgram, EdgeProgramManager]]:
    """Those of the hook, and those that look like what a careless table would take."""
    found = {}
    for row in (*backend.rows, *LOOKALIKES):
        program = _exported(row)
        found[row.name] = row, program, lowered(backend, program)
    return found


def _own(backend: KernelBackend, edge: EdgeProgramManager) -> list[str]:
    nodes = edge.exported_program().graph.nodes
    own = f"{backend.namespace}."
    return [op_name(node).removeprefix(own) for node in nodes if op_name(node).startswith(own)]


def test_rows_become_each_operator(backend: KernelBackend) -> None:
    """An operator that no program has is not tested by any."""
    made = {name for _, _, edge in _rows(backend).values() for name in _own(backend, edge)}
    known = {name if "." in name else f"{name}.default" for name in backend.operators.names()}
    by_name = {name if "." in name else f"{name}.default" for name in backend.by_name}
    assert made == known - by_name, (
        "give `rows` of the hook what becomes the others, and the library what is called"
    )


def _table_passes(backend: KernelBackend, program: ExportedProgram) -> list[TablePass]:
    return [each for each in backend.passes("forward", program) if isinstance(each, TablePass)]


def test_what_stays_has_a_reason_and_what_goes_has_none(backend: KernelBackend) -> None:
    """The reasons are those of the calls that stay: nothing with a reason is rewritten, and the other way round."""
    for name, (_, program, _) in _rows(backend).items():
        edge = to_edge(program, compile_config=backend.edge_config())
        graph_module = edge.exported_program().graph_module
        for each in backend.passes("forward", program):
            reasons = each.why_not(graph_module) if isinstance(each, TablePass) else {}
            assert all(reasons.values()), f"{name}: a reason without words"
            stays = {node.name for node in reasons}
            graph_module = each(graph_module).graph_module
            left = {node.name for node in graph_module.graph.nodes}
            assert stays <= left, f"{name}: {stays - left} had a reason to stay"


def test_nothing_is_left_for_a_second_time(backend: KernelBackend) -> None:
    """A table that takes what it has written would never end."""
    for name, (_, program, edge) in _rows(backend).items():
        graph_module = edge.exported_program().graph_module
        for each in _table_passes(backend, program):
            assert not each(graph_module).modified, name


def test_the_same_program_gives_the_same_bytes(backend: KernelBackend) -> None:
    for name, (row, program, edge) in _rows(backend).items():
        if _own(backend, edge):
            again = lowered(backend, program)
            assert edge.to_executorch().buffer == again.to_executorch().buffer, name
            assert lowered(backend, _exported(row)).to_executorch().buffer == (
                again.to_executorch().buffer
            ), name


# ---- Values ----


def _wanted(row: Row, backend: KernelBackend, inputs: tuple[Any, ...]) -> Any:
    return row.module()(*pytree.tree_map_only(torch.Tensor, torch.clone, inputs))


def test_operators_compute_what_the_calls_did(backend: KernelBackend) -> None:
    for name, (row, _, edge) in _rows(backend).items():
        module = edge.exported_program().module()
        for inputs in row.calls:
            given = pytree.tree_map_only(torch.Tensor, torch.clone, inputs)
            found = pytree.tree_leaves(module(*given))
            _check(found, _wanted(row, backend, inputs), row.tolerance, name, backend.step)


@needs_runtime
def test_programs_compute_what_the_calls_did(backend: KernelBackend) -> None:
    """On the kernels, for every size that a row has."""
    for name, (row, _, edge) in _rows(backend).items():
        loaded = load(edge.to_executorch().buffer)
        for inputs in row.calls:
            found = loaded.run_method("forward", pytree.tree_leaves(inputs))
            _check(found, _wanted(row, backend, inputs), row.tolerance, name, backend.step)


@needs_runtime
def test_kernels_of_programs_give_what_operators_do(backend: KernelBackend) -> None:
    """The same program twice: by PyTorch's operators and by the kernels."""
    for name, (row, _, edge) in _rows(backend).items():
        if not _own(backend, edge):
            continue
        module = edge.exported_program().module()
        loaded = load(edge.to_executorch().buffer)
        for inputs in row.calls:
            found = loaded.run_method("forward", pytree.tree_leaves(inputs))
            tolerance = backend.tolerance or row.tolerance  # other calls are PyTorch's and ours
            _check(found, module(*inputs), tolerance, name, int(bool(backend.tolerance)))


@needs_runtime
def test_results_are_right_however_they_are_used(backend: KernelBackend) -> None:
    ones, eager = (torch.ones(2, 2), torch.ones(2, 2)), Uses()
    program = export(copy.deepcopy(eager), ones)
    loaded = load(lowered(backend, program).to_executorch().buffer)
    for sign in (1, -1, 1):
        inputs = (sign * torch.rand(2, 2), torch.randn(2, 2))
        _check(loaded.run_method("forward", inputs), eager(*inputs), 1e-5, "uses")


def test_sizes_that_vary_stay_so(backend: KernelBackend) -> None:
    """A row with two sizes is rewritten, or left, and not narrowed to the example's sizes."""
    rows = Dim("rows", min=1, max=9)
    for name, (row, _, edge) in _rows(backend).items():
        tensors = [each for each in row.inputs if isinstance(each, torch.Tensor)]
        first = tensors[0].shape[:1] if tensors else ()
        same = first and all(each.shape[:1] == first and first[0] > 1 for each in tensors)
        if not (same and _own(backend, edge) and len(tensors) == len(row.inputs)):
            continue
        shapes = tuple({0: rows} for _ in tensors)
        module = row.module()
        try:
            program = export(module, tuple(tensors), dynamic_shapes=shapes)
        except Exception:  # the row asks for its sizes
            continue
        found = lowered(backend, program).exported_program().module()
        for size in (1, 9):
            inputs = tuple(
                each[:1].repeat(size, *[1] * (each.dim() - 1)).clone() for each in tensors
            )
            results = pytree.tree_leaves(found(*inputs))
            _check(results, module(*inputs), row.tolerance, name, backend.step)


def _check(found: list[Any], expected: Any, tolerance: float, name: str, step: int = 0) -> None:
    """`step`: of whole numbers, which are rounded."""
    wanted = pytree.tree_leaves(expected)
    for have, want in zip(found, wanted, strict=True):
        assert have.dtype == want.dtype and have.shape == want.shape, name
        if not want.is_floating_point():
            apart = (have.to(torch.int64) - want.to(torch.int64)).abs()
            is_small = want.dtype in (torch.int8, torch.uint8, torch.int16)
            most = int(apart.max()) if apart.numel() else 0
            assert most <= (step if is_small else 0), f"{name}: {most} apart"
            continue
        torch.testing.assert_close(
            have, want, rtol=tolerance, atol=tolerance, equal_nan=True, check_stride=False,
            msg=lambda text, n=name: f"{n}: {text}",
        )  # fmt: skip
