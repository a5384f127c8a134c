# SPDX-License-Identifier: BSD-3-Clause
"""What the measures of language models compute with, and the page that they write."""

from __future__ import annotations

import torch

from executorch.extension.llm.model.args import ModelArgs
from executorch.extension.llm.model.transformer import construct_transformer
from executorch.tools.llm import page, true_shapes
from executorch.tools.llm.attention import rows_of
from executorch.tools.llm.export_cost import EXPORTS
from executorch.tools.llm.rotation import orthogonal, rotated


def test_matrices_are_orthogonal() -> None:
    for size in (8, 12, 9):
        matrix = orthogonal(size, 3)
        torch.testing.assert_close(matrix @ matrix.T, torch.eye(size, dtype=torch.float64))
        assert (matrix.abs() < 1).any(1).all()  # nothing stays where it was


@torch.no_grad()
def test_rotated_weights_compute_the_same() -> None:
    torch.manual_seed(0)
    args = ModelArgs(
        dim=24, n_layers=2, n_heads=3, n_kv_heads=1, vocab_size=32, hidden_dim=40, max_seq_len=8
    )
    model = construct_transformer(args).eval()
    for name, value in model.named_parameters():
        if name.endswith("norm.weight"):
            value.uniform_(0.5, 2.0)
    tokens = torch.tensor([[3, 14, 15, 9, 26]])
    expected = model(tokens)
    before = model.layers[0].attention.wq.weight.clone()
    model.load_state_dict(rotated(model, args))
    torch.testing.assert_close(model(tokens), expected, rtol=1e-4, atol=1e-5)
    assert (model.layers[0].attention.wq.weight - before).abs().max() > 0.01


def test_the_page_says_what_was_measured_last(tmp_path) -> None:
    export = EXPORTS[0]
    lines = [
        '{"table": "perplexity", "row": "transformers", "perplexity": 10.0, "tokens": 20066}',
        '{"table": "perplexity", "row": "ours", "perplexity": 12.0, "tokens": 20066, "bytes": 5e6}',
        '{"table": "perplexity", "row": "ours", "perplexity": 10.5, "tokens": 20066, "bytes": 5e6}',
        '{"table": "factor", "row": "decode 128", "plain": 0.03, "operators": 0.01}',
        f'{{"table": "export", "row": "{export.name}", "peak": 2e9, "bytes": 5.38e8, '
        '"cpu": {"load": 1.0, "torch.export": 2.0, "lower": 4.0}}',
    ]
    path = tmp_path / "results.jsonl"
    path.write_text("\n".join(lines))
    text = page.text(page.tables(path))
    assert "| ours | 10.5000 | +5.000 % | 5 |" in text and "12.0" not in text
    assert "| decode 128 | 30.0 | 10.0 | 3.00 |" in text
    assert f"| {export.name} | 7.0 | 5.0 | 2,000 | 538 | " in text
    assert "Greedy text" not in text


def test_tables_that_were_not_measured_stay(tmp_path) -> None:
    earlier = "# Head\n\n## Greedy text\n\nkept\n\n## Perplexity\n\nof before\n"
    path = tmp_path / "results.jsonl"
    assert "kept\n\n## Perplexity\n\nof before\n" in page.text(page.tables(path), earlier)
    path.write_text('{"table": "perplexity", "row": "ours", "perplexity": 10.0, "tokens": 9}')
    text = page.text(page.tables(path), earlier)
    assert "## Greedy text\n\nkept\n\n## Perplexity" in text and "of before" not in text


def test_ratios_are_read_from_what_the_benchmark_prints() -> None:
    lines = """
1 threads: microseconds of eager, of ours, of its attention, ours / eager
decode 128, 9/3 heads of 64                        19.7       12.2       12.0    0.50
decode 128, 32/8 heads of 64                       60.3       41.2       41.0    2.00
geometric mean 0.68, worst 1.06

2 threads: microseconds of eager, of ours, of its attention, ours / eager
prefill 128, 9/3 heads of 64                        18.0       13.1       12.9    0.73
""".splitlines()
    rows = list(rows_of(lines))
    assert [row["row"] for row in rows] == ["decode 128, 1 thread", "prefill 128, 2 threads"]
    table = page.attention(rows)
    assert "| decode 128, 1 thread | 1.00 | 2.00 |" in table and "| all | 0.90 | 2.00 |" in table


def test_each_folder_of_params_files_has_one_true_shape() -> None:
    names = true_shapes.smallest()
    assert names[0] == "smollm2" and "qwen3_0_6b" in names and "qwen3_1_7b" not in names
    assert true_shapes.weights("smollm2") == 134_515_008
    rows = [
        {"row": "smollm2", "weights": 134.5e6, "cpu": 30.2, "peak": 1e9, "bytes": 94e6, "decibels": 34.9},
        {"row": "gemma_2b", "error": "killed"},
    ]  # fmt: skip
    table = page.shapes(rows)
    assert "| smollm2 | 134 | 35 | 30 | 1,000 | 94 |" in table and "| gemma_2b | fails |" in table
