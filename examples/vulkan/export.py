# SPDX-License-Identifier: BSD-3-Clause
"""`python -m executorch.examples.vulkan.export --model_name=ic3 -o . -fp16`: an example model as ic3_vulkan.pte."""

from __future__ import annotations

import argparse
import copy
import sys
from pathlib import Path
from typing import Any

import torch

from executorch.backends.vulkan.partitioner.vulkan_partitioner import VulkanPartitioner
from executorch.examples.models.command_line import add_model_name, chosen_example
from executorch.examples.models.example import Method
from executorch.exir import ExecutorchProgramManager, to_edge_transform_and_lower
from executorch.extension.export_util import save_pte_program

# Of values: in half precision, and in float32.
TOLERANCES = {True: {"atol": 2e-2, "rtol": 1e-1}, False: {"atol": 1e-4, "rtol": 1e-4}}
# Of images whose height and width change.
STEP, STEPS = 16, 16
# Flag, short form, what it is unless given, help.
FLAGS = (
    ("force_fp16", "-fp16", False, "compute in half precision"),
    ("small_texture_limits", None, False, "images of at most 2048 in each direction"),
    ("skip_memory_planning", None, False, "no memory that tensors share"),
    ("strict", "-s", True, "capture with torch.export's strict mode"),
    ("dynamic", "-d", False, f"heights and widths of 1 to {STEPS} times {STEP}"),
    ("bundled", "-b", False, "also MODEL_vulkan.bpte, with inputs and expected outputs"),
    ("test", "-t", False, "run the program and compare it with the model"),
    ("save_inputs", None, False, "also input0.bin, ...: the example's inputs"),
)
OPTIONS = ("force_fp16", "small_texture_limits", "skip_memory_planning")


def parser() -> argparse.ArgumentParser:
    made = argparse.ArgumentParser(description=__doc__)
    add_model_name(made)
    for name, short, default, words in FLAGS:
        forms = [f"--{name}"] if short is None else [short, f"--{name}"]
        made.add_argument(
            *forms, action=argparse.BooleanOptionalAction, default=default, help=words
        )
    made.add_argument("-r", "--etrecord", default="", help="file for the developer tools")
    made.add_argument("-o", "--output_dir", default=".", help="folder for the files")
    return made


def dynamic_images(inputs: tuple[Any, ...]) -> tuple[Any, ...]:
    height = torch.export.Dim("height", min=1, max=STEPS) * STEP
    width = torch.export.Dim("width", min=1, max=STEPS) * STEP
    return tuple({2: height, 3: width} if each.dim() == 4 else None for each in inputs)


def partitioner(args: argparse.Namespace) -> VulkanPartitioner:
    options = {name: True for name in OPTIONS if getattr(args, name)}
    if args.dynamic:
        options["require_dynamic_shapes"] = True
    return VulkanPartitioner(options)


def lower(method: Method, args: argparse.Namespace) -> ExecutorchProgramManager:
    shapes = dynamic_images(method.inputs) if args.dynamic else method.dynamic_shapes
    with torch.no_grad():
        exported = torch.export.export(
            method.module, method.inputs, dynamic_shapes=shapes, strict=args.strict
        )
    edge = to_edge_transform_and_lower(
        exported, partitioner=[partitioner(args)], generate_etrecord=bool(args.etrecord)
    )
    return edge.to_executorch()


def save_bundled(program: ExecutorchProgramManager, method: Method, path: Path) -> None:
    from executorch.devtools.bundled_program.config import MethodTestCase, MethodTestSuite
    from executorch.devtools.bundled_program.serialize import write_bundled_program

    case = MethodTestCase(inputs=list(method.inputs), expected_outputs=method.eager()[0])
    write_bundled_program(program, [MethodTestSuite("forward", [case])], path)


def check(program: ExecutorchProgramManager, method: Method, is_half: bool) -> None:
    """RuntimeError where the program gives something else than the model, or cannot run here."""
    from executorch.runtime import Runtime

    inputs = torch.utils._pytree.tree_leaves(method.inputs)
    found = Runtime.get().load_program(program.buffer).load_method("forward").execute(inputs)
    expected = method.eager()[0]
    tolerance = dict(TOLERANCES[is_half])
    if is_half:
        tolerance["atol"] = max(tolerance["atol"], half_error(method, expected))
    for place, (one, other) in enumerate(zip(found, expected, strict=True)):
        if not torch.allclose(one, other, **tolerance):
            error = (one - other).abs().max().item()
            raise RuntimeError(
                f"output {place}: expected the model's values within {tolerance}, "
                f"found an error of {error:.1e}"
            )


def half_error(method: Method, expected: list[torch.Tensor]) -> float:
    """The largest of PyTorch's own half precision, which deep networks have more of than a tolerance for all says: 50
    layers that each round to 11 bits leave MobileNetV2 with random weights 0.045 away from logits of up to 3."""

    def halved(each: Any) -> Any:
        is_float = isinstance(each, torch.Tensor) and each.is_floating_point()
        return each.half() if is_float else each

    inputs = torch.utils._pytree.tree_map(halved, method.inputs)
    try:
        found = Method(copy.deepcopy(method.module).half(), inputs).eager()[0]
    except RuntimeError:  # PyTorch has no half precision of some operator here
        return 0.0
    pairs = zip(found, expected, strict=True)
    return max((one.float() - other.float()).abs().max().item() for one, other in pairs)


def main(argv: list[str] | None = None) -> int:
    arguments = parser()
    args = arguments.parse_args(argv)
    method = chosen_example(arguments, args.model_name).forward
    program = lower(method, args)
    if args.etrecord:
        program.get_etrecord().save(args.etrecord)
    name = f"{args.model_name}_vulkan"
    print(f"wrote {save_pte_program(program, name, args.output_dir)}")
    if args.bundled:
        save_bundled(program, method, Path(args.output_dir, f"{name}.bpte"))
    if args.save_inputs:
        for place, each in enumerate(torch.utils._pytree.tree_leaves(method.inputs)):
            Path(args.output_dir, f"input{place}.bin").write_bytes(
                each.contiguous().numpy().tobytes()
            )
    if args.test:
        check(program, method, args.force_fp16)
        print("same as the model")
    return 0


if __name__ == "__main__":
    sys.exit(main())
