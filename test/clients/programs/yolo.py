# SPDX-License-Identifier: BSD-3-Clause
"""Exports networks of ultralytics from their yaml definitions, runs each file here and through ultralytics' predict."""

import json
import sys
from pathlib import Path

import numpy as np
import torch
from ultralytics import YOLO

from executorch.runtime import Runtime

SIZE = 64


def one(name: str) -> dict:
    torch.manual_seed(0)
    model = YOLO(name)
    image = torch.rand(1, 3, SIZE, SIZE)
    folder = Path(model.export(format="executorch", imgsz=SIZE))
    method = Runtime.get().load_program(folder / "model.pte").load_method("forward")
    ours = method.execute([image])[0]
    with torch.no_grad():
        answer = model.model.eval()(image)
    while isinstance(answer, (tuple, list)):
        answer = answer[0]
    norms = answer.norm(dim=-1)  # of each channel: boxes are far larger than scores
    pixels = np.random.default_rng(0).integers(0, 255, (SIZE, SIZE, 3), dtype=np.uint8)
    (result,) = YOLO(str(folder), task=model.task).predict(pixels, imgsz=SIZE, verbose=False)
    return {
        "shape": list(ours.shape),
        "eager_shape": list(answer.shape),
        "relative_difference": float(((ours - answer).norm(dim=-1) / norms).max()),
        "smallest_norm": float(norms.min()),
        "predicted": type(result).__name__,
    }


print(json.dumps({name: one(name) for name in sys.argv[1:]}))
