# SPDX-License-Identifier: BSD-3-Clause
"""Runs under the interpreter that has the rivals: ONNX Runtime's static quantization and NNCF's with accuracy control,
of the ONNX file of a network. Imports nothing of this repository.

usage: python rivals.py WAY FOLDER ASKED     WAY: export, onnxruntime, nncf; the last line of the output is JSON.

FOLDER has model.pt2 and calls.pt: {"calibration": [inputs], "held": [(inputs, outputs)]}.
"""

import json
import logging
import math
import sys
import time
import warnings
from pathlib import Path

import numpy as np
import torch

ITERATIONS = 12  # of NNCF: layers that go back to floats at most


def export(folder: Path, calls: dict, _: float) -> dict:
    program = torch.export.load(folder / "model.pt2")
    path = folder / "float.onnx"
    torch.onnx.export(
        program, calls["calibration"][0], path, dynamo=True, external_data=False, verbose=False
    )
    return {"files": [path.name]}


def arrays(call: tuple) -> list:
    return [each.numpy() for each in call]


def error(run, held: list) -> float:
    """|found - wanted| / |wanted|, as --metric error has it."""
    noise = count = 0.0
    for call, wanted in held:
        for found, want in zip(run(arrays(call)), wanted, strict=True):
            want = want.double().numpy()
            noise += np.square(found - want).sum() / (np.square(want).sum() or 1.0)
            count += 1
    return math.sqrt(noise / count)


# ---- ONNX Runtime ----


def settings() -> dict:
    """What its own guide says to try: how ranges are taken, and the types of activations."""
    from onnxruntime.quantization import CalibrationMethod, QuantType

    signed = {"activation_type": QuantType.QInt8, "weight_type": QuantType.QInt8}
    unsigned = {"activation_type": QuantType.QUInt8, "weight_type": QuantType.QInt8}
    found = {}
    for method in (
        CalibrationMethod.MinMax,
        CalibrationMethod.Entropy,
        CalibrationMethod.Percentile,
    ):
        for name, types in (("int8", signed), ("uint8", unsigned)):
            found[f"{method.name} {name}"] = {"calibrate_method": method, **types}
    return found


def onnxruntime(folder: Path, calls: dict, _: float) -> dict:
    """The best of its settings, weights per channel, by the samples that measure."""
    import onnxruntime as ort
    from onnxruntime.quantization import CalibrationDataReader, QuantFormat, quantize_static
    from onnxruntime.quantization.shape_inference import quant_pre_process

    ort.set_default_logger_severity(3)
    prepared = folder / "prepared.onnx"
    quant_pre_process(folder / "float.onnx", prepared, skip_symbolic_shape=True)
    names = [each.name for each in ort.InferenceSession(prepared).get_inputs()]

    class Reader(CalibrationDataReader):
        def __init__(self) -> None:
            self.calls = iter(calls["calibration"])

        def get_next(self):
            call = next(self.calls, None)
            return None if call is None else dict(zip(names, arrays(call), strict=True))

    losses, problems = {}, {}
    for name, chosen in settings().items():
        path = folder / f"onnxruntime {name}.onnx"
        try:
            quantize_static(
                prepared, path, Reader(), quant_format=QuantFormat.QDQ, per_channel=True, **chosen
            )
            session = ort.InferenceSession(path)
            losses[name] = error(
                lambda given, s=session: s.run(None, dict(zip(names, given, strict=True))),
                calls["held"],
            )
        except Exception as problem:
            problems[name] = f"{type(problem).__name__}: {problem}"
    if not losses:
        raise RuntimeError(next(iter(problems.values())))
    best = min(losses, key=losses.get)
    target = folder / "onnxruntime.onnx"
    (folder / f"onnxruntime {best}.onnx").rename(target)
    return {"files": [target.name], "held": losses[best], "how": best}


# ---- NNCF ----


def nncf(folder: Path, calls: dict, asked: float) -> dict:
    """Static 8 bits, with layers that go back to floats until no more than `asked` is lost."""
    import nncf as library
    import openvino as ov

    compiled_as_it_comes = ov.Core.compile_model

    def compile_model(self, model, device_name="CPU", config=None):
        """What is not in 8 bits in floats of 32: bfloat16, which it takes where processors have it, loses itself more
        than is asked."""
        options = {**(config or {}), "INFERENCE_PRECISION_HINT": "f32"}
        return compiled_as_it_comes(self, model, device_name, options)

    ov.Core.compile_model = compile_model
    library.set_log_level(logging.ERROR)
    ov.save_model(
        ov.convert_model(folder / "float.onnx"), folder / "float.xml", compress_to_fp16=False
    )

    def validate(compiled, held) -> tuple:
        run = lambda given: list(compiled(given).values())  # noqa: E731
        return -error(run, list(held)), None

    model = library.quantize_with_accuracy_control(
        ov.Core().read_model(folder / "float.xml"),
        library.Dataset(calls["calibration"], arrays),
        library.Dataset(calls["held"], lambda pair: arrays(pair[0])),
        validate,
        max_drop=asked,
        drop_type=library.DropType.ABSOLUTE,
        preset=library.QuantizationPreset.MIXED,
        subset_size=len(calls["calibration"]),
        advanced_accuracy_restorer_parameters=library.AdvancedAccuracyRestorerParameters(
            max_num_iterations=ITERATIONS, ranking_subset_size=16
        ),
    )
    ov.save_model(model, folder / "nncf.xml", compress_to_fp16=False)
    compiled = ov.Core().compile_model(folder / "nncf.xml", "CPU")
    held = error(lambda given: list(compiled(given).values()), calls["held"])
    return {"files": ["nncf.xml", "nncf.bin"], "held": held}


def main(way: str, folder: Path, asked: float) -> dict:
    calls = torch.load(folder / "calls.pt")
    start = time.perf_counter()
    try:
        answer = {"export": export, "onnxruntime": onnxruntime, "nncf": nncf}[way](
            folder, calls, asked
        )
    except Exception as problem:
        text = " ".join(str(problem).split())
        return {"error": f"{type(problem).__name__}: {text}"}
    answer["seconds"] = time.perf_counter() - start
    answer["bytes"] = sum((folder / name).stat().st_size for name in answer["files"])
    return answer


if __name__ == "__main__":
    warnings.filterwarnings("ignore")
    logging.disable(logging.WARNING)
    print("\n" + json.dumps(main(sys.argv[1], Path(sys.argv[2]), float(sys.argv[3]))))
