# SPDX-License-Identifier: BSD-3-Clause
"""Runs a program on the computer, and compares what it gives."""

from __future__ import annotations

import logging
import tempfile
from collections.abc import Sequence
from typing import Any

import torch
from torch.utils import _pytree as pytree

from executorch.backends.cadence.aot.programs import save_bpte_program
from executorch.backends.cadence.runtime import distances
from executorch.backends.cadence.runtime.etdump import CadenceETDump
from executorch.backends.cadence.runtime.executor import Executor
from executorch.exir import ExecutorchProgramManager

_log = logging.getLogger(__name__)
_SPARE = 1 << 16
_FIGURES = (
    distances.rms,
    distances.normalized_rms,
    distances.max_abs_diff,
    distances.max_rel_diff,
)


def _values_size(program: ExecutorchProgramManager, inputs: Sequence[Any]) -> int:
    """Bytes that hold the outputs, wherever they lie."""
    (plan, *_) = program.executorch_program.execution_plan
    return sum(plan.non_const_buffer_sizes) + sum(
        each.nbytes for each in pytree.tree_leaves(list(inputs)) if isinstance(each, torch.Tensor)
    )


def run(
    executorch_prog: ExecutorchProgramManager,
    inputs: Sequence[Any],
    ref_outputs: Sequence[Any] | None = None,
    working_dir: str | None = None,
    file_name: str = "CadenceDemoModel",
    force_rebuild: bool = False,
) -> Any:
    """What the program gives, in the form that the model has it. `ref_outputs`: for the file with the case."""
    folder = working_dir or tempfile.mkdtemp(dir="/tmp")
    expected = list(ref_outputs) if ref_outputs is not None else []
    save_bpte_program(executorch_prog, file_name, inputs, expected, folder)
    executor = Executor(folder, file_name, force_rebuild)
    executor(_values_size(executorch_prog, inputs) + _SPARE)
    outputs = CadenceETDump(folder).get_outputs()
    form = executorch_prog.exported_program().call_spec.out_spec
    return outputs if form is None else pytree.tree_unflatten(outputs, form)


def compare(
    outputs: Any, ref_outputs: Any, name: str = "", eps_error: float = 1e-1, eps_warn: float = 1e-5
) -> None:
    """RuntimeError where the root of the mean square is above `eps_error`, or is NaN."""
    pairs = zip(pytree.tree_leaves(outputs), pytree.tree_leaves(ref_outputs), strict=True)
    for place, (found, wanted) in enumerate(pairs):
        which = name or str(place)
        have, want = torch.as_tensor(found), torch.as_tensor(wanted)
        apart = distances.rms(have, want)
        figures = ", ".join(f"{each.__name__}={each(have, want):.3g}" for each in _FIGURES)
        if not apart <= eps_error:
            raise RuntimeError(
                f"[Error] Output {which} mismatched! Expected an rms up to {eps_error}: {figures}"
            )
        if apart > eps_warn:
            _log.warning("[Warning] Output %s differs: %s", which, figures)
        else:
            _log.info("[Passed] Output %s matched. %s", which, figures)


def run_and_compare(
    executorch_prog: ExecutorchProgramManager,
    inputs: Sequence[Any],
    ref_outputs: Any,
    working_dir: str | None = None,
    file_name: str = "CadenceDemoModel",
    eps_error: float = 1e-1,
    eps_warn: float = 1e-5,
    force_rebuild: bool = False,
) -> Any:
    expected = pytree.tree_leaves(ref_outputs)
    outputs = run(executorch_prog, inputs, expected, working_dir, file_name, force_rebuild)
    compare(outputs, ref_outputs, eps_error=eps_error, eps_warn=eps_warn)
    return outputs


def get_op_names(program: Any, execution_plan_id: int = 0) -> set[str]:
    """Of a schema.Program: "name.overload"."""
    plan = program.execution_plan[execution_plan_id]
    return {
        f"{each.name}.{each.overload}" if each.overload else each.name for each in plan.operators
    }
