# SPDX-License-Identifier: BSD-3-Clause
"""The documents' flow, in two steps."""

from __future__ import annotations

from collections.abc import Iterable

import torch
from torch import Tensor, nn
from torchao.quantization.pt2e.quantize_pt2e import convert_pt2e, prepare_pt2e

from executorch.backends.cortex_m.passes import CortexMPassManager
from executorch.backends.cortex_m.quantizer import CortexMQuantizer
from executorch.backends.cortex_m.target_config import CortexMTargetConfig
from executorch.exir import EdgeProgramManager


def quantized(
    model: nn.Module, *inputs: Tensor, samples: Iterable[tuple[Tensor, ...]] = ()
) -> nn.Module:
    """Calibrated with these inputs, and with `samples`."""
    captured = torch.export.export(model, inputs).module()
    prepared = prepare_pt2e(captured, CortexMQuantizer())
    for each in (inputs, *samples):
        prepared(*each)
    return convert_pt2e(prepared)


def lowered(
    edge: EdgeProgramManager, target: CortexMTargetConfig | None = None
) -> EdgeProgramManager:
    """As the documents do it."""
    manager = CortexMPassManager(edge.exported_program(), target_config=target)
    edge._edge_programs["forward"] = manager.transform()
    return edge
