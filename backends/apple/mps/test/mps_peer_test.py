# SPDX-License-Identifier: BSD-3-Clause
"""Payloads beside those of ExecuTorch 1.4.1's wheel, from the same programs: the same bytes but for what it gets wrong,
and the evaluator runs both."""

from __future__ import annotations

from pathlib import Path

import pytest

from executorch.backends.apple.mps.test.chains import compared, nodes
from executorch.test.interop import mps_payloads, peer

pytestmark = [
    pytest.mark.full,
    pytest.mark.filterwarnings("ignore:The MPS:FutureWarning"),
]
# It writes a whole number as int64 beside floats, no factor of addmm that is a keyword, no node for a conversion, and a
# plain convolution for a transposed one.
DIFFER = {
    "factors": "6 and 6 nodes; of ours alone MPSAddmm 1; of theirs alone MPSAddmm 1",
    "whole number": "the same 1 nodes",
    "conversion": "2 and 1 nodes; of ours alone MPSCast 1; of theirs alone none",
    "transposed": "6 and 1 nodes; of ours alone MPSView 3, MPSConstantPadND 2, MPSConv2D 1; of theirs alone "
    "MPSConv2D 1",
}


def test_payloads_are_upstreams(tmp_path: Path) -> None:
    import torch

    for name, program in mps_payloads.programs().items():
        torch.export.save(program, tmp_path / f"{name}.pt2")
    peer.lower_each(mps_payloads.__file__, tmp_path)
    found = {}
    for path in sorted(tmp_path.glob("*.pt2")):
        theirs = peer.result(path.with_suffix(".pte")).read_bytes()
        ours = mps_payloads.lower(path)
        if ours != theirs:
            both = [mps_payloads.split(each) for each in (ours, theirs)]
            assert all(map(nodes, both))
            found[path.stem] = compared(*both)
    assert found == DIFFER
