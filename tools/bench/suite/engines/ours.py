# SPDX-License-Identifier: BSD-3-Clause
"""Eager PyTorch and ExecuTorch: upstream's wheel has the same names, so the same code asks both."""

from __future__ import annotations

from engines.case import Case, Run

QUANTIZE = {"int8": "int8", "dynamic": "int8-dynamic"}  # precisions as recipes call them


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


def delegate(name: str, case: Case) -> Run:
    """ExecuTorch with another of its backends, as `executorch export --backend NAME --quantize KIND` has it."""
    from executorch.backends.discovery import backends
    from executorch.export import ExportRecipe

    backend, kind = backends()[name], QUANTIZE.get(case.precision, "")
    if kind not in backend.recipe_of:
        raise ValueError(f"{name} has no recipe for {kind or 'float'}")
    recipe = ExportRecipe.get_recipe(backend.load(backend.recipes)[backend.recipe_of[kind]])
    quantizers = recipe.quantization_recipe.quantizers if kind else [None]
    return _lowered(case, recipe.lowering_recipe.partitioners, quantizers[0])


def _lowered(case: Case, partitioners, quantizer=None) -> Run:
    """`quantizer`: for precisions of integers; XNNPACK's unless given."""
    import executorch.kernels.quantized  # noqa: F401  registers operators
    from executorch.exir import ExecutorchBackendConfig, to_edge_transform_and_lower
    from executorch.exir.passes import MemoryPlanningPass
    from executorch.extension.pybindings.portable_lib import _load_for_executorch_from_buffer

    program = case.program
    if case.precision in ("int8", "dynamic"):
        quantizer = quantizer or _xnnpack_quantizer(case.precision == "dynamic")
        program = _quantized(program, case.inputs, quantizer)
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


def _xnnpack_quantizer(is_dynamic: bool):
    """Symmetric, weights per channel."""
    from executorch.backends.xnnpack.quantizer.xnnpack_quantizer import (
        XNNPACKQuantizer,
        get_symmetric_quantization_config,
    )

    config = get_symmetric_quantization_config(is_per_channel=True, is_dynamic=is_dynamic)
    return XNNPACKQuantizer().set_global(config)


def _quantized(program, inputs, quantizer):
    """One input to calibrate on."""
    import torch
    from torchao.quantization.pt2e.quantize_pt2e import convert_pt2e, prepare_pt2e

    prepared = prepare_pt2e(program.module(), quantizer)
    prepared(*inputs)
    return torch.export.export(convert_pt2e(prepared), tuple(inputs))


def load(name: str, inputs, options=None) -> Run:
    """A file. `options`: of XNNPACK, which upstream's Python does not take."""
    from executorch.runtime import Runtime

    more = {"backend_options": {"XnnpackBackend": options}} if options else {}
    method = Runtime.get().load_program(name, **more).load_method("forward")
    return lambda: method.execute(inputs)
