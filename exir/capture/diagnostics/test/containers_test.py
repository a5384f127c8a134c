# SPDX-License-Identifier: BSD-3-Clause
"""Dataclasses and the cache of transformers export as they are; train mode is reported before what follows from it."""

from __future__ import annotations

import dataclasses
import sys
from pathlib import Path
from typing import Any

import pytest
import torch
from torch.utils import _pytree as pytree

from executorch.exir import to_edge
from executorch.exir.capture.diagnostics import NotExportable, export_module
from executorch.exir.capture.diagnostics.containers import register_within, unknown_within
from executorch.exir.program._etrecord import parse_etrecord
from executorch.export import export
from executorch.runtime import Runtime

X = torch.arange(3.0)


@dataclasses.dataclass
class Inner:
    a: torch.Tensor


@dataclasses.dataclass
class Outer:
    inner: Inner
    b: torch.Tensor
    count: int = 2


@dataclasses.dataclass
class Working:
    a: torch.Tensor
    b: Any = dataclasses.field(init=False, default=None)


class Holds(torch.nn.Module):
    def forward(self, x: Outer) -> Outer:
        return Outer(Inner(x.inner.a + x.b), x.b * x.count)


@pytest.mark.parametrize("strict", [False, True])
def test_dataclasses_in_and_out(strict: bool) -> None:
    given = Outer(Inner(X), X + 1)
    program = export_module(Holds(), (given,), strict=strict)
    made = program.module()(given)
    wanted = Holds()(given)
    assert isinstance(made, Outer) and torch.equal(made.inner.a, wanted.inner.a)
    buffer = to_edge(program).to_executorch().buffer
    outputs = Runtime.get().load_program(buffer).load_method("forward").execute([X, X + 1, 2])
    assert torch.equal(outputs[0], wanted.inner.a) and torch.equal(outputs[1], wanted.b)


def test_what_computes_at_its_creation_is_not_registered() -> None:
    assert not register_within([Working(X)])
    assert [type(each) for each in unknown_within((Working(X), Working(X), X, 3))] == [Working]


class Pair:
    def __init__(self, a: torch.Tensor) -> None:
        self.a = a


@dataclasses.dataclass
class HoldsAClass:
    pair: Pair


def test_a_dataclass_of_other_classes_is_not_registered() -> None:
    assert not register_within(HoldsAClass(Pair(X)))
    assert HoldsAClass not in pytree.SUPPORTED_NODES


