# SPDX-License-Identifier: BSD-3-Clause
"""Models quantized, lowered and run by the kernels: the dialect's bits, within one step of what was quantized."""

from __future__ import annotations

from collections import Counter

import pytest
import torch
from torch import nn

from executorch.backends.cortex_m.library import cmsis_nn
from executorch.backends.cortex_m.passes import AtenToCortexMPass, CortexMPassManager
from executorch.backends.cortex_m.passes.edge_config import edge_config
from executorch.backends.cortex_m.target_config import CortexM, CortexMTargetConfig
from executorch.backends.cortex_m.test.lowered import lowered, quantized
from executorch.backends.test.corpus.row import Function
from executorch.examples.models.mlperf_tiny import DSCNNKWS, DeepAutoEncoder, ResNet8
from executorch.exir import to_edge
from executorch.exir.backend.lowering.kernels.memory_order import have_same_dim_order
from executorch.exir.graph_facts import op_name
from executorch.runtime import Runtime


def image(*sizes: int) -> torch.Tensor:
    return torch.randn(sizes).to(memory_format=torch.channels_last)


F = nn.functional
# Model, inputs, the operators of cortex_m beside quantize and dequantize.
MODELS = {
    "add": (Function(torch.add), (torch.randn(3, 4), torch.randn(3, 4)), {"quantized_add": 1}),
    "mul": (Function(torch.mul), (torch.randn(3, 4), torch.randn(3, 4)), {"quantized_mul": 1}),
    "number": (Function(lambda x: x * 0.5), (torch.randn(3, 4),), {"quantized_mul": 1}),
    "add, relu": (
        Function(lambda x, y: F.relu(x + y)),
        (torch.randn(3, 4), torch.randn(3, 4)),
        {"quantized_add": 1},
    ),
    "linear": (nn.Linear(5, 7), (torch.randn(3, 5),), {"quantized_linear": 1}),
    "linear, relu": (
        nn.Sequential(nn.Linear(5, 7), nn.ReLU()),
        (torch.randn(3, 5),),
        {"quantized_linear": 1},
    ),
    "conv, limits": (
        nn.Sequential(nn.Conv2d(3, 8, 3), nn.Hardtanh(-0.2, 0.3)),
        (image(2, 3, 7, 6),),
        {"quantized_conv2d": 1},
    ),
    "depthwise": (
        nn.Conv2d(4, 8, 3, groups=4),
        (image(1, 4, 7, 6),),
        {"quantized_depthwise_conv2d": 1},
    ),
    "transposed": (
        nn.ConvTranspose2d(4, 3, 3, stride=2, padding=1),
        (image(1, 4, 5, 6),),
        {"quantized_transpose_conv2d": 1},
    ),
    "means": (
        nn.AvgPool2d(2, padding=1),
        (image(1, 3, 6, 6),),
        {"quantized_avg_pool2d": 1, "pad": 1},
    ),
    "largest": (nn.MaxPool2d(2), (image(1, 3, 6, 6),), {"quantized_max_pool2d": 1}),
    "softmax": (nn.Softmax(-1), (torch.randn(3, 9),), {"softmax": 1}),
    "matmul": (
        Function(torch.matmul),
        (torch.randn(2, 3, 4), torch.randn(2, 4, 5)),
        {"quantized_batch_matmul": 1, "transpose": 1},
    ),
    "minimum": (Function(torch.minimum), (torch.randn(3, 4), torch.randn(3, 4)), {"minimum": 1}),
    "permute": (Function(lambda x: x.permute(1, 0)), (torch.randn(3, 4),), {"transpose": 1}),
    "pad": (Function(lambda x: F.pad(x, (1, 2), value=0.5)), (torch.randn(3, 4),), {"pad": 1}),
    "view": (Function(lambda x: x.view(4, 3)), (torch.randn(3, 4),), {}),
    **{
        name: (Function(getattr(F, name)), (torch.randn(3, 40),), {"quantized_activation": 1})
        for name in ("sigmoid", "tanh", "silu", "hardswish", "hardsigmoid", "gelu", "elu")
    },
}


def called(edge: object) -> Counter[str]:
    nodes = edge.exported_program().graph.nodes
    names = [op_name(node).split(".") for node in nodes if op_name(node)]
    floats = {"quantize_per_tensor", "dequantize_per_tensor"}
    return Counter(name for space, name, _ in names if space == "cortex_m" and name not in floats)


