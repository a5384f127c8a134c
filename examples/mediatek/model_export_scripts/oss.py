# SPDX-License-Identifier: BSD-3-Clause
"""A model of the examples for MediaTek's NPUs: `python -m executorch.examples.mediatek.model_export_scripts.oss
mobilenetv3` writes mobilenetV3/mobilenetV3_mtk.pte, inputs (input_list.txt, input_0_0.bin, ...) and what the model
gives for them in PyTorch (golden_0_0.bin, ...)."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any

import torch
from torch.utils._pytree import tree_leaves

from executorch.backends.mediatek import Precision
from executorch.examples.mediatek.aot_utils.oss_utils.utils import (
    build_executorch_binary,
    make_output_dir,
)
from executorch.examples.models.command_line import chosen_example
from executorch.exir._serialize._tensor_bytes import tensor_bytes
from executorch.exir.backend.lowering.external.compiler import MissingCompiler

# What documents call a model, the folder's name, and the name among the examples.
MODELS = {
    "deeplabv3": ("deeplabV3", "dl3"),
    "inceptionv3": ("inceptionV3", "ic3"),
    "mobilenetv2": ("mobilenetV2", "mv2"),
    "mobilenetv3": ("mobilenetV3", "mv3"),
    "resnet18": ("resnet18", "resnet18"),
    "resnet50": ("resnet50", "resnet50"),
    "vit_b_16": ("vit_b_16", "vit"),
}


def write_samples(folder: Path, model: torch.nn.Module, samples: list[tuple[Any, ...]]) -> None:
    """input_i_j.bin, named by a line of input_list.txt each, and golden_i_j.bin."""
    lines = []
    for number, sample in enumerate(samples):
        with torch.no_grad():
            results = tree_leaves(model(*sample))
        for kind, values in (("input", sample), ("golden", results)):
            for place, each in enumerate(values):
                data = tensor_bytes(each.contiguous())
                (folder / f"{kind}_{number}_{place}.bin").write_bytes(bytes(data))
        lines.append(" ".join(f"input_{number}_{place}.bin" for place in range(len(sample))))
    (folder / "input_list.txt").write_text("\n".join(lines) + "\n")


def main(argv: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("model", choices=sorted(MODELS), help="which model")
    parser.add_argument("-a", "--artifact", type=Path, help="the folder; default: ./MODEL")
    parser.add_argument(
        *("-p", "--precision"),
        choices=[each.name for each in Precision],
        help="calibrated with the example's inputs; unless given, floats",
    )
    args = parser.parse_args(argv)
    folder_name, example = MODELS[args.model]
    (method,) = chosen_example(parser, example).methods.values()
    samples = [method.inputs]
    folder = make_output_dir(args.artifact or folder_name)
    write_samples(folder, method.module, samples)
    precision = None if args.precision is None else Precision[args.precision]
    file = folder / f"{folder_name}_mtk"
    try:
        build_executorch_binary(method.module, method.inputs, file, samples, precision)
    except MissingCompiler as missing:
        print(f"error: {missing}", file=sys.stderr)
        return 1
    print(f"wrote {file}.pte")
    return 0


if __name__ == "__main__":
    sys.exit(main())
