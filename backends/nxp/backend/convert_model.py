# SPDX-License-Identifier: BSD-3-Clause
"""Run as a program of its own, which may crash. Nothing of this package is imported; `eiq_neutron_sdk` is NXP's.

usage: python convert_model.py SETTINGS INPUT OUTPUT, as in convert_model.py settings.json pure.tflite neutron.tflite
"""

import argparse
import importlib
import json
from pathlib import Path


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("settings", type=Path, help="JSON: the target and the converter's options")
    parser.add_argument("source", type=Path, help="a TFLite model")
    parser.add_argument("target", type=Path, help="the file for the converted model")
    given = parser.parse_args()
    converter = importlib.import_module("eiq_neutron_sdk.neutron_converter")
    settings = json.loads(given.settings.read_text())
    given.target.write_bytes(converted(converter, given.source.read_bytes(), settings))


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
    main()
