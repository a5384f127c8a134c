# SPDX-License-Identifier: BSD-3-Clause
"""One engine loads one file and runs it, in a process of its own: how many bytes it has more than before.

usage: python memory_side.py ENGINE FILE INPUTS THREADS

Prints a line of JSON: resident after the first run and after three, and the most in between. Imports nothing of this
repository but the public package `executorch`."""

import json
import os
import sys

import torch


def executorch(path, inputs, threads):
    from executorch.extension.pybindings.portable_lib import _load_for_executorch

    return lambda: _method(_load_for_executorch(path), inputs)


def _method(loaded, inputs):
    return lambda: loaded.run_method("forward", inputs)


def onnxruntime(path, inputs, threads):
    import onnxruntime

    def load():
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = threads
        options.log_severity_level = 3
        session = onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])
        feed = {i.name: tensor.numpy() for i, tensor in zip(session.get_inputs(), inputs)}
        return lambda: session.run(None, feed)

    return load


def openvino(path, inputs, threads):
    import openvino

    def load():
        options = {"INFERENCE_PRECISION_HINT": "f32", "INFERENCE_NUM_THREADS": threads}
        compiled = openvino.Core().compile_model(path, "CPU", options)
        request = compiled.create_infer_request()
        arrays = [tensor.numpy() for tensor in inputs]
        return lambda: request.infer(arrays, share_inputs=True, share_outputs=True)

    return load


def kilobytes(field):
    with open("/proc/self/status") as file:
        return next(int(line.split()[1]) for line in file if line.startswith(field + ":"))


def main():
    engine, path, inputs, threads = sys.argv[1:]
    os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[: int(threads)])
    torch.set_num_threads(int(threads))
    load = globals()[engine](path, torch.load(inputs, weights_only=True)[0], int(threads))
    with open("/proc/self/clear_refs", "w") as file:
        file.write("5")  # forgets the peak until here
    before = kilobytes("VmRSS")
    run = load()
    run()
    once = kilobytes("VmRSS") - before
    run()
    run()
    found = {
        "once": once,
        "thrice": kilobytes("VmRSS") - before,
        "peak": kilobytes("VmHWM") - before,
    }
    print("RESULT " + json.dumps({key: value * 1024 for key, value in found.items()}))


if __name__ == "__main__":
    main()
