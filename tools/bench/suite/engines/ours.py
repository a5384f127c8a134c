# SPDX-License-Identifier: BSD-3-Clause
"""Eager PyTorch and ExecuTorch: upstream's wheel has the same names, so the same code asks both."""

from __future__ import annotations

from engines.case import Case, Run


def eager(case: Case) -> Run:
    module = case.program.module()
    return lambda: module(*case.inputs)


def kernels(case: Case) -> Run:
    """ExecuTorch without a delegate."""
    return _lowered(case, [])


def xnnpack(case: Case) -> Run:
    """ExecuTorch with its XNNPACK delegate."""
    from executorch.backends.xnnpack.partition.xnnpack_partitioner import XnnpackPartitioner

    return _lowered(case, [XnnpackPartitioner()])


def _lowered(case: Case, partitioners) -> Run:
    import executorch.kernels.quantized  # noqa: F401  registers operators
    from executorch.exir import ExecutorchBackendConfig, to_edge_transform_and_lower
    from executorch.exir.passes import MemoryPlanningPass
    from executorch.extension.pybindings.portable_lib import _load_for_executorch_from_buffer

    program = case.program
    if case.precision in ("int8", "dynamic"):
        program = _quantized(program, case.inputs, case.precision == "dynamic")
    manager = to_edge_transform_and_lower(program, partitioner=partitioners)
    in_place = MemoryPlanningPass(alloc_graph_input=False)  # inputs are read where they are
    buffer = manager.to_executorch(ExecutorchBackendConfig(memory_planning_pass=in_place)).buffer
    inputs = list(case.inputs)
    if case.precision == "bfloat16":
        return _in_bfloat16(buffer, inputs)
    loaded = _load_for_executorch_from_buffer(buffer)

    def run():  # as from C++, without copies; upstream reads the buffer for as long as it runs
        return (buffer, loaded.run_method("forward", inputs, clone_outputs=False))[1]

    return run


def _in_bfloat16(buffer, inputs) -> Run:
    from executorch.runtime import Runtime

    options = {"XnnpackBackend": {"compute_precision": "bfloat16"}}
    method = Runtime.get().load_program(buffer, backend_options=options).load_method("forward")
    return lambda: method.execute(inputs)


def _quantized(program, inputs, is_dynamic: bool):
    """Symmetric, weights per channel; one input to calibrate on."""
    import torch
    from torchao.quantization.pt2e.quantize_pt2e import convert_pt2e, prepare_pt2e

    from executorch.backends.xnnpack.quantizer.xnnpack_quantizer import (
        XNNPACKQuantizer,
        get_symmetric_quantization_config,
    )

    config = get_symmetric_quantization_config(is_per_channel=True, is_dynamic=is_dynamic)
    prepared = prepare_pt2e(program.module(), XNNPACKQuantizer().set_global(config))
    prepared(*inputs)
    return torch.export.export(convert_pt2e(prepared), tuple(inputs))


def load(name: str, inputs, options=None) -> Run:
    """A file. `options`: of XNNPACK, which upstream's Python does not take."""
    from executorch.runtime import Runtime

    more = {"backend_options": {"XnnpackBackend": options}} if options else {}
    method = Runtime.get().load_program(name, **more).load_method("forward")
    return lambda: method.execute(inputs)
