# SPDX-License-Identifier: BSD-3-Clause
"""The table accepts nothing that the runtime lacks (VK-002)."""

from __future__ import annotations

import re

from executorch.backends.vulkan.aot.ops import TABLE
from executorch.backends.vulkan.aot.row import VulkanRow, write_call
from executorch.test.repository.sources import ROOT

OPERATORS = ROOT / "backends" / "vulkan" / "runtime" / "graph" / "ops"
# Written by rows of several calls, under these names.
OF_PATTERNS = {
    "et_vk.prepack.default",
    "et_vk.select_as_symint.default",
    "sdpa_with_kv_cache.default",
    "torchao.choose_qparams_affine.default",
}


def _name(call: str, row: VulkanRow) -> str:
    short = "sym_size.int" if call == "aten.sym_size.int" else call.removeprefix("operator.")
    return row.name or short


def test_every_name_is_the_runtimes() -> None:
    text = "".join(file.read_text() for file in sorted(OPERATORS.glob("*.cpp")))
    known = set(re.findall(r'"([\w.]+)"', text))
    plain = {_name(call, row) for call, row in TABLE.items() if row.lower is write_call}
    missing = (plain | OF_PATTERNS) - known
    assert not missing, missing
