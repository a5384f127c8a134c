# SPDX-License-Identifier: BSD-3-Clause
"""Memory of devices as upstream plans it: the same copies, tensors and arenas; its files are read here up to the memory
of a device that this build does not have (backends/cuda's tests have one)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from executorch.exir._serialize._program import deserialize_pte_binary
from executorch.exir.schema import DelegateCall, KernelCall, Tensor
from executorch.runtime import Runtime
from executorch.test.interop import peer
from executorch.test.interop.device_plans import PROGRAMS

pytestmark = pytest.mark.interop
SCRIPT = Path(__file__).with_name("device_plans.py")


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """Upstream's files, and ours."""
    theirs, ours = tmp_path_factory.mktemp("theirs"), tmp_path_factory.mktemp("ours")
    peer.run(SCRIPT, theirs)
    peer.run_here(SCRIPT, ours)
    return theirs, ours


def plan_of(path: Path) -> dict[str, Any]:
    """What a file says of memory, without offsets and the numbers of values."""
    (plan,) = deserialize_pte_binary(path.read_bytes()).program.execution_plan
    values = [value.val for value in plan.values]

    def tensor(index: int) -> tuple[Any, ...]:
        value = values[index]
        if not isinstance(value, Tensor):
            return (type(value).__name__,)
        extra, planned = value.extra_tensor_info, value.allocation_info
        where = (extra.device_type.name, extra.device_index) if extra else ("CPU", 0)
        return (*where, tuple(value.sizes), value.shape_dynamism, planned and planned.memory_id)

    steps = []
    for instruction in plan.chains[0].instructions:
        call = instruction.instr_args
        if isinstance(call, KernelCall):
            operator = plan.operators[call.op_index]
            steps.append((f"{operator.name}.{operator.overload}", *map(tensor, call.args)))
        elif isinstance(call, DelegateCall):
            steps.append((plan.delegates[call.delegate_index].id, *map(tensor, call.args)))
    # Ours copies a result back once it is there, upstream's where it is read: in any order.
    return {
        "steps": sorted(steps, key=repr),
        "inputs": [tensor(index) for index in plan.inputs],
        "outputs": [tensor(index) for index in plan.outputs],
        "arenas": len(plan.non_const_buffer_sizes),
        "devices": [
            (each.buffer_idx, each.device_type.name, each.device_index)
            for each in plan.non_const_buffer_device or []
        ],
    }


@pytest.mark.parametrize("name", PROGRAMS)
def test_plans_are_upstreams(folders: tuple[Path, Path], name: str) -> None:
    theirs, ours = (plan_of(folder / f"{name}.pte") for folder in folders)
    assert any("CUDA" in step for call in theirs["steps"] for step in call[1:])
    assert ours == theirs


@pytest.mark.parametrize("name", PROGRAMS)
def test_upstreams_files_load(folders: tuple[Path, Path], name: str) -> None:
    program = Runtime.get().load_program(folders[0] / f"{name}.pte")
    assert program.metadata("forward").num_inputs() == 2
    with pytest.raises(RuntimeError, match=r"no allocator is registered for device type 1 \(CUDA\): link"):
        program.load_method("forward")
