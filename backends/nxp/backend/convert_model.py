# SPDX-License-Identifier: BSD-3-Clause
"""Run as a program of its own, which may crash: python convert_model.py SETTINGS INPUT OUTPUT. Nothing of this package
is imported; `eiq_neutron_sdk` is NXP's."""

import json
import sys


def main(settings: str, source: str, target: str) -> None:
    from eiq_neutron_sdk import neutron_converter

    with open(settings) as file:
        given = json.load(file)
    with open(source, "rb") as file:
        model = file.read()
    made = converted(neutron_converter, model, given)
    with open(target, "wb") as file:
        file.write(made)


def converted(converter, model: bytes, given) -> bytes:
    """By the SDK's module."""
    context = converter.CompilationContext()
    context.targetOpts = converter.getNeutronTarget(given["target"])
    options = context.compilationOpts
    for name, value in given["options"].items():
        setattr(options, name, value)
    if hasattr(options, "useProfiling"):
        for name, value in given["profiling"].items():
            setattr(options, name, value)
    return bytes(converter.convertModel(list(model), context))


if __name__ == "__main__":
    main(*sys.argv[1:])
