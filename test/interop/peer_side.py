# SPDX-License-Identifier: BSD-3-Clause
"""Lowers saved programs and runs files, as a list of jobs says, inside the upstream wheel's environment (or with this
repository's package, to have the same calls made with both).

usage: python peer_side.py jobs.json     (a list of {"do": one of JOBS, ...}; see peer.py)
This file imports public names only, and none that upstream lacks. Every job leaves its result or `<out>.error`.
"""

import json
import logging
import sys
import traceback
import warnings
from pathlib import Path

warnings.filterwarnings("ignore")
logging.disable(logging.WARNING)

import torch  # noqa: E402

from executorch.exir import ExecutorchBackendConfig, to_edge  # noqa: E402


def lower(job: dict) -> None:
    programs = {name: torch.export.load(path) for name, path in job["methods"].items()}
    config = ExecutorchBackendConfig(external_constants=job["external_constants"])
    edge = to_edge(programs, generate_etrecord=bool(job.get("record")))
    if job.get("partitioner"):
        edge = edge.to_backend(partitioner_named(job["partitioner"]))
    program = edge.to_executorch(config)
    out = Path(job["out"])
    with out.open("wb") as file:
        program.write_to_file(file)
    if job.get("record"):
        program.get_etrecord().save(job["record"])
    if job["external_constants"]:
        program.write_tensor_data_to_file(str(out.parent))


def partitioner_named(name: str) -> object:
    if name == "xnnpack":
        from executorch.backends.xnnpack.partition.xnnpack_partitioner import XnnpackPartitioner

        return XnnpackPartitioner()
    from executorch.exir.backend.test.op_partitioner_demo import AddMulPartitionerDemo

    return AddMulPartitionerDemo()


def read(job: dict) -> None:
    """The delegates of a file as the peer's reader sees them: [backend, {key: spec}, blob] in hexadecimal."""
    from executorch.exir._serialize._program import deserialize_pte_binary

    program = deserialize_pte_binary(Path(job["program"]).read_bytes()).program
    found = []
    for plan in program.execution_plan:
        for delegate in plan.delegates:
            blob = program.backend_delegate_data[delegate.processed.index].data
            specs = {spec.key: bytes(spec.value).hex() for spec in delegate.compile_specs}
            found.append([delegate.id, specs, bytes(blob).hex()])
    Path(job["out"]).write_text(json.dumps(found))


def export_llm(job: dict) -> None:
    from omegaconf import OmegaConf

    from executorch.examples.models.llama.export_llama_lib import export_llama
    from executorch.extension.llm.export.config.llm_config import LlmConfig

    place = {"export": {"output_name": job["out"]}}
    tree = OmegaConf.merge(OmegaConf.structured(LlmConfig), job["config"], place)
    export_llama(OmegaConf.to_object(tree))


def run(job: dict) -> None:
    if job.get("llm"):  # registered on import
        import executorch.extension.llm.custom_ops.custom_ops
        import executorch.kernels.quantized  # noqa: F401
    calls = torch.load(job["calls"], weights_only=True)
    results = []
    if job.get("data"):
        from executorch.extension.pybindings.portable_lib import _load_for_executorch

        module = _load_for_executorch(job["program"], job["data"])
        results = [[o.clone() for o in module.run_method(name, inputs)] for name, inputs in calls]
    else:
        from executorch.runtime import Runtime

        program = Runtime.get().load_program(job["program"])
        methods = {name: program.load_method(name) for name in sorted({name for name, _ in calls})}
        for name, inputs in calls:
            outputs = methods[name].execute(inputs)
            results.append([o.clone() if isinstance(o, torch.Tensor) else o for o in outputs])
    torch.save(results, job["out"])


def train(job: dict) -> None:
    """The losses of SGD on rows in turn, and the parameters after it. Of both packages."""
    from executorch.extension.pybindings.portable_lib import _load_for_executorch
    from executorch.extension.training import TrainingModule, get_sgd_optimizer

    rows = torch.load(job["rows"])
    module = TrainingModule(_load_for_executorch(job["program"], job["data"]))
    module.forward_backward("forward", rows[0])
    optimizer = get_sgd_optimizer(module.named_parameters(), **job["options"])
    losses = []
    for step in range(job["steps"]):
        loss = module.forward_backward("forward", rows[step % len(rows)])[0]
        optimizer.step(module.named_gradients())
        losses.append(loss.item())
    parameters = {name: value.clone() for name, value in module.named_parameters().items()}
    torch.save((losses, parameters), job["out"])


