# SPDX-License-Identifier: BSD-3-Clause
"""The network of the example learns on the runtime as in PyTorch, from files of CIFAR-10's form with drawn images."""

from __future__ import annotations

import json
import warnings
from pathlib import Path

import numpy as np
import pytest
import torch

from executorch.extension.training.examples.CIFAR.data_utils import get_data_loaders

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    from executorch.extension.training import TrainingModule
    from executorch.extension.training.examples.CIFAR.export import (
        get_pte_only,
        get_pte_with_ptd,
        save_model,
        update_tensor_data_and_save,
    )
    from executorch.extension.training.examples.CIFAR.main import main
    from executorch.extension.training.examples.CIFAR.model import CIFAR10Model
    from executorch.extension.training.examples.CIFAR.train_utils import (
        train_both_models,
        train_model,
    )
from executorch.extension.pybindings.portable_lib import _load_for_executorch

pytestmark = pytest.mark.filterwarnings("ignore:This API is experimental")


@pytest.fixture(scope="module")
def data_dir(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Each class is a brightness of its own, with noise."""
    folder = tmp_path_factory.mktemp("data") / "cifar-10-batches-bin"
    folder.mkdir()
    drawn = np.random.default_rng(0)
    for name, per_class in (("data_batch_1", 8), ("data_batch_2", 6), ("test_batch", 4)):
        classes = np.tile(np.arange(10, dtype=np.uint8), per_class)
        noise = drawn.integers(0, 30, (len(classes), 3 * 32 * 32), dtype=np.uint8)
        rows = np.concatenate([classes[:, None], 22 * classes[:, None] + noise], 1)
        rows.astype(np.uint8).tofile(folder / f"{name}.bin")
    return folder.parent


def test_files_are_read_in_whole_batches_and_balanced(data_dir: Path) -> None:
    train, test = get_data_loaders(4, 0, str(data_dir), images_per_class=12)
    assert (len(train), len(test)) == (30, 10)
    images, classes = next(iter(test))
    assert (images.shape, images.dtype, classes.tolist()) == (
        (4, 3, 32, 32),
        torch.float32,
        [0, 0, 0, 0],
    )
    assert images.min() >= -1
    assert images.max() <= 30 / 127.5 - 1
    counts = torch.cat([labels for _, labels in train]).bincount()
    assert counts.tolist() == [12] * 10
    everything, _ = get_data_loaders(4, 0, str(data_dir), use_balanced_dataset=False)
    assert len(everything) == 35


def test_wrong_files_are_named(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="cifar-10-binary.tar.gz"):
        get_data_loaders(data_dir=str(tmp_path))
    (tmp_path / "cifar-10-batches-bin").mkdir()
    (tmp_path / "cifar-10-batches-bin/data_batch_1.bin").write_bytes(b"\0" * 100)
    with pytest.raises(ValueError, match="expected rows of 3073 bytes .* found 100 bytes"):
        get_data_loaders(data_dir=str(tmp_path))


@pytest.mark.req("EXT-031", "RT-048", "IX-036")
@pytest.mark.parametrize("epochs", [1, pytest.param(4, marks=pytest.mark.full)])
def test_both_learn_alike(epochs: int, data_dir: Path, tmp_path: Path) -> None:
    """30 or 120 steps of 4 images, at a rate at which the loss falls from the first epoch on."""
    loaders = get_data_loaders(4, 0, str(data_dir), images_per_class=12)
    torch.manual_seed(0)
    net = CIFAR10Model()
    save_model(get_pte_only(net), str(tmp_path / "cifar.pte"))
    model, module, history, et_history = train_both_models(
        net,
        str(tmp_path / "cifar.pte"),
        *loaders,
        epochs=epochs,
        lr=0.01,
        pytorch_save_path=str(tmp_path / "cifar.pth"),
        et_save_path=str(tmp_path / "cifar.pte"),
    )
    for epoch, means in history.items():
        assert et_history[epoch] == pytest.approx(means, rel=1e-3)
    assert et_history[epochs - 1]["test_loss"] < np.log(10)
    for name, parameter in model.named_parameters():
        torch.testing.assert_close(
            module.named_parameters("forward")[f"model.{name}"],
            parameter.detach(),
            rtol=1e-3,
            atol=1e-3,
        )
    assert (tmp_path / "cifar.ptd").exists()


def test_the_program_and_its_weights_may_be_two_files(tmp_path: Path) -> None:
    torch.manual_seed(0)
    net = CIFAR10Model()
    paths = str(tmp_path / "weights.ptd"), str(tmp_path / "cifar.pte")
    update_tensor_data_and_save(get_pte_with_ptd(net), *paths)
    module = TrainingModule(_load_for_executorch(paths[1], paths[0]))
    for name, parameter in net.named_parameters():
        start = module.named_parameters("forward")[f"model.{name}"]
        torch.testing.assert_close(start, parameter.detach(), rtol=0, atol=0)
    assert (tmp_path / "cifar.pte").stat().st_size < (tmp_path / "weights.ptd").stat().st_size


def test_pytorch_alone(data_dir: Path, tmp_path: Path) -> None:
    loaders = get_data_loaders(4, 0, str(data_dir), images_per_class=4)
    model, history = train_model(CIFAR10Model(), *loaders, save_path=str(tmp_path / "c.pth"))
    assert history.keys() == {0}
    assert history[0].keys() == {"train_loss", "train_accuracy", "test_loss", "test_accuracy"}
    saved = torch.load(tmp_path / "c.pth")
    assert all(torch.equal(saved[name], value) for name, value in model.state_dict().items())


def test_the_command(data_dir: Path, tmp_path: Path) -> None:
    main([f"--data_dir={data_dir}", f"--outdir={tmp_path}", "--epochs=1", "--images_per_class=2"])
    written = {path.name for path in tmp_path.iterdir()}
    histories = {"pytorch_history.json", "executorch_history.json"}
    assert written == {"cifar10.pte", "cifar10.pth", "cifar10.ptd", *histories}
    found = [json.loads((tmp_path / name).read_text())["0"] for name in sorted(histories)]
    assert found[0] == pytest.approx(found[1], rel=1e-3)
