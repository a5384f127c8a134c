# SPDX-License-Identifier: BSD-3-Clause
"""ONNX Runtime and OpenVINO, each in all the ways that its users take; the fastest that is right counts."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

from engines.case import Case, Run

# OpenVINO is told what to compute in: by itself it would take bfloat16 where the processor can.
HINTS = {"bfloat16": "bf16"}


def onnx_file(case: Case) -> str:
    import torch

    def make(name: str) -> None:
        torch.onnx.export(case.program, dynamo=True, verbose=False).save(name)

    return case.made(".onnx", make)


def onnxruntime_plain(case: Case) -> Run:
    return load_onnxruntime(_in_precision(case, onnx_file(case)), case.inputs, case.threads)


def onnxruntime_fused(case: Case) -> Run:
    """By its optimizer for transformers: attention, norms and activations become one operator each."""
    from onnxruntime.transformers import optimizer

    def make(name: str) -> None:
        source = onnx_file(case)
        optimizer.optimize_model(source, model_type="bert").save_model_to_file(name)

    name = _in_precision(case, case.made(".fused.onnx", make))
    return load_onnxruntime(name, case.inputs, case.threads)


def _in_precision(case: Case, name: str) -> str:
    return {"int8": _static, "dynamic": _dynamic}.get(case.precision, lambda _, same: same)(
        case, name
    )


def _dynamic(case: Case, name: str) -> str:
    from onnxruntime.quantization import QuantType, quantize_dynamic

    target = name + ".dynamic"
    quantize_dynamic(name, target, per_channel=True, weight_type=QuantType.QInt8)
    return target


def _static(case: Case, name: str) -> str:
    """ONNX Runtime's own quantization, by the one input."""
    import onnx
    from onnxruntime.quantization import (
        CalibrationDataReader,
        QuantFormat,
        QuantType,
        quantize_static,
    )
    from onnxruntime.quantization.shape_inference import quant_pre_process

    class Once(CalibrationDataReader):
        def __init__(self) -> None:
            names = [i.name for i in onnx.load(name).graph.input]
            self.rest = iter([dict(zip(names, case.arrays))])

        def get_next(self) -> dict[str, Any] | None:
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


def load_onnxruntime(name: str, inputs, threads: int, cached: bool = False) -> Run:
    """Inputs and outputs are bound: nothing is copied. `cached`: the optimized graph is kept in a file, and read."""
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    options.log_severity_level = 3
    if cached:
        kept = Path(name + ".optimized")
        if kept.exists():
            name = str(kept)
            options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
        else:
            options.optimized_model_filepath = str(kept)
    session = onnxruntime.InferenceSession(name, options, providers=["CPUExecutionProvider"])
    bound = session.io_binding()
    for each, tensor in zip(session.get_inputs(), inputs):
        bound.bind_ortvalue_input(
            each.name, onnxruntime.OrtValue.ortvalue_from_numpy(tensor.numpy())
        )
    for each in session.get_outputs():
        bound.bind_output(each.name, "cpu")

    def run():
        session.run_with_iobinding(bound)
        return _Values(bound.get_outputs())

    return run


class _Values(list):
    """Outputs that are copied to arrays when somebody looks, not while a run is timed."""

    def arrays(self) -> list[Any]:
        return [each.numpy() for each in self]


def openvino_from_onnx(case: Case) -> Run:
    import openvino

    return _openvino(case, openvino.Core().read_model(onnx_file(case)))


def openvino_from_torch(case: Case) -> Run:
    """The exported program, without ONNX between."""
    import openvino

    return _openvino(case, openvino.convert_model(case.program))


def _openvino(case: Case, model) -> Run:
    if case.precision in ("int8", "dynamic"):
        model = {"int8": _nncf_static, "dynamic": _nncf_dynamic}[case.precision](case, model)
    return _request(model, case.inputs, case.threads, HINTS.get(case.precision, "f32"))


def _nncf_static(case: Case, model):
    import nncf

    data = nncf.Dataset([case.arrays])
    return nncf.quantize(model, data, subset_size=1, preset=nncf.QuantizationPreset.MIXED)


def _nncf_dynamic(case: Case, model):
    """int8 weights; the processor's plug-in then quantizes rows as they come."""
    import nncf

    return nncf.compress_weights(model, mode=nncf.CompressWeightsMode.INT8_SYM)


def load_openvino(name: str, inputs, threads: int, cached: bool = False) -> Run:
    import openvino

    more = {"CACHE_DIR": name + ".cache"} if cached else {}
    source = name if cached else openvino.Core().read_model(name)
    return _request(source, inputs, threads, "f32", **more)


def _request(model, inputs, threads: int, hint: str, **more: Any) -> Run:
    import openvino

    options = {
        "INFERENCE_PRECISION_HINT": hint,
        "INFERENCE_NUM_THREADS": threads,
        "PERFORMANCE_HINT": "LATENCY",
    }
    compiled = openvino.Core().compile_model(model, "CPU", options | more)
    request = compiled.create_infer_request()
    arrays = [tensor.numpy() for tensor in inputs]
    count = len(compiled.outputs)

    def run():
        request.infer(arrays, share_inputs=True, share_outputs=True)
        return [request.get_output_tensor(i).data for i in range(count)]

    return run


LOADERS = {
    "onnxruntime": load_onnxruntime,
    "openvino": load_openvino,
    "onnxruntime, cached": partial(load_onnxruntime, cached=True),
    "openvino, cached": partial(load_openvino, cached=True),
}
