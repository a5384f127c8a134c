# SPDX-License-Identifier: BSD-3-Clause
"""The documents' blocks on Arm: signatures are ours, the tutorials run as they are printed. run_fvp.sh needs an FVP,
and VGF's runner is not there (open.yaml: ARM-022, ARM-033, ARM-034)."""

from __future__ import annotations

import ast
import inspect
from pathlib import Path
from typing import Any

import pytest

from executorch.backends.arm import ethosu, quantizer, vgf
from executorch.backends.arm.arm_vela import VELA
from executorch.backends.arm.vgf.model_converter import CONVERTER
from executorch.devtools.commands.program_file import ProgramFile
from executorch.test.documents import guide

BLOCKS = guide.printed("arm.md")
SIGNATURES = {
    name: code
    for name, code in BLOCKS.items()
    if code.startswith(("class Ethos", "class Vgf", "def "))
}
MISSING = VELA.why_missing() or CONVERTER.why_missing()
TUTORIALS = {"030.3": "EthosUBackend", "036.3": "VgfBackend"}


def names_and_defaults(code: str) -> tuple[str, dict[str, Any]]:
    """Of a signature as documents print it: what it is of, and its parameters but self."""
    _, rest = " ".join(code.split()).split(" ", 1)
    owner = rest[: rest.index("(")]
    arguments = rest[rest.index("(") :].removesuffix(":")
    made = ast.parse(f"def printed{arguments}: ...").body[0]
    assert isinstance(made, ast.FunctionDef)
    found = [each.arg for each in made.args.args]
    defaults = [inspect.Parameter.empty] * (len(found) - len(made.args.defaults))
    defaults += map(ast.literal_eval, made.args.defaults)
    pairs = dict(zip(found, defaults, strict=True))
    pairs.pop("self", None)
    return owner, pairs


@pytest.mark.parametrize("name", SIGNATURES)
@pytest.mark.req("ARM-011", "ARM-012", "ARM-029")
def test_a_signature_is_ours(name: str) -> None:
    """With all parameters, in their order; what ours has more, has a default."""
    owner, printed = names_and_defaults(SIGNATURES[name])
    home, *method = owner.split(".")
    kind = next(getattr(each, home) for each in (ethosu, vgf, quantizer) if hasattr(each, home))
    function = getattr(kind, method[0]) if method else kind
    found = dict(inspect.signature(function).parameters)
    found.pop("self", None)
    shared = list(found)[: len(printed)]
    assert shared == list(printed)
    empty = inspect.Parameter.empty
    assert all(found[each].default == said for each, said in printed.items() if said is not empty)
    assert all(found[each].default is not empty for each in found if each not in printed)


@pytest.mark.skipif(bool(MISSING), reason=MISSING)
@pytest.mark.parametrize("name", TUTORIALS)
@pytest.mark.req("ARM-009", "ARM-017", "ARM-031")
def test_a_tutorial_runs(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    guide.run(BLOCKS[name], {"__name__": "tutorial"})
    (program,) = tmp_path.glob("*.pte")
    file = ProgramFile(program)
    assert file.backends == {TUTORIALS[name]}
    assert [call.name for call in file.calls if "aten" in call.name] == []
