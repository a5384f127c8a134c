# SPDX-License-Identifier: BSD-3-Clause
"""Pages of the Python interface: modules and the names in them that the documents call public, by autodoc."""

from __future__ import annotations

from dataclasses import dataclass

from executorch.tools.site.generated import entries


@dataclass(frozen=True)
class Module:
    """`names` are all that its page has; `doc`: whether the module's own text stands above them."""

    name: str
    names: tuple[str, ...]


def _module(name: str, names: str) -> Module:
    return Module(f"executorch.{name}", tuple(names.split()))


MODULES: tuple[Module, ...] = ()


def pages() -> dict[str, str]:
    """By name of the page."""
    made = {f"api/{each.name}": _page(each) for each in MODULES}
    about = (
        "# Python interface\n\nThe public names, by module; a name that is not here may change. In C++ each header is the contract of"
        " what is in it; the folders' pages name them.\n\n"
    )
    return {"api/index": about + (entries(list(made)) if made else "") + "\n", **made}


def _page(module: Module) -> str:
    lines = [f"# {module.name}", "", "```{eval-rst}", f".. automodule:: {module.name}", ""]
    for name in module.names:
        lines += [f".. autosummary_free:: {name}"]
    return "\n".join([*lines, "```", ""])