def quantize(job: dict) -> None:
    """A network of xnnpack_precisions.py in one precision: the file, and what its maker's runtime computes."""
    import xnnpack_precisions as networks

    from executorch.backends.xnnpack.partition.config.xnnpack_config import ConfigPrecisionType
    from executorch.backends.xnnpack.partition.xnnpack_partitioner import XnnpackPartitioner
    from executorch.exir import to_edge_transform_and_lower
    from executorch.runtime import Runtime

    module, inputs = networks.make(job["network"])
    partitioners = [XnnpackPartitioner()]
    precision = job["precision"]
    if precision in ("dynamic", "groups4", "channels4"):
        dynamic = ConfigPrecisionType.DYNAMIC_QUANT
        partitioners.insert(0, XnnpackPartitioner(config_precisions=dynamic, per_op_mode=True))
    if precision == "half":
        module = module.half()
        inputs = tuple(x.half() if x.is_floating_point() else x for x in inputs)
    elif precision in ("groups4", "channels4"):
        quantize_weights(module, precision)
    elif precision != "float":
        module = quantize_exported(module, inputs, precision)
    exported = torch.export.export(module, inputs)
    program = to_edge_transform_and_lower(exported, partitioner=partitioners).to_executorch()
    Path(job["program"]).write_bytes(program.buffer)
    method = Runtime.get().load_program(job["program"]).load_method("forward")
    outputs = [x.clone() for x in method.execute(list(inputs))]
    torch.save({"inputs": list(inputs), "outputs": outputs}, job["out"])


def quantize_weights(module: torch.nn.Module, precision: str) -> None:
    from torchao.quantization.granularity import PerAxis, PerGroup
    from torchao.quantization.quant_api import Int8DynamicActivationIntxWeightConfig, quantize_

    granularity = PerGroup(32) if precision == "groups4" else PerAxis(0)
    quantize_(
        module,
        Int8DynamicActivationIntxWeightConfig(
            weight_dtype=torch.int4, weight_granularity=granularity
        ),
        # Upstream refuses to lower other widths.
        lambda each, _: isinstance(each, torch.nn.Linear) and each.in_features % 32 == 0,
    )


def quantize_exported(module: torch.nn.Module, inputs: tuple, precision: str) -> torch.nn.Module:
    from torchao.quantization.pt2e.quantize_pt2e import convert_pt2e, prepare_pt2e

    from executorch.backends.xnnpack.quantizer.xnnpack_quantizer import (
        XNNPACKQuantizer,
        get_symmetric_quantization_config,
    )

    config = get_symmetric_quantization_config(
        is_per_channel=precision != "by_tensor", is_dynamic=precision == "dynamic"
    )
    graph = torch.export.export(module, inputs).module()
    prepared = prepare_pt2e(graph, XNNPACKQuantizer().set_global(config))
    prepared(*inputs)
    return convert_pt2e(prepared)


def inspect(job: dict) -> None:
    """What the Inspector says of a dump with its record, as JSON; both written again by their maker's tools."""
    from executorch.devtools import Inspector, parse_etrecord
    from executorch.devtools.etdump.serialize import (
        deserialize_from_etdump_flatcc,
        serialize_to_etdump_flatcc,
    )

    record = parse_etrecord(job["record"])
    record.save(job["rewritten"])
    data = serialize_to_etdump_flatcc(
        deserialize_from_etdump_flatcc(Path(job["dump"]).read_bytes())
    )
    Path(job["out"] + ".etdp").write_bytes(len(data).to_bytes(4, "little") + data)
    inspector = Inspector(etdump_path=job["dump"], etrecord=record, debug_buffer_path=job["values"])
    table = [
        [
            block.name,
            event.name,
            event.perf_data.raw if event.perf_data else None,
            event.op_types,
            sorted(event.stack_traces.items()),
        ]
        for block in inspector.event_blocks
        for event in block.events
    ]
    gaps = [gap[0] for gap in inspector.calculate_numeric_gap("MSE")["gap"]]
    Path(job["out"]).write_text(json.dumps({"table": table, "gaps": gaps}))


def rebundle(job: dict) -> None:
    """Reads a bundled program and makes it again from what was read."""
    from executorch.devtools import BundledProgram
    from executorch.devtools.bundled_program.config import MethodTestCase, MethodTestSuite
    from executorch.devtools.bundled_program.serialize import (
        deserialize_from_flatbuffer_to_bundled_program,
        serialize_from_bundled_program_to_flatbuffer,
    )

    def value(stored: object) -> object:
        if not hasattr(stored, "sizes"):
            return next(iter(vars(stored).values()))
        flat = torch.frombuffer(bytearray(stored.data), dtype=torch.float32)  # all the cases have
        return flat.reshape(stored.sizes)

    read = deserialize_from_flatbuffer_to_bundled_program(Path(job["bundle"]).read_bytes())
    program = Path(job["out"] + ".pte")
    program.write_bytes(read.program)
    suites = [
        MethodTestSuite(
            suite.method_name,
            [
                MethodTestCase(
                    *([value(v.val) for v in vs] for vs in (case.inputs, case.expected_outputs))
                )
                for case in suite.test_cases
            ],
        )
        for suite in read.method_test_suites
    ]
    made = BundledProgram(None, suites, str(program))
    Path(job["out"]).write_bytes(serialize_from_bundled_program_to_flatbuffer(made))


JOBS = {
    "lower": lower,
    "export_llm": export_llm,
    "read": read,
    "run": run,
    "train": train,
    "quantize": quantize,
    "inspect": inspect,
    "rebundle": rebundle,
}


def main() -> None:
    torch.set_grad_enabled(False)
    for job in json.loads(Path(sys.argv[1]).read_text()):
        try:
            JOBS[job["do"]](job)
        except Exception:
            Path(job["out"] + ".error").write_text(traceback.format_exc())


main()
