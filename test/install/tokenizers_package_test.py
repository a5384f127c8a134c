# SPDX-License-Identifier: BSD-3-Clause
"""`pip install -e ./extension/llm/tokenizers/`, as the documents print it, into an empty environment."""

from __future__ import annotations

import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from executorch.test.repository.sources import ROOT

USE = """
import pytorch_tokenizers, sys
tokenizer = pytorch_tokenizers.get_tokenizer(sys.argv[1])
ids = tokenizer.encode("a b", bos=False, eos=False)
print(pytorch_tokenizers.__file__)
print(ids, tokenizer.decode(ids))
"""


@pytest.mark.full
@pytest.mark.req("PY-012", "BLD-013", "LLM-019")
def test_the_package_installs_alone(tmp_path: Path) -> None:
    from tokenizers import Tokenizer, models, pre_tokenizers

    environment = {k: v for k, v in os.environ.items() if not k.startswith(("PYTHON", "VIRTUAL_"))}
    subprocess.run([sys.executable, "-m", "venv", str(tmp_path / "venv")], check=True)
    python = tmp_path / "venv/bin/python"

    def run(*arguments: object, cwd: Path = tmp_path) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [str(python), *map(str, arguments)], cwd=cwd, env=environment, capture_output=True,
            text=True, check=False,
        )  # fmt: skip

    missing = run("-c", "import pytorch_tokenizers")
    assert "ModuleNotFoundError: No module named 'pytorch_tokenizers'" in missing.stderr
    done = run("-m", "pip", "install", "-e", "./extension/llm/tokenizers/", cwd=ROOT)
    assert done.returncode == 0, done.stderr
    tokenizer = Tokenizer(models.WordLevel({"a": 0, "b": 1, "[UNK]": 2}, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    tokenizer.save(str(tmp_path / "tokenizer.json"))
    used = run("-c", USE, tmp_path / "tokenizer.json")
    assert used.returncode == 0, used.stderr
    place, answer = used.stdout.splitlines()
    assert (
        Path(place).resolve() == ROOT / "extension/text/tokenizers/pytorch_tokenizers/__init__.py"
    )
    assert answer == "[0, 1] a b"
    package = ROOT / "extension/llm/tokenizers"
    done = run("-m", "pip", "wheel", "--no-deps", "-w", tmp_path, package)
    assert done.returncode == 0, done.stderr
    (wheel,) = tmp_path.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        modules = [name for name in archive.namelist() if name.endswith(".so")]
    assert len(modules) == 1 and modules[0].startswith("pytorch_tokenizers/pytorch_tokenizers_cpp.")
