# SPDX-License-Identifier: BSD-3-Clause
"""Pages of Python's modules."""

from __future__ import annotations

import re

import pytest

from executorch.tools.site.reference import python


@pytest.mark.parametrize("module", python.MODULES, ids=lambda each: each.path)
def test_public_names_are_there(module: python.Module) -> None:
    page = python.page(module)
    assert page.startswith(f"# {module.name}\n")
    assert all(re.search(rf"^\.\. auto\w+:: {name}$", page, re.M) for name in module.names)


def test_classes_are_told_from_functions_and_errors() -> None:
    (exir,) = (each for each in python.MODULES if each.path == "exir")
    assert ".. autofunction:: to_edge\n" in python.page(exir)
    assert ".. autoclass:: EdgeProgramManager\n   :members:\n" in python.page(exir)
    (error,) = (each for each in python.MODULES if each.path == "exir.error")
    assert ".. autoexception:: ExportError\n" in python.page(error)
