# SPDX-License-Identifier: BSD-3-Clause
"""Exports RF-DETR by its own command with random weights and runs the file beside the eager network."""

import json
from pathlib import Path

import torch
from rfdetr import RFDETRNano

from executorch.runtime import Runtime

torch.manual_seed(0)
detector = RFDETRNano(pretrain_weights=None)
detector.export(output_dir="out", format="executorch", backend="xnnpack")
(path,) = Path("out").glob("*.pte")
method = Runtime.get().load_program(path).load_method("forward")
image = torch.randn(*method.metadata.input_tensor_meta(0).sizes())
ours = method.execute([image])
network = detector.model.model.cpu().eval()
network.export()
with torch.no_grad():
    eager = [value for value in network(image) if value is not None]
print(
    json.dumps(
        {
            "shapes": [list(value.shape) for value in ours],
            "eager_shapes": [list(value.shape) for value in eager],
            "relative_differences": [
                float((a - b).norm() / b.norm()) for a, b in zip(ours, eager, strict=True)
            ],
        }
    )
)
