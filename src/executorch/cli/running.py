# SPDX-License-Identifier: BSD-3-Clause
"""What `executorch run` does, with NumPy alone."""

from __future__ import annotations

import argparse
import json
from typing import Any

import numpy

from executorch.devtools.commands.inputs.used import sentence, used_inputs
from executorch.devtools.commands.program_file import plan_of, program_of
from executorch.devtools.devices import opened
from executorch.devtools.devices.job import Job
from executorch.extension.processing.carried import carried_by, labeled


def run_program(options: argparse.Namespace) -> int:
    plan = plan_of(options.program, options.method)
    metadata = program_of(options.program).user_metadata
    used = used_inputs(plan, options, channels=carried_by(metadata, plan.name).channels)
    arrays = [each.value for each in used]
    if options.runs < 1:
        raise ValueError(f"--runs: expected 1 or more, found {options.runs}")
    job = Job(options.program, plan.name, arrays, options.data, options.runs)
    with opened(options) as device:
        ran = device.run(job)
    outputs, took = ran.outputs, [nanoseconds / 1e6 for nanoseconds in ran.run_ns[-1:]]
    names = [
        plan.output_names[number] if plan.output_names else "" for number in range(len(outputs))
    ]
    if options.output:
        # arr_0, arr_1, ... where the file has no names
        keys = [name or f"arr_{number}" for number, name in enumerate(names)]
        numpy.savez(options.output, **dict(zip(keys, map(as_numpy, outputs), strict=True)))
    shown = [described(each, options.top) for each in outputs]
    pairs = labeled(metadata, dict(zip(names, outputs)))
    if options.json:
        head = {"program": str(options.program), "method": plan.name, "device": device.name}
        head["milliseconds"] = took[0] if took else None
        inputs = [each.row() | described(each.value, 0) for each in used]
        more = {"labels": pairs} if pairs else {}
        print(json.dumps({**head, "inputs": inputs, "outputs": shown, **more}))
        return 0
    where = "" if device.is_here else f" on {device.title}"
    print(f"{options.program}: {plan.name}{where}{''.join(f', {each:.2f} ms' for each in took)}")
    print(sentence(used))
    for number, each in enumerate(shown):
        print(f"  output {names[number] or number}: {line(each)}")
    for label, score in pairs:
        print(f"    {score:.4f} {label}")
    if options.output:
        print(f"wrote {options.output}")
    return 0


def as_numpy(value: Any) -> numpy.ndarray:
    """Also of torch's tensors, which NumPy may lack the dtype of."""
    try:
        return numpy.asarray(value)
    except TypeError:
        return numpy.asarray(value.float())


def described(value: Any, top: int) -> dict[str, Any]:
    if not hasattr(value, "shape"):
        return {"value": value}
    dtype = str(value.dtype).removeprefix("torch.")
    found: dict[str, Any] = {"dtype": dtype, "shape": list(value.shape)}
    value = as_numpy(value)
    if value.size == 0 or value.dtype == bool:
        return found
    numbers = numpy.asarray(value, dtype=numpy.float64)
    found |= {
        "min": float(numbers.min()),
        "mean": float(numbers.mean()),
        "max": float(numbers.max()),
    }
    odd = int(numbers.size - numpy.isfinite(numbers).sum())
    if odd:
        found["not finite"] = odd
    if top > 0:
        flat = numbers.ravel()
        order = numpy.argsort(-flat, kind="stable")[:top]
        places = [[int(i) for i in numpy.unravel_index(o, numbers.shape)] for o in order]
        found["top"] = [{"at": at, "value": float(flat[o])} for at, o in zip(places, order)]
    return found


def line(shown: dict[str, Any]) -> str:
    if "value" in shown:
        return repr(shown["value"])
    words = f"{shown['dtype']}{shown['shape']}"
    if "min" in shown:
        words += f" from {shown['min']:.4g} to {shown['max']:.4g}, mean {shown['mean']:.4g}"
    if "not finite" in shown:
        words += f", {shown['not finite']} are infinite or no number"
    for each in shown.get("top", []):
        words += f"\n    {each['value']:.6g} at {each['at']}"
    return words
