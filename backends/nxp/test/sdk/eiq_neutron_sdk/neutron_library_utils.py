# SPDX-License-Identifier: BSD-3-Clause
"""The targets that the stand-in has."""

from types import SimpleNamespace


def getNeutronTargets() -> list[SimpleNamespace]:
    return [SimpleNamespace(name="imxrt700")]


def isNeutronTarget(name: str) -> bool:
    return name == "imxrt700"
