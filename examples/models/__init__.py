# SPDX-License-Identifier: BSD-3-Clause
"""The example models by name; a new model is one row of SMALL (or of NETWORKS).

`MODEL_NAME_TO_MODEL` has upstream's names and values, for `EagerModelFactory.create_model(*MODEL_NAME_TO_MODEL[name])`.
`make_example(name)` gives a model with fixed random weights; `make_example(name, dynamic=True)` one with a
dynamic dimension and calls at three sizes, for the names in NETWORKS.
"""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import nn

from executorch.examples.models import small_programs as small
from executorch.examples.models.example import Example, Inputs, Method, single
from executorch.examples.models.networks import NETWORKS

__all__ = [
    "EXAMPLES",
    "MODEL_NAME_TO_MODEL",
    "NETWORKS",
    "SMALL",
    "Example",
    "Inputs",
    "Method",
    "make_example",
]


def _two_methods() -> Example:
    shared = nn.Linear(6, 3)
    encode, decode = small.Encode(shared).eval(), small.Decode(shared).eval()
    x, code = torch.randn(2, 6), torch.randn(2, 3)
    return Example(
        {
            "encode": Method(encode, (x,), ((x,),)),
            "decode": Method(decode, (code, 2.0), ((code, 2.0),)),
        }
    )


def _of_rows(module: nn.Module, width: int) -> Example:
    """A module that takes any number of rows up to 16."""
    rows = torch.export.Dim("rows", min=1, max=16)
    calls = [(torch.randn(n, width),) for n in (1, 5, 16)]
    return single(module.eval(), (torch.randn(4, width),), calls, ({0: rows},))


def _wide() -> Example:
    layers = (nn.Linear(256, 256), nn.ReLU(), nn.Linear(256, 128))
    return _of_rows(nn.Sequential(*layers), 256)


def _cond() -> Example:
    positive = torch.rand(3, 4) + 0.1
    return single(small.Cond().eval(), (positive,), ((positive,), (-positive,)))


def _running_total() -> Example:
    x = torch.randn(2, 3)
    return single(small.RunningTotal().eval(), (x,), ((x,), (torch.ones(2, 3),), (-x,)))


SMALL: dict[str, Callable[[], Example]] = {
    "add": lambda: single(small.Add(), (torch.ones(1), torch.ones(1))),
    "mul": lambda: single(small.Mul(), (torch.randn(3, 2), torch.randn(3, 2))),
    "linear": lambda: single(nn.Linear(3, 3).eval(), (torch.randn(2, 3),)),
    "softmax": lambda: single(nn.Softmax(-1), (torch.zeros(2, 2),)),
    "add_mul": lambda: single(small.AddMul(), tuple(torch.randn(2, 2) for _ in range(3))),
    "cond": _cond,
    "two_methods": _two_methods,
    "running_total": _running_total,
    "list_output": lambda: single(small.ListOutput(), (torch.randn(4, 3),)),
    "dict_output": lambda: single(
        small.DictOutput(), ({"a": torch.randn(3), "b": torch.randn(3)},)
    ),
    "dynamic_rows": lambda: _of_rows(small.DynamicRows(), 8),
    "wide": _wide,
    "expansion": lambda: single(small.Expansion().eval(), (torch.randn(1, 4, 64, 66),)),
    "small_image": lambda: single(small.SmallImage().eval(), (torch.randn(1, 3, 11, 9),)),
}

EXAMPLES: dict[str, Callable[[], Example]] = {
    **{name: lambda row=row: row.example(dynamic=False) for name, row in NETWORKS.items()},
    **SMALL,
}

# name -> (module in this folder, class in it)
MODEL_NAME_TO_MODEL: dict[str, tuple[str, str]] = {
    "mul": ("toy_model", "MulModule"),
    "linear": ("toy_model", "LinearModule"),
    "add": ("toy_model", "AddModule"),
    "add_mul": ("toy_model", "AddMulModule"),
    "softmax": ("toy_model", "SoftmaxModule"),
    "conv1d": ("toy_model", "Conv1dModule"),
    "sdpa": ("toy_model", "SdpaModule"),
    "lite0": ("efficientnet_lite", "EfficientNetLite0Model"),
    "dl3": ("deeplab_v3", "DeepLabV3ResNet50Model"),
    "llama2": ("llama", "Llama2Model"),
    "llama": ("llama", "Llama2Model"),
    "mv2": ("mobilenet_v2", "MV2Model"),
    "mv2_untrained": ("mobilenet_v2", "MV2UntrainedModel"),
    "mv3": ("mobilenet_v3", "MV3Model"),
    "vit": ("torchvision_vit", "TorchVisionViTModel"),
    "ic3": ("inception_v3", "InceptionV3Model"),
    "resnet18": ("resnet", "ResNet18Model"),
    "resnet50": ("resnet", "ResNet50Model"),
    "deep_autoencoder": ("mlperf_tiny.deep_autoencoder", "DeepAutoEncoderModel"),
    "ds_cnn": ("mlperf_tiny.ds_cnn", "DSCNNKWSModel"),
    "mobilenet_v1_025": ("mlperf_tiny.mobilenet_v1_025", "MobileNetV1025Model"),
    "resnet8": ("mlperf_tiny.resnet8", "ResNet8Model"),
}


def make_example(name: str, dynamic: bool = False) -> Example:
    """The model `name`, always with the same weights and inputs; leaves torch's random state alone."""
    if name not in EXAMPLES:
        known = ", ".join(EXAMPLES)
        raise ValueError(f"no model is called {name!r}; expected one of: {known}")
    if dynamic and name not in NETWORKS:
        raise ValueError(f"{name!r} has no dynamic form; these have: {', '.join(NETWORKS)}")
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        return NETWORKS[name].example(dynamic=True) if dynamic else EXAMPLES[name]()
