# SPDX-License-Identifier: BSD-3-Clause
"""Where Core ML means to run the operations of a model: on the neural engine (ANE), GPU or CPU. On macOS:
`python -m executorch.examples.apple.coreml.scripts.coreml_compute_plan --model_path model.pte`."""

from __future__ import annotations

import argparse
import platform
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from executorch.examples.apple.coreml.scripts.extract_coreml_models import extract_coreml_models

_COMPUTE_UNIT_CHOICES = ("cpu_and_ne", "all", "cpu_and_gpu", "cpu_only")
_DEVICES = {"NeuralEngine": "ANE", "GPU": "GPU", "CPU": "CPU"}


def _device_name(device: Any) -> str:
    """Of one of coremltools' compute devices; other where there is none, as for constants."""
    kind = type(device).__name__
    return next((name for part, name in _DEVICES.items() if part in kind), "other")


def placed(plan: Any, function: Any) -> Iterator[tuple[str, str]]:
    """Operator and device of each operation that a plan places."""
    for operation in function.block.operations:
        usage = plan.get_compute_device_usage_for_mlprogram_operation(operation)
        if usage is not None:
            yield operation.operator_name, _device_name(usage.preferred_compute_device)


def report(plan: Any, show_non_ane: bool) -> None:
    for name, function in plan.model_structure.program.functions.items():
        found = list(placed(plan, function))
        counts, total = Counter(device for _, device in found), len(found)
        print(f"{name}:")
        for device in (*_DEVICES.values(), "other"):
            if counts[device] or device == "ANE":
                share = 100 * counts[device] / max(total, 1)
                print(f"  {device}: {counts[device]} / {total} ({share:.1f}%)")
        left = Counter(operator for operator, device in found if device != "ANE")
        for operator, count in left.most_common() if show_non_ane else ():
            print(f"    not on the ANE: {operator} x{count}")


def analyze_one(path: Path | str, compute_units: str, show_non_ane: bool = False) -> None:
    """Of a .mlpackage or .mlmodelc."""
    import coremltools as ct

    path, units = Path(path), ct.ComputeUnit[compute_units.upper()]
    print(f"{path} ({compute_units})")
    if path.suffix == ".mlpackage":
        path = Path(ct.models.MLModel(str(path), compute_units=units).get_compiled_model_path())
    plan = ct.models.compute_plan.MLComputePlan.load_from_path(str(path), compute_units=units)
    report(plan, show_non_ane)


def main(argv: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--model_path", required=True, type=Path, help=".pte, .mlpackage or .mlmodelc"
    )
    units = _COMPUTE_UNIT_CHOICES
    parser.add_argument("--compute_units", choices=units, default=units[0], help="of the plan")
    parser.add_argument("--show_non_ane", action="store_true", help="what is not on the ANE")
    args = parser.parse_args(argv)
    if platform.system() != "Darwin":
        print(
            f"a compute plan is made by Core ML, which macOS 14.4 or later has, found {platform.system()}; "
            "extract_coreml_models writes the models of a .pte here",
            file=sys.stderr,
        )
        return 1
    if args.model_path.suffix != ".pte":
        analyze_one(args.model_path, args.compute_units, args.show_non_ane)
        return 0
    with tempfile.TemporaryDirectory() as folder:
        packages = extract_coreml_models(args.model_path.read_bytes(), folder)
        for each in packages:
            analyze_one(each, args.compute_units, args.show_non_ane)
    return 0 if packages else 1


if __name__ == "__main__":
    sys.exit(main())