def run(
    model: nn.Module,
    inputs: tuple[torch.Tensor, ...],
    form: torch.memory_format = torch.channels_last,
) -> tuple[Counter[str], torch.Tensor]:
    """What is called, and by how many steps the kernels' result is apart from the quantized model's. `form`: of images
    and of the model that gets them."""
    model = model.eval()
    if any(each.dim() == 4 for each in inputs):
        model = model.to(memory_format=form)
        inputs = tuple(each.to(memory_format=form) for each in inputs)
    stored = quantized(model, *inputs)
    edge = lowered(to_edge(torch.export.export(stored, inputs), compile_config=edge_config()))
    counts, dialect = called(edge), edge.exported_program().module()(*inputs)
    last = edge.exported_program().graph.output_node().args[0][0]
    scale = last.args[1]
    program = Runtime.get().load_program(edge.to_executorch().buffer)
    (found,) = program.load_method("forward").execute(inputs)
    expected = stored(*inputs)
    assert torch.equal(found, dialect)
    assert found.dim() != 4 or have_same_dim_order(found, expected)
    return counts, (found - expected).abs().max() / scale


@pytest.mark.req("ARM-037", "ARM-039")
@pytest.mark.parametrize("name", MODELS)
def test_models(name: str) -> None:
    torch.manual_seed(0)
    model, inputs, expected = MODELS[name]
    counts, steps = run(model, inputs)
    assert counts == Counter(expected)
    assert steps < 1.01


@pytest.mark.req("ARM-037")
def test_tiny_networks_have_no_float_inside() -> None:
    """As many operators as upstream's passes make."""
    torch.manual_seed(0)
    counts, steps = run(DeepAutoEncoder(), (torch.rand(1, 640),))
    assert counts == {"quantized_linear": 10} and steps < 1.01
    keywords = {"quantized_conv2d": 4, "quantized_depthwise_conv2d": 5, "quantized_avg_pool2d": 1}
    counts, steps = run(DSCNNKWS(), (image(1, 1, 49, 10),))
    assert counts == {**keywords, "quantized_linear": 1} and steps < 1.01
    classifier = {"quantized_conv2d": 9, "quantized_add": 3, "quantized_avg_pool2d": 1}
    counts, steps = run(ResNet8(), (image(1, 3, 32, 32),))
    assert counts == {**classifier, "quantized_linear": 1} and steps < 3.01


class Blocks(nn.Module):
    """A sum with the input's own convolution, a gate for each channel, a pool, a cut."""

    def __init__(self) -> None:
        super().__init__()
        self.first, self.beside = nn.Conv2d(3, 4, 3, padding=1), nn.Conv2d(3, 4, 1)
        self.gate = nn.Conv2d(4, 4, 1)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = F.relu(self.first(x)) + self.beside(x)
        y = F.max_pool2d(y * torch.sigmoid(self.gate(F.adaptive_avg_pool2d(y, 1))), 2)
        return y[:, 1:]


def spotter() -> nn.Module:
    """Of keywords, in small: images of one channel lie as they like."""
    layers = [nn.Conv2d(1, 4, (3, 2), stride=2), nn.ReLU(), nn.Conv2d(4, 4, 3, groups=4)]
    return nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(4, 3))


# The operators, which are those of a model with channels last.
IMAGES = {
    "keywords": (
        spotter,
        (1, 1, 11, 8),
        {"quantized_depthwise_conv2d": 2, "quantized_avg_pool2d": 1, "quantized_linear": 1},
    ),
    "blocks": (
        Blocks,
        (1, 3, 6, 6),
        {"quantized_conv2d": 3, "quantized_add": 1, "quantized_avg_pool2d": 1}
        | {"quantized_activation": 1, "quantized_mul": 1, "quantized_max_pool2d": 1},
    ),
    "transposed": (
        lambda: nn.Sequential(nn.ConvTranspose2d(3, 4, 3, 2), nn.ReLU()),
        (2, 3, 5, 6),
        {"quantized_transpose_conv2d": 1},
    ),
}


