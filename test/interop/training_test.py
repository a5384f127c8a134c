# SPDX-License-Identifier: BSD-3-Clause
"""Programs that train, both ways: upstream's runtime trains our files, ours trains upstream's, and a checkpoint of ours
is a data file there."""

from __future__ import annotations

import copy
import warnings
from pathlib import Path

import numpy as np
import pytest
import torch
from torch.export import export
from torch.export.experimental import _export_forward_backward

from executorch.extension.training.examples.XOR.export_model import export_xor
from executorch.extension.training.examples.XOR.model import Net, TrainingNet
from executorch.test.interop import peer

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    from executorch.extension.training import save_checkpoint

pytestmark = pytest.mark.interop
STEPS = 100
OPTIONS = {"lr": 0.1, "momentum": 0.9, "weight_decay": 0.01}
ROWS = [
    (torch.tensor([[a, b]], dtype=torch.float32), torch.tensor([int(a != b)]))
    for a in (0, 1)
    for b in (0, 1)
]
RUNS = ("ours there", "theirs here", "ours from a checkpoint there")


def network(seed: int) -> Net:
    torch.manual_seed(seed)
    return Net()


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory, version: str) -> Path:
    folder = tmp_path_factory.mktemp("training")
    joint = _export_forward_backward(export(TrainingNet(network(0)), ROWS[0], strict=True))
    torch.export.save(joint, folder / "joint.pt2")
    export_xor(network(0), external_mutable_weights=False).save(folder / "ours.pte")
    export_xor(network(0), external_mutable_weights=True).save(folder / "external.pte")
    trained = {f"net.{name}": p.detach() for name, p in network(1).named_parameters()}
    save_checkpoint(folder / "trained.ptd", trained)

    def train(program: str, run: str, data: Path | None = None) -> peer.Job:
        return peer.train_job(folder / program, ROWS, STEPS, OPTIONS, folder / run, data)

    there = [
        peer.lower_job({"forward": folder / "joint.pt2"}, folder / "theirs.pte"),
        train("ours.pte", "ours there"),
        train("external.pte", "ours from a checkpoint there", folder / "trained.ptd"),
    ]
    peer.do(there, folder, version)
    peer.do_here([train("theirs.pte", "theirs here")], folder)
    return folder


@pytest.mark.req("EXT-031", "RT-048")
@pytest.mark.parametrize("run", RUNS)
def test_losses_and_parameters_are_those_of_eager(run: str, folder: Path) -> None:
    model = TrainingNet(copy.deepcopy(network(1 if "checkpoint" in run else 0)))
    optimizer = torch.optim.SGD(model.parameters(), **OPTIONS)
    expected = []
    for step in range(STEPS):
        optimizer.zero_grad()
        loss, _ = model(*ROWS[step % 4])
        loss.backward()
        optimizer.step()
        expected.append(loss.item())
    losses, parameters = torch.load(peer.result(folder / run))
    np.testing.assert_allclose(losses, expected, rtol=1e-4)
    for name, parameter in model.named_parameters():
        torch.testing.assert_close(parameters[name], parameter.detach(), rtol=1e-4, atol=1e-5)
