# SPDX-License-Identifier: BSD-3-Clause
"""Each model that torch.export refuses has a finding with its cause and its line; code that is told mends it."""

from __future__ import annotations

import importlib.util
import itertools
import sys
import warnings
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
import torch
from torch.utils import _pytree as pytree

from executorch.exir.capture.diagnostics import Finding, NotExportable, export_module
from executorch.exir.capture.diagnostics.causes import CAUSES
from executorch.exir.capture.diagnostics.test.refused_models import MODELS, Refused

_numbers = itertools.count()
ROWS = [(row, strict) for row in MODELS for strict in row.strict]


def loaded(folder: Path, text: str) -> ModuleType:
    """As a file of its own each time: classes and operators are registered by name."""
    path = folder / f"refused_{next(_numbers)}.py"
    path.write_text(text.replace("NAMESPACE", path.stem))
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[path.stem] = module  # where tracing bytecode looks for globals
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        spec.loader.exec_module(module)
    return module


def exported(module: ModuleType, strict: bool) -> Any:
    torch._dynamo.reset()
    model = module.Model().eval()
    with torch.no_grad(), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return model, export_module(
            model, module.inputs, dynamic_shapes=module.dynamic_shapes, strict=strict
        )


def refused(module: ModuleType, strict: bool) -> NotExportable:
    with pytest.raises(NotExportable) as caught:
        exported(module, strict)
    return caught.value


def pasted(text: str, finding: Finding) -> str:
    """The finding's code where it says that it belongs."""
    if finding.replaces is None:
        return f"{text}\n{finding.code}\n"
    first, last = finding.replaces
    lines = text.splitlines()
    return "\n".join([*lines[: first - 1], *finding.code.splitlines(), *lines[last:], ""])


def leaves(value: Any) -> list[Any]:
    """Of what the models give in PyTorch, where a class or a set is one leaf, and of what programs give."""
    if isinstance(value, set | tuple):
        return sorted(
            (leaf for each in value for leaf in leaves(each)), key=lambda x: float(x.sum())
        )
    if hasattr(value, "a"):
        return [value.a]
    return pytree.tree_leaves(value)


@pytest.mark.parametrize(
    ("row", "strict"), ROWS, ids=lambda x: x.name if isinstance(x, Refused) else str(x)
)
def test_a_refused_model(row: Refused, strict: bool, tmp_path: Path) -> None:
    module = loaded(tmp_path, row.text)
    error = refused(module, strict)
    (finding,) = error.findings
    assert finding.cause == row.cause, error
    assert finding.source and finding.source.startswith(
        row.line.replace("NAMESPACE", module.__name__)
    ), error
    file, _, number = finding.place.rpartition(":")
    assert Path(file) == Path(module.__file__ or "")
    assert Path(file).read_text().splitlines()[int(number) - 1].strip() == finding.source
    assert error.__cause__ is not None and str(error.__cause__)  # torch's own, whole
    assert finding.line in str(error) and finding.advice in str(error)
    assert bool(finding.code) == row.is_mended, error
    if not row.is_mended:
        return
    text = pasted(row.text, finding).replace(module.__name__, "NAMESPACE")
    mended = loaded(tmp_path, text)
    model, program = exported(mended, strict)
    inputs = mended.inputs
    with torch.no_grad():
        expected = loaded(tmp_path, row.text).Model().eval()
        expected.load_state_dict(model.state_dict())
        wanted = leaves(expected(*inputs))
        found = leaves(program.module()(*inputs))
    if row.name != "random number":
        for one, other in zip(found, wanted, strict=True):
            torch.testing.assert_close(one, other, check_dtype=False)


def test_every_cause_has_a_name_of_its_own_meaning() -> None:
    assert len(MODELS) >= 20 and len({row.cause for row in MODELS}) >= 20
    assert {row.cause for row in MODELS} <= {cause.name for cause in CAUSES}
