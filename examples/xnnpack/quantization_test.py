# SPDX-License-Identifier: BSD-3-Clause
"""Each way to quantize leaves its operators in the graph and nearly the numbers."""

import pytest
import torch
from torch import nn

from executorch.examples.models import EXAMPLES
from executorch.examples.xnnpack import MODEL_NAME_TO_OPTIONS, QuantType
from executorch.examples.xnnpack.quantization import quantize

MARKS = {
    QuantType.STATIC_PER_TENSOR: ("quantize_per_tensor.default", "per_channel"),
    QuantType.STATIC_PER_CHANNEL: ("dequantize_per_channel.default", "choose_qparams"),
    QuantType.DYNAMIC_PER_CHANNEL: ("choose_qparams.tensor", "nothing"),
}


@pytest.mark.parametrize("kind", MARKS, ids=lambda kind: kind.name)
def test_a_model_is_quantized_as_asked(kind: QuantType) -> None:
    torch.manual_seed(0)
    model, inputs = nn.Sequential(nn.Linear(16, 8), nn.ReLU()).eval(), (torch.randn(4, 16),)
    made = quantize(torch.export.export(model, inputs).module(), inputs, kind)
    present, absent = MARKS[kind]
    assert present in made.code and absent not in made.code
    torch.testing.assert_close(made(*inputs), model(*inputs), atol=0.05, rtol=0.05)


def test_none_leaves_it_and_options_are_of_models() -> None:
    model = nn.Linear(2, 2)
    assert quantize(model, (torch.randn(1, 2),), QuantType.NONE) is model
    assert set(MODEL_NAME_TO_OPTIONS) <= set(EXAMPLES)
