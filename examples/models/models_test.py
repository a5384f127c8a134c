# SPDX-License-Identifier: BSD-3-Clause
"""The example models: usable signals, fixed weights, exportable at the promised sizes."""

import logging
import sys

import pytest
import torch

from executorch.examples.models import EXAMPLES, NETWORKS, make_example
from executorch.examples.models.mobilenet_v2 import trained_weights


@pytest.mark.parametrize("name", NETWORKS)
def test_signals_neither_die_nor_blow_up(name: str) -> None:
    for outputs in make_example(name).forward.eager():
        for output in outputs:
            assert torch.isfinite(output).all()
            assert 0.05 < output.std() < 50, f"{name}: output spread {output.std()}"


def test_weights_and_inputs_are_always_the_same() -> None:
    before = torch.random.get_rng_state()
    first, second = make_example("llama").forward, make_example("llama").forward
    assert torch.equal(first.inputs[0], second.inputs[0])
    for a, b in zip(first.module.parameters(), second.module.parameters()):
        assert torch.equal(a, b)
    assert torch.equal(before, torch.random.get_rng_state())


def test_a_cached_decoder_agrees_with_the_one_without_cache() -> None:
    with_cache = make_example("llama_kv").forward
    plain = make_example("llama").forward.module
    plain.load_state_dict(
        {k: v for k, v in with_cache.module.state_dict().items() if k in plain.state_dict()}
    )
    ids = torch.cat([call[0] for call in with_cache.calls], 1)
    logits = torch.cat([outputs[0] for outputs in with_cache.eager()], 1)
    torch.testing.assert_close(logits, plain(ids), rtol=1e-3, atol=1e-4)


@pytest.mark.parametrize("name", NETWORKS)
def test_the_dynamic_form_exports_and_runs_at_three_sizes(name: str) -> None:
    method = make_example(name, dynamic=True).forward
    exported = method.export().module()
    with torch.no_grad():
        for inputs, expected in zip(method.calls, method.eager()):
            outputs = torch.utils._pytree.tree_leaves(exported(*inputs))
            torch.testing.assert_close(outputs, expected, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("name", sorted(set(EXAMPLES) - set(NETWORKS)))
def test_small_programs_export(name: str) -> None:
    assert set(make_example(name).export()) == set(make_example(name).methods)


def test_an_unknown_name_lists_the_known_ones() -> None:
    with pytest.raises(ValueError, match="expected one of: mv2"):
        make_example("mv9")


def test_random_weights_are_told(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setitem(sys.modules, "torchvision.models.mobilenetv2", None)  # as if not installed
    with caplog.at_level(logging.WARNING):
        assert trained_weights() is None
    assert "random weights" in caplog.text and "pip install torchvision" in caplog.text
