# SPDX-License-Identifier: BSD-3-Clause
"""One engine in one process: prepares a program that torch.export saved, then runs it as often as asked.

Imports nothing of this repository but the public package `executorch`, so that the same code asks every engine.
Questions, a line of JSON each: ["threads", n]; ["prepare", engine, precision, program, calls, seconds] answers the
relative difference to eager, ["accuracy", ...] with the same words those of the other calls; ["run", n] answers n pairs
of milliseconds: passed, and of processors at work; ["memory", runtime, file, calls, seconds] answers the bytes that
loading and running a file takes, as a process's first; ["latency", runtime, file, calls, seconds, runs, options] the
milliseconds of loading and of each run.
"""

import importlib
import json
import logging
import os
import signal
import sys
import time
import warnings

warnings.filterwarnings("ignore")
logging.disable(logging.WARNING)

import torch  # noqa: E402


def eager(program, precision, inputs, path):
    module = program.module()
    return lambda: module(*inputs)


def kernels(program, precision, inputs, path):
    """ExecuTorch without a delegate."""
    return lowered(program, precision, inputs, [])


def xnnpack(program, precision, inputs, path):
    """ExecuTorch with its XNNPACK delegate."""
    from executorch.backends.xnnpack.partition.xnnpack_partitioner import XnnpackPartitioner

    return lowered(program, precision, inputs, [XnnpackPartitioner()])


def lowered(program, precision, inputs, partitioners):
    import executorch.kernels.quantized  # noqa: F401  registers operators
    from executorch.exir import ExecutorchBackendConfig, to_edge_transform_and_lower
    from executorch.exir.passes import MemoryPlanningPass
    from executorch.extension.pybindings.portable_lib import _load_for_executorch_from_buffer

    if precision == "int8":
        program = quantized(program, inputs)
    manager = to_edge_transform_and_lower(program, partitioner=partitioners)
    in_place = MemoryPlanningPass(alloc_graph_input=False)  # inputs are read where they are
    buffer = manager.to_executorch(ExecutorchBackendConfig(memory_planning_pass=in_place)).buffer
    inputs = list(inputs)
    if precision == "bfloat16":
        return in_bfloat16(buffer, inputs)
    loaded = _load_for_executorch_from_buffer(buffer)

    def run():  # as from C++, without copies; upstream reads the buffer for as long as it runs
        return (buffer, loaded.run_method("forward", inputs, clone_outputs=False))[1]

    return run


def in_bfloat16(buffer, inputs):
    from executorch.runtime import Runtime

    options = {"XnnpackBackend": {"compute_precision": "bfloat16"}}
    method = Runtime.get().load_program(buffer, backend_options=options).load_method("forward")
    return lambda: method.execute(inputs)


def quantized(program, inputs):
    """Static, symmetric, weights per channel, one input to calibrate on."""
    from torchao.quantization.pt2e.quantize_pt2e import convert_pt2e, prepare_pt2e

    from executorch.backends.xnnpack.quantizer.xnnpack_quantizer import (
        XNNPACKQuantizer,
        get_symmetric_quantization_config,
    )

    config = get_symmetric_quantization_config(is_per_channel=True)
    prepared = prepare_pt2e(program.module(), XNNPACKQuantizer().set_global(config))
    prepared(*inputs)
    return torch.export.export(convert_pt2e(prepared), tuple(inputs))


def onnx_file(program, inputs, path):
    """Made by the first of the rivals that asks."""
    name = path + ".onnx"
    if not os.path.exists(name):
        torch.onnx.export(program, dynamo=True, verbose=False).save(name)
    return name


def onnxruntime(program, precision, inputs, path):
    name = onnx_file(program, inputs, path)
    return on_onnxruntime(onnx_quantized(name, inputs) if precision == "int8" else name, inputs)


def on_onnxruntime(name, inputs):
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = THREADS
    options.log_severity_level = 3
    session = onnxruntime.InferenceSession(name, options, providers=["CPUExecutionProvider"])
    feed = {i.name: tensor.numpy() for i, tensor in zip(session.get_inputs(), inputs)}
    return lambda: session.run(None, feed)


def onnx_quantized(name, inputs):
    import onnx
    from onnxruntime.quantization import (
        CalibrationDataReader,
        QuantFormat,
        QuantType,
        quantize_static,
    )
    from onnxruntime.quantization.shape_inference import quant_pre_process

    class Once(CalibrationDataReader):
        def __init__(self):
            names = [i.name for i in onnx.load(name).graph.input]
            self.rest = iter([{n: t.numpy() for n, t in zip(names, inputs)}])

        def get_next(self):
            return next(self.rest, None)

    prepared, target = name + ".prepared", name + ".int8"
    quant_pre_process(name, prepared)
    quantize_static(
        prepared,
        target,
        Once(),
        quant_format=QuantFormat.QDQ,
        per_channel=True,
        activation_type=QuantType.QUInt8,
        weight_type=QuantType.QInt8,
    )
    return target


def openvino(program, precision, inputs, path):
    return on_openvino(onnx_file(program, inputs, path), inputs, precision)


