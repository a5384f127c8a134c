# SPDX-License-Identifier: BSD-3-Clause
"""What quantizes and dequantizes is told from other calls in one place, exir/backend/lowering/quantized.py."""

from __future__ import annotations

import re
from pathlib import Path

from executorch.test.repository.sources import ROOT, is_test, with_suffix

# "dequantize" in str(node.target), "quantize_per_tensor" not in op_name(node)
BY_NAME = re.compile(r"""["'][a-z_.:]*quantize[a-z_.:]*["'] (not )?in \w""")
FOLDERS = ("backends", "devtools", "exir", "export", "extension", "kernels")
MAY = {
    Path("exir/backend/lowering/quantized.py"): "the one place",
    Path("devtools/commands/reference.py"): "means operators of quantized libraries, too",
}


def test_quantizing_calls_are_not_told_by_pieces_of_their_names() -> None:
    found = {
        path
        for path in with_suffix(".py")
        if path.parts[0] in FOLDERS and not is_test(path)
        if BY_NAME.search((ROOT / path).read_text())
    }
    assert found == MAY.keys()
