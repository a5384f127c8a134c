# SPDX-License-Identifier: BSD-3-Clause
"""Models by the names of their module and class."""

import importlib
import importlib.util

import pytest
import torch

from executorch.examples.models import MODEL_NAME_TO_MODEL
from executorch.examples.models.model_base import EagerModelBase
from executorch.examples.models.model_factory import EagerModelFactory

TOYS = [
    ("toy_model", name) for name in ("Mul", "Linear", "Add", "AddMul", "Softmax", "Conv1d", "Sdpa")
]
NETWORKS = [
    ("mobilenet_v3", "MV3Model"),
    ("inception_v3", "InceptionV3Model"),
    ("torchvision_vit", "TorchVisionViTModel"),
    ("resnet", "ResNet18Model"),
    ("resnet", "ResNet50Model"),
    ("deeplab_v3", "DeepLabV3ResNet50Model"),
    ("deeplab_v3", "DeepLabV3ResNet101Model"),
]


@pytest.mark.parametrize(("module", "name"), TOYS)
def test_a_small_model_exports_with_its_inputs(module: str, name: str) -> None:
    model, inputs, keywords, shapes = EagerModelFactory.create_model(module, f"{name}Module")
    assert keywords is None and shapes is None
    program = torch.export.export(model, inputs)
    torch.testing.assert_close(program.module()(*inputs), model(*inputs))


@pytest.mark.parametrize("name", MODEL_NAME_TO_MODEL)
def test_names_lead_to_classes_of_models(name: str) -> None:
    module, class_name = MODEL_NAME_TO_MODEL[name]
    found = getattr(importlib.import_module(f"executorch.examples.models.{module}"), class_name)
    assert issubclass(found, EagerModelBase)


def test_a_model_is_made_by_its_name() -> None:
    model, inputs, *_ = EagerModelFactory.create_model(*MODEL_NAME_TO_MODEL["add_mul"])
    assert model(*inputs).shape == (2, 2)


def test_mobilenet_v2_has_its_thousand_classes() -> None:
    model, inputs, *_ = EagerModelFactory.create_model("mobilenet_v2", "MV2UntrainedModel")
    assert model(*inputs).shape == (1, 1000)


@pytest.mark.parametrize(("module", "name"), NETWORKS)
@pytest.mark.skipif(importlib.util.find_spec("torchvision") is not None, reason="it is installed")
def test_without_torchvision_it_says_what_to_install(module: str, name: str) -> None:
    with pytest.raises(ImportError, match=f"{name} is torchvision's .*; pip install torchvision"):
        EagerModelFactory.create_model(module, name)


# name -> shape of the result, parameters as upstream's models have
TINY = {
    "DeepAutoEncoder": ((1, 640), 267_928),
    "DSCNNKWS": ((1, 12), 23_180),
    "MobileNetV1025": ((1, 2), 213_586),
    "ResNet8": ((1, 10), 77_850),
}


@pytest.mark.parametrize("name", TINY)
def test_networks_of_mlperf_tiny_export(name: str) -> None:
    model, inputs, *_ = EagerModelFactory.create_model("mlperf_tiny", f"{name}Model")
    program = torch.export.export(model, inputs)
    found = program.module()(*inputs)
    assert found.shape == TINY[name][0]
    assert sum(p.numel() for p in model.parameters()) == TINY[name][1]
    torch.testing.assert_close(found, model(*inputs))


def test_a_class_that_is_not_there_is_named() -> None:
    with pytest.raises(ValueError, match="Model class 'Nothing' not found in module 'toy_model'"):
        EagerModelFactory.create_model("toy_model", "Nothing")
