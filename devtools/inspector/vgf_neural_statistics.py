# SPDX-License-Identifier: BSD-3-Clause
"""What VGF delegates record about an operator: JSON as text."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

DelegateMetadataBytes = bytes | bytearray | str


def parse_vgf_neural_statistics_metadata(metadata: DelegateMetadataBytes) -> dict[str, Any]:
    """One record; {} for an empty one. Raises ValueError for what is no JSON object."""
    text = metadata if isinstance(metadata, str) else bytes(metadata).decode()
    text = text.rstrip("\0").strip()
    if not text:
        return {}
    parsed = json.loads(text)
    if not isinstance(parsed, dict):
        raise ValueError(f"expected a JSON object, found {text[:80]!r}")
    return parsed


def parse_vgf_neural_statistics_delegate_metadata(
    delegate_metadata_list: Sequence[DelegateMetadataBytes],
) -> list[dict[str, Any]]:
    """All records that are not empty; a parser for Inspector(delegate_metadata_parser=...)."""
    parsed = map(parse_vgf_neural_statistics_metadata, delegate_metadata_list)
    return [each for each in parsed if each]
