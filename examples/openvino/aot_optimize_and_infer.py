# SPDX-License-Identifier: BSD-3-Clause
"""Exports a model of torchvision, timm or Hugging Face for OpenVINO, quantizes, validates and runs it.

python aot_optimize_and_infer.py --export --suite torchvision --model resnet50 --input_shape "(1, 3, 256, 256)"
"""

from __future__ import annotations

import argparse
import ast
import os
import shutil
import sys
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import torch

from executorch.backends.openvino import OpenvinoPartitioner
from executorch.exir import to_edge_transform_and_lower
from executorch.exir.backend.compile_spec_schema import CompileSpec


def _torchvision(name: str, pretrained: bool) -> torch.nn.Module:
    import torchvision

    return torchvision.models.get_model(name, weights="DEFAULT" if pretrained else None)


def _timm(name: str, pretrained: bool) -> torch.nn.Module:
    import timm

    return timm.create_model(name, pretrained=pretrained)


def _huggingface(name: str, pretrained: bool) -> torch.nn.Module:
    from transformers import AutoConfig, AutoModel

    if pretrained:
        return AutoModel.from_pretrained(name, return_dict=False)
    return AutoModel.from_config(AutoConfig.from_pretrained(name, return_dict=False))


SUITES: dict[str, Callable[[str, bool], torch.nn.Module]] = {
    "timm": _timm,
    "torchvision": _torchvision,
    "huggingface": _huggingface,
}


def load_model(suite: str, name: str) -> torch.nn.Module:
    """With its trained weights where they can be fetched, else with random ones and a warning."""
    try:
        return SUITES[suite](name, True).eval()
    except OSError as error:
        print(f"warning: no weights of {name} ({error}): random ones", file=sys.stderr)
        return SUITES[suite](name, False).eval()


def images(folder: str, shape: tuple[int, ...]) -> torch.utils.data.DataLoader:
    """Those of `folder`/val, in a folder for each class, in the sizes and batches of the model."""
    from torchvision import datasets, transforms

    prepare = transforms.Compose(
        [
            transforms.Resize(int(shape[-1] * 8 / 7)),
            transforms.CenterCrop(shape[-2:]),
            transforms.ToTensor(),
            transforms.Normalize(mean=(0.485, 0.456, 0.406), std=(0.229, 0.224, 0.225)),
        ]
    )
    found = datasets.ImageFolder(str(Path(folder, "val")), prepare)
    return torch.utils.data.DataLoader(found, batch_size=shape[0], drop_last=True)


def export(
    model: torch.nn.Module, example: tuple[torch.Tensor], device: str, samples: Iterable[Any] | None
) -> Any:
    """The program; quantized when there are samples."""
    captured = torch.export.export(model, example)
    if samples is not None:
        from executorch.backends.openvino.quantizer import quantize_model

        quantized = quantize_model(captured.module(), samples, transform_fn=lambda item: item[0])
        captured = torch.export.export(quantized, example)
    partitioner = OpenvinoPartitioner([CompileSpec("device", device.encode())])
    return to_edge_transform_and_lower(captured, partitioner=[partitioner]).to_executorch()


def load(file: str) -> Callable[[torch.Tensor], Any]:
    from executorch.runtime import Runtime

    method = Runtime.get().load_program(file).load_method("forward")
    return lambda x: method.execute([x])


def validate(file: str, data: Iterable[Any]) -> float:
    """The part of images whose class comes first."""
    run, right, seen = load(file), 0, 0
    for x, classes in data:
        right += int((run(x)[0].argmax(dim=1) == classes).sum())
        seen += len(classes)
    return right / seen


def infer(file: str, x: torch.Tensor, warmup: int, times: int) -> tuple[float, Any]:
    """Seconds of a run on average, and what the last gave."""
    run = load(file)
    for _ in range(warmup):
        run(x)
    start = time.perf_counter()
    for _ in range(times):
        found = run(x)
    return (time.perf_counter() - start) / times, found


def parse(argv: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__.splitlines()[0], epilog=__doc__.splitlines()[2]
    )
    add = parser.add_argument
    add("--suite", required=True, choices=sorted(SUITES), help="where the model comes from")
    add("--model", required=True, help="its name there")
    add("--input_shape", type=ast.literal_eval, help='such as "(1, 3, 224, 224)"')
    add("--batch_size", type=int, default=1, help="in place of the shape's first number")
    add("--export", action="store_true", help="write a program")
    add("--model_file_name", help="its file; MODEL_fp32.pte or MODEL_int8.pte unless given")
    add("--quantize", action="store_true", help="to 8 bits, with images of --dataset")
    add("--validate", action="store_true", help="print the accuracy on --dataset")
    add("--infer", action="store_true", help="print the time of a run")
    add("--num_iter", type=int, default=1, help="runs that are timed")
    add("--warmup_iter", type=int, default=0, help="runs before them")
    add("--input_tensor_path", help="a tensor (torch.save) to run on; random numbers unless given")
    add("--output_tensor_path", help="where the results are saved")
    add("--dataset", help="a folder with val/CLASS/IMAGE")
    add("--device", default="CPU", help="CPU, GPU, NPU, AUTO, ...")
    options = parser.parse_args(argv)
    if (options.quantize or options.validate) and not options.dataset:
        parser.error("--quantize and --validate need --dataset DIR, with images in DIR/val/CLASS")
    if (options.quantize or options.validate) and options.suite == "huggingface":
        raise ValueError(
            "models of huggingface are neither quantized nor validated: they have no images"
        )
    return options


def main(argv: list[str] | None = None) -> int:
    options = parse(argv)
    shape = tuple(options.input_shape or (1, 3, 224, 224))
    shape = (options.batch_size if options.batch_size > 1 else shape[0], *shape[1:])
    kind = "int8" if options.quantize else "fp32"
    file = options.model_file_name or f"{options.model}_{kind}.pte"
    data = images(options.dataset, shape) if options.dataset else None
    integers = options.suite == "huggingface" and len(shape) == 2
    x = torch.zeros(shape, dtype=torch.int64) if integers else torch.randn(shape)
    if options.export:
        model = load_model(options.suite, options.model)
        export(model, (x,), options.device, data if options.quantize else None).save(file)
        print(f"Model exported and saved as {file} on {options.device}.")
        if not options.model_file_name and not options.quantize:
            _same_file(file, f"{options.model}.pte")
    if options.validate:
        print("Start validation of the model:")
        print(f"acc@1: {validate(file, data)}")
    if options.infer:
        if options.input_tensor_path:
            x = torch.load(options.input_tensor_path, weights_only=True)
        print("Start inference of the model:")
        seconds, found = infer(file, x, options.warmup_iter, options.num_iter)
        print(f"Average inference time: {seconds}")
        if options.output_tensor_path:
            torch.save(list(found), options.output_tensor_path)
    return 0


def _same_file(file: str, name: str) -> None:
    """The name that the OpenVINO page has for it."""
    Path(name).unlink(missing_ok=True)
    try:
        os.link(file, name)
    except OSError:  # another file system's rules
        shutil.copyfile(file, name)


if __name__ == "__main__":
    sys.exit(main())
