# SPDX-License-Identifier: BSD-3-Clause
"""Weights of a Hugging Face repository as one file; `base.checkpoint` of export_llm takes the folder itself."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from executorch.extension.llm.export.models import download


def download_and_convert_hf_checkpoint(
    repo_id: str, convert_weights: Callable[[str, str], None]
) -> str:
    """The file that `convert_weights(folder, file)` writes of a repository, made once and kept in
    ~/.cache/meta_checkpoints."""
    folder = Path.home() / ".cache/meta_checkpoints"
    converted = folder / f"{repo_id.replace('/', '_')}.pth"
    if not converted.is_file():
        folder.mkdir(parents=True, exist_ok=True)
        unfinished = converted.with_suffix(".part")
        convert_weights(str(download(repo_id, repo_id)), str(unfinished))
        unfinished.replace(converted)
    return str(converted)
