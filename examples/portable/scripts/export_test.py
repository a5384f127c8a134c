# SPDX-License-Identifier: BSD-3-Clause
"""The script writes every model that has a name, and the file gives PyTorch's numbers."""

from __future__ import annotations

import logging
import sys
from pathlib import Path

import pytest
import torch
from torch.utils import _pytree

from executorch.examples.models import EXAMPLES, MODEL_NAME_TO_MODEL, make_example
from executorch.examples.models.model_factory import EagerModelFactory
from executorch.examples.portable.scripts import export
from executorch.runtime import Runtime

NAMES = sorted({*EXAMPLES, *MODEL_NAME_TO_MODEL})


def eager(name: str) -> dict[str, tuple[torch.nn.Module, tuple[object, ...]]]:
    """Its methods with their inputs."""
    torch.manual_seed(0)  # some have random weights
    if name in EXAMPLES:
        methods = make_example(name).methods
        return {method: (each.module, each.inputs) for method, each in methods.items()}
    model, inputs, *_ = EagerModelFactory.create_model(*MODEL_NAME_TO_MODEL[name])
    return {"forward": (model.eval(), inputs)}


@pytest.mark.full
@pytest.mark.req("PRJ-016")
@pytest.mark.parametrize("name", NAMES)
def test_a_model_by_name(
    name: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(sys, "argv", ["export.py", f"--model_name={name}", "-o", str(tmp_path)])
    logging.disable(logging.CRITICAL)
    torch.manual_seed(0)
    try:
        export.main()
    except SystemExit:
        message = capsys.readouterr().err
        assert "pip install" in message, message
        pytest.skip(message.splitlines()[-1])
    finally:
        logging.disable(logging.NOTSET)
    path = tmp_path / f"{name}.pte"
    assert capsys.readouterr().out.endswith(f"wrote {path}\n")
    for method, (module, inputs) in eager(name).items():
        with torch.no_grad():
            expected = [each for each in _pytree.tree_leaves(module(*inputs)) if each is not None]
        flat = [each for each in _pytree.tree_leaves(inputs) if each is not None]
        loaded = Runtime.get().load_program(path).load_method(method)
        assert loaded is not None
        found = loaded.execute(flat)
        for one, other in zip(found, expected, strict=True):
            if isinstance(other, torch.Tensor):
                scale = other.abs().max().double().item() if other.numel() else 0.0
                torch.testing.assert_close(one, other, atol=1e-4 * max(scale, 1e-3), rtol=1e-4)