@pytest.mark.parametrize("name", IMAGES)
def test_images_may_have_their_channels_first(name: str) -> None:
    """Who calls the program sees nothing of it."""
    torch.manual_seed(0)
    make, sizes, expected = IMAGES[name]
    counts, steps = run(make(), (torch.randn(sizes),), torch.contiguous_format)
    assert counts == expected and steps < 1.01


def test_reasons_name_the_order_of_images() -> None:
    """Where the pass that copies them is left out."""
    model, x = nn.Sequential(nn.Conv2d(3, 8, 3), nn.ReLU()).eval(), torch.randn(1, 3, 7, 6)
    stored = quantized(model, x)
    edge = to_edge(torch.export.export(stored, (x,)), compile_config=edge_config())
    program = edge.exported_program()
    (reason,) = AtenToCortexMPass(program).why_not(program.graph_module).values()
    assert "model.to(memory_format=torch.channels_last)" in reason


def test_what_stays_float_is_said() -> None:
    model = nn.Sequential(nn.Conv1d(3, 4, 3), nn.ReLU(), nn.Softmax(1), nn.Linear(8, 2)).eval()
    text = "(?s)in floats here:.*convolution.default: two dimensions .*conv.py.*_softmax.default: the dim"
    with pytest.warns(UserWarning, match=text):
        run(model, (torch.randn(1, 3, 10),))


def test_functions_of_floats_have_kernels() -> None:
    """What the edge program keeps whole for int8 is taken apart where it is not quantized."""
    functions = nn.Sequential(nn.Linear(4, 8), nn.SiLU(), nn.Hardswish(), nn.Hardsigmoid()).eval()
    x = torch.randn(3, 4)
    edge = lowered(to_edge(torch.export.export(functions, (x,)), compile_config=edge_config()))
    program = Runtime.get().load_program(edge.to_executorch().buffer)
    (found,) = program.load_method("forward").execute((x,))
    torch.testing.assert_close(found, functions(x))


@pytest.mark.parametrize(("cpu", "isa"), [("M3", "SCALAR"), ("M33", "DSP"), ("M55", "MVE")])
def test_targets(cpu: str, isa: str) -> None:
    target = CortexMTargetConfig.from_target_string(f"cortex-{cpu.lower()}")
    assert CortexMPassManager(None).target_config == CortexMTargetConfig(CortexM.M55)
    assert target == CortexMTargetConfig(CortexM[cpu]) and target.backend.name == isa
    assert target.target_string == f"cortex-{cpu.lower()}"


@pytest.mark.parametrize("name", ["cortex-m55+int8", "cortex-m52", "arm-m4", "cortex-M4"])
def test_other_targets_are_refused(name: str) -> None:
    with pytest.raises(ValueError, match="expected one of cortex-m0, "):
        CortexMTargetConfig.from_target_string(name)


def test_instructions_that_a_processor_lacks_are_refused() -> None:
    with pytest.raises(
        ValueError, match="MVE is not supported by cortex-m4, which has DSP, SCALAR"
    ):
        CortexMTargetConfig(CortexM.M4, cmsis_nn.Backend.MVE)


def test_scratch_sizes() -> None:
    """The number that upstream's wheel gives: 3 * 3 * 16 values in columns of 16, four of them."""
    sizes = {"input_nhwc": [1, 8, 8, 16], "filter_nhwc": [8, 3, 3, 16], "output_nhwc": [1, 6, 6, 8]}
    shape = {"padding_hw": (0, 0), "stride_hw": (1, 1), "dilation_hw": (1, 1)}
    size = cmsis_nn.convolve_wrapper_buffer_size
    assert size(cmsis_nn.Backend.MVE, cmsis_nn.DataType.A8W8, **sizes, **shape) == 576
    with pytest.raises(ValueError, match="backend=0 data_type=0"):
        size(cmsis_nn.Backend.MVE, cmsis_nn.DataType.A8W4, **sizes, **shape)


def test_what_is_no_program_is_refused() -> None:
    with pytest.raises(ValueError, match="CortexMPassManager.* needs a real ExportedProgram"):
        CortexMPassManager(None).transform()
    program = to_edge(torch.export.export(nn.ReLU(), (torch.ones(2),))).exported_program()
    with pytest.raises(ValueError, match="expects pass classes, not instances"):
        CortexMPassManager(program, [AtenToCortexMPass()]).transform()