def on_openvino(name, inputs, precision="float"):
    """In float32 unless asked: by itself it would compute in bfloat16 where the processor can."""
    import openvino

    model = openvino.Core().read_model(name)
    options = {
        "INFERENCE_PRECISION_HINT": {"float": "f32", "bfloat16": "bf16"}[precision],
        "INFERENCE_NUM_THREADS": THREADS,
        "PERFORMANCE_HINT": "LATENCY",
    }
    compiled = openvino.Core().compile_model(model, "CPU", options)
    request = compiled.create_infer_request()
    arrays = [tensor.numpy() for tensor in inputs]

    def run():
        request.infer(arrays, share_inputs=True, share_outputs=True)
        return [request.get_output_tensor(i).data for i in range(len(compiled.outputs))]

    return run


def on_executorch(name, inputs, options=None):
    """`options`: of XNNPACK, which upstream's Python does not take."""
    from executorch.runtime import Runtime

    more = {"backend_options": {"XnnpackBackend": options}} if options else {}
    method = Runtime.get().load_program(name, **more).load_method("forward")
    return lambda: method.execute(inputs)


RUNTIMES = {  # what is imported before anything is measured, and what loads a file
    "executorch": ("executorch.runtime", on_executorch),
    "onnxruntime": ("onnxruntime", on_onnxruntime),
    "openvino": ("openvino", on_openvino),
}
ENGINES = {f.__name__: f for f in (eager, kernels, xnnpack, onnxruntime, openvino)}
THREADS = 1


def use_threads(count):
    """On as many processors as threads, so that engines without an option for it keep to them, too."""
    global THREADS
    THREADS = count
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:count])
    torch.set_num_threads(count)


def difference(found, expected):
    """The largest ||found - expected|| / ||expected|| of the outputs."""
    worst = 0.0
    for each, want in zip(found, expected, strict=True):
        each, want = torch.as_tensor(each).double(), want.double()
        gap = float((each - want).norm() / want.norm().clamp_min(1e-9))
        worst = max(worst, gap if gap == gap else float("inf"))
    return worst


def prepare(engine, precision, path, calls, seconds):
    signal.alarm(seconds)
    inputs, expected, _ = torch.load(calls, weights_only=True)
    run = ENGINES[engine](torch.export.load(path), precision, inputs, path)
    found = torch.utils._pytree.tree_leaves(run())
    signal.alarm(0)
    return run, difference(found, expected)


def accuracy(engine, precision, path, calls, seconds):
    """The relative difference to eager of each of the other calls, which did not calibrate."""
    signal.alarm(seconds)
    inputs, _, others = torch.load(calls, weights_only=True)
    run = ENGINES[engine](torch.export.load(path), precision, inputs, path)
    answer = []
    for other, expected in others:
        for held, new in zip(inputs, other, strict=True):  # engines read inputs where they are
            held.copy_(new)
        answer.append(difference(torch.utils._pytree.tree_leaves(run()), expected))
    signal.alarm(0)
    return answer


def timed(run, count):
    taken = []
    for _ in range(count):
        start, busy = time.perf_counter(), time.process_time()
        run()
        taken.append(((time.perf_counter() - start) * 1e3, (time.process_time() - busy) * 1e3))
    return taken


def memory(runtime, name, calls, seconds):
    """Bytes more than before: after the first run, after three, and the most until then."""
    signal.alarm(seconds)
    inputs = list(torch.load(calls, weights_only=True)[0])
    module, load = RUNTIMES[runtime]
    importlib.import_module(module)
    with open("/proc/self/clear_refs", "w") as file:
        file.write("5")  # forgets the peak until here
    before = status_bytes("VmRSS")
    run = load(name, inputs)
    run()
    once = status_bytes("VmRSS") - before
    run()
    run()
    signal.alarm(0)
    return {
        "once": once,
        "thrice": status_bytes("VmRSS") - before,
        "peak": status_bytes("VmHWM") - before,
    }


def latency(runtime, name, calls, seconds, runs, options):
    """Milliseconds: of loading, and of each run since."""
    signal.alarm(seconds)
    inputs = list(torch.load(calls, weights_only=True)[0])
    module, load = RUNTIMES[runtime]
    importlib.import_module(module)
    start = time.perf_counter()
    run = load(name, inputs, options) if options else load(name, inputs)
    loaded = (time.perf_counter() - start) * 1e3
    taken = [passed for passed, _ in timed(run, runs)]
    signal.alarm(0)
    return {"load": loaded, "runs": taken}


def status_bytes(field):
    with open("/proc/self/status") as file:
        return next(int(line.split()[1]) * 1024 for line in file if line.startswith(field + ":"))


def main():
    torch.set_grad_enabled(False)
    run = None
    for line in sys.stdin:
        kind, *rest = json.loads(line)
        answer = None
        try:
            if kind == "threads":
                use_threads(*rest)
            elif kind == "prepare":
                run, answer = None, None
                run, answer = prepare(*rest)
            elif kind == "accuracy":
                answer = accuracy(*rest)
            elif kind == "memory":
                answer = memory(*rest)
            elif kind == "latency":
                answer = latency(*rest)
            else:
                answer = timed(run, *rest)
        except Exception as problem:
            signal.alarm(0)
            answer = {"error": f"{type(problem).__name__}: {problem}"[:600]}
        print("RESULT " + json.dumps(answer), flush=True)


main()