class Dropping(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.drop = torch.nn.Dropout()

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        if self.training and x.mean() > 100:
            x = x / x.mean()
        return self.drop(x)


def test_train_mode_is_the_only_finding_where_it_is_the_cause() -> None:
    model = Dropping()
    with pytest.raises(NotExportable) as caught:
        export_module(model, (X,))
    (finding,) = caught.value.findings
    assert finding.cause == "train mode" and finding.code == "model.eval()"
    assert (
        finding.source == "if self.training and x.mean() > 100:"
        and "data-dependent" in finding.torch_text
    )
    assert model.training and model.drop.training  # as before
    export_module(model.eval(), (X,))


class Branches(Dropping):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        if x.sum() > 0:
            x = x + 1
        return self.drop(x)


def test_train_mode_comes_first() -> None:
    with pytest.raises(NotExportable) as caught:
        export_module(Branches(), (X,), strict=True)
    assert [each.cause for each in caught.value.findings] == ["train mode", "branch on data"]
    assert caught.value.findings[1].code.strip() == "x = torch.where(x.sum() > 0, x + 1, x)"


class Counts(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("count", torch.zeros(1))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        self.count += 1
        return x + 1 if x.sum() > 0 else x


def test_looking_for_the_cause_changes_no_buffer() -> None:
    model = Counts()
    with pytest.raises(NotExportable):
        export_module(model, (X,))
    assert model.count.item() == 0


class Wrong(torch.nn.Module):
    def forward(self, x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        return x @ y


def test_a_model_that_fails_by_itself() -> None:
    with pytest.raises(NotExportable) as caught:
        export_module(Wrong(), (torch.ones(2, 3), torch.ones(2, 3)))
    (finding,) = caught.value.findings
    assert finding.cause == "the model fails" and finding.source == "return x @ y"
    with pytest.raises(NotExportable) as caught:
        export_module(Wrong(), (torch.ones(2, 3),))
    (finding,) = caught.value.findings
    assert finding.cause == "arguments" and finding.source.startswith("def forward(self, x")


@torch.library.custom_op("diagnostics::same", mutates_args=())
def same(x: torch.Tensor) -> torch.Tensor:
    return x


def test_an_operator_that_gives_its_input() -> None:
    class Calls(torch.nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return same(x) + 1

    with pytest.raises(NotExportable) as caught:
        export_module(Calls(), (X,))
    (finding,) = caught.value.findings
    assert finding.cause == "operator that gives its input" and "x.clone()" in finding.advice
    assert finding.source == "return same(x) + 1"


def test_the_other_way_of_tracing_is_told_where_it_works() -> None:
    class Prints(torch.nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            print(f"{x.mean():.2f}")
            return x + 1

    with pytest.raises(NotExportable, match="exports as it stands with strict=True"):
        export_module(Prints(), (X,))


def test_the_session_says_it_and_keeps_the_error_of_torch() -> None:
    with pytest.raises(NotExportable, match="method forward does not export") as caught:
        export(Branches().eval(), [(X,)])
    assert "Data-dependent branching" in str(caught.value.__cause__)
    assert "torch.where(x.sum() > 0, x + 1, x)" in str(caught.value)


@pytest.mark.parametrize("strict", [False, True])
def test_the_cache_of_transformers(strict: bool) -> None:
    transformers = pytest.importorskip("transformers")
    config = transformers.LlamaConfig(
        hidden_size=16, intermediate_size=16, num_hidden_layers=1, num_attention_heads=2, vocab_size=32
    )  # fmt: skip
    model = transformers.LlamaForCausalLM(config).eval()
    tokens = torch.tensor([[1, 2, 3]])
    with torch.no_grad():
        program = export_module(model, (tokens,), strict=strict)
        wanted = model(tokens)
        found = program.module()(tokens)
    torch.testing.assert_close(found.logits, wanted.logits)
    layer, other = (each.past_key_values.layers[0] for each in (found, wanted))
    torch.testing.assert_close(layer.keys, other.keys)
    assert isinstance(found.past_key_values, transformers.DynamicCache)


def test_a_static_cache_is_told() -> None:
    transformers = pytest.importorskip("transformers")
    config = transformers.LlamaConfig(
        hidden_size=16, intermediate_size=16, num_hidden_layers=1, num_attention_heads=2, vocab_size=32
    )  # fmt: skip

    class Cached(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.model = transformers.LlamaForCausalLM(config)

        def forward(self, tokens: torch.Tensor, cache: Any) -> torch.Tensor:
            return self.model(tokens, past_key_values=cache).logits

    model, tokens = Cached().eval(), torch.tensor([[1, 2, 3]])
    cache = transformers.StaticCache(config=config, max_cache_len=8)
    with torch.no_grad():
        model(tokens, cache)
        for strict in (False, True):
            with pytest.raises(NotExportable, match="TorchExportableModuleWithStaticCache"):
                export_module(model, (tokens, cache), strict=strict)


def test_a_record_is_read_where_its_classes_are_not_known(tmp_path: Path) -> None:
    @dataclasses.dataclass
    class Result:
        a: torch.Tensor

    class Gives(torch.nn.Module):
        def forward(self, x: torch.Tensor) -> Result:
            return Result(x + 1)

    manager = to_edge(export_module(Gives(), (X,)), generate_etrecord=True)
    manager.to_executorch().get_etrecord().save(tmp_path / "model.etrecord")
    name = pytree.SUPPORTED_SERIALIZED_TYPES[Result].serialized_type_name
    pytree._deregister_pytree_node(Result)
    assert name not in pytree.SERIALIZED_TYPE_TO_PYTHON_TYPE
    program = parse_etrecord(tmp_path / "model.etrecord").edge_dialect_program
    assert torch.equal(pytree.tree_leaves(program.module()(X))[0], X + 1)


def test_torch_prints_no_graph(capsys: pytest.CaptureFixture[str]) -> None:
    class Talks(Branches):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            print("mine", file=sys.stderr)
            return super().forward(x)

    with pytest.raises(NotExportable):
        export_module(Talks().eval(), (X,))
    with pytest.raises(NotExportable):
        export_module(Branches().eval(), (X,), strict=True)
    assert capsys.readouterr().err == "mine\n"
