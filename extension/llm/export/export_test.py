# SPDX-License-Identifier: BSD-3-Clause
"""The command, from a checkpoint to a file that runs."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
import torch

from executorch.extension.llm.export import export_llm
from executorch.extension.llm.export.config.reading import build
from executorch.extension.llm.export.export_passes import RemoveRedundantTransposes
from executorch.extension.llm.export.pipeline import export_llama
from executorch.extension.llm.model.args import ModelArgs
from executorch.extension.llm.model.transformer import Transformer, construct_transformer
from executorch.runtime import Runtime
from executorch.test.repository.sources import ROOT

PARAMS = {
    "dim": 64,
    "n_layers": 2,
    "n_heads": 4,
    "n_kv_heads": 2,
    "vocab_size": 96,
    "multiple_of": 4,
}
LENGTHS = {"max_seq_length": 16, "max_context_length": 16}
TOKENS = torch.tensor([[5, 17, 3, 90, 42, 7]])


@pytest.fixture(scope="module")
def llama(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Transformer]:
    """A folder with consolidated.00.pth and params.json, and the model."""
    folder = tmp_path_factory.mktemp("llama")
    torch.manual_seed(4)
    model = construct_transformer(ModelArgs(**PARAMS, max_seq_len=16, max_context_len=16)).eval()
    torch.save(model.state_dict(), folder / "consolidated.00.pth")
    (folder / "params.json").write_text(json.dumps(PARAMS))
    return folder, model


def run(*words: object, cwd: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", *map(str, words)],
        cwd=cwd,
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.req("LLM-001", "LLM-003", "LLM-012", "LLM-016", "LLM-018", "DT-013")
@pytest.mark.req("LLM-C02", "LLM-C03", "LLM-C08")
def test_the_command_with_a_file(llama: tuple, tmp_path: Path) -> None:
    folder, model = llama
    (tmp_path / "config.yaml").write_text(f"""
base:
  model_class: llama3_2
  checkpoint: {folder}/consolidated.00.pth
  params: {folder}/params.json
  metadata: '{{"get_bos_id":128000, "get_eos_ids":[128009, 128001]}}'
model: {{use_kv_cache: True}}
export: {{max_seq_length: 12, max_context_length: 16}}
backend: {{xnnpack: {{enabled: True, extended_ops: True}}}}
debug: {{verbose: True, generate_etrecord: True, profile_memory: True, profile_path: profile.html}}
""")
    module = "executorch.extension.llm.export.export_llm"
    done = run(module, "--config", "config.yaml", "+export.max_seq_length=16", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "Total delegated subgraphs" in done.stdout and "torch.export" in done.stderr
    assert "lower" in (tmp_path / "profile.html").read_text()
    assert (tmp_path / "etrecord.bin").stat().st_size > 1000
    trace = json.loads((tmp_path / "memory_profile.json").read_text())["traceEvents"]
    assert any(event["name"].startswith("aten_embedding") for event in trace)
    program = Runtime.get().load_program(str(tmp_path / "llama3_2.pte"))
    methods = {name: program.load_method(name) for name in program.method_names}
    assert program.method_names >= {
        "enable_dynamic_shape", "get_max_seq_len", "get_max_context_len", "use_kv_cache", "get_bos_id",
        "get_eos_ids",
    }  # fmt: skip
    (logits,) = methods["forward"].execute([TOKENS, torch.tensor([0])])
    torch.testing.assert_close(logits, model(TOKENS), rtol=1e-4, atol=1e-5)
    assert methods["get_bos_id"].execute([]) == [128000]
    assert methods["get_eos_ids"].execute([]) == [128009, 128001]
    assert methods["get_max_seq_len"].execute([]) == [16]
    assert methods["get_max_context_len"].execute([]) == [16]
    assert methods["enable_dynamic_shape"].execute([]) == [True]
    assert methods["use_kv_cache"].execute([]) == [True]


@pytest.mark.req("LLM-001", "LLM-015", "LLM-C01", "LLM-C02")
def test_the_commands_from_the_root(llama: tuple, tmp_path: Path) -> None:
    folder, model = llama
    words = [f"base.checkpoint={folder}/consolidated.00.pth", f"base.params={folder}/params.json"]
    place = [f"export.output_dir={tmp_path}", "export.max_seq_length=16", "export.output_name=new"]
    done = run("extension.llm.export.export_llm", *words, *place, cwd=ROOT)
    assert done.returncode == 0, done.stderr
    old = ["-c", folder / "consolidated.00.pth", "-p", folder / "params.json", "-kv", "-X"]
    place = ["--output_name", tmp_path / "old.pte", "--max_seq_length", "16"]
    done = run("examples.models.llama.export_llama", *old, *place, cwd=ROOT)
    assert done.returncode == 0, done.stderr
    for name, inputs in (("new", [TOKENS]), ("old", [TOKENS, torch.tensor([0])])):
        method = Runtime.get().load_program(str(tmp_path / f"{name}.pte")).load_method("forward")
        (logits,) = method.execute(inputs)
        torch.testing.assert_close(logits, model(TOKENS), rtol=1e-4, atol=1e-5)


def test_wrong_commands_end_with_what_is_wrong(
    llama: tuple,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Here, and the last one as a process."""
    folder, _ = llama
    monkeypatch.chdir(tmp_path)
    rows = [
        ("base.modelclass=llama3", "did you mean 'base.model_class'"),
        ("--verbose", "group.key=value"),
        (f"base.checkpoint={folder}/absent.pth", "absent.pth"),
    ]
    module = "executorch.extension.llm.export.export_llm"
    for word, message in rows:
        monkeypatch.setattr(sys, "argv", ["export_llm", word])
        with pytest.raises(SystemExit, match="export_llm: error: ") as ended:
            export_llm.main()
        assert message in str(ended.value.code), word
    done = run(module, word, cwd=tmp_path)
    assert done.returncode == 1 and message in done.stderr and "Traceback" not in done.stderr
    monkeypatch.setattr(sys, "argv", ["export_llm", "--help"])
    with pytest.raises(SystemExit):
        export_llm.main()
    assert "quantization.qmode" in capsys.readouterr().out
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("dynamic", [True, False], ids=["dynamic", "static"])
@pytest.mark.parametrize("cache", [True, False], ids=["cache", "no_cache"])
def test_forms_of_inputs(llama: tuple, tmp_path: Path, cache: bool, dynamic: bool) -> None:
    folder, model = llama
    base = {"checkpoint": str(folder), "params": str(folder / "params.json")}
    config = build(
        {
            "base": base,
            "model": {"use_kv_cache": cache, "enable_dynamic_shape": dynamic},
            "export": {**LENGTHS, "output_name": str(tmp_path / "m.pte")},
            "debug": {"generate_full_logits": True},
        }
    )
    method = Runtime.get().load_program(export_llama(config)).load_method("forward")
    tokens = torch.arange(16)[None] if not dynamic and not cache else TOKENS
    h = model.tok_embeddings(tokens)
    expected = torch.stack([model(h=h[:, : n + 1]) for n in range(tokens.shape[1])], 1)
    if not cache:
        (logits,) = method.execute([tokens])
    elif dynamic:
        (logits,) = method.execute([tokens, torch.tensor([0])])
    else:
        steps = [
            method.execute([tokens[:, n : n + 1].clone(), torch.tensor([n])]) for n in range(6)
        ]
        logits = torch.cat([step[0] for step in steps], 1)
    torch.testing.assert_close(logits, expected, rtol=1e-4, atol=1e-5)


def test_transposes_that_undo_each_other_go() -> None:
    class Twice(torch.nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            y = x.transpose(1, 2).transpose(2, 1) + x.permute(2, 0, 1).permute(1, 2, 0)
            return y + x.transpose(0, 1).transpose(1, 2).sum()

    x = torch.randn(2, 3, 4)
    module = torch.export.export(Twice(), (x,)).module()
    result = RemoveRedundantTransposes().call(module)
    left = [
        n for n in module.graph.nodes if "transpose" in str(n.target) or "permute" in str(n.target)
    ]
    assert result.modified and len(left) == 2
    torch.testing.assert_close(module(x), Twice()(x))
