# SPDX-License-Identifier: BSD-3-Clause
"""Runs in ExecuTorch 1.4.1's environment: lowers captured models by its ahead-of-time part.

    python cadence_peer_models.py FOLDER

FOLDER/*.pt2: captured models with their example inputs; a .pte is written beside each. Its compiler imports
typing.override, which Python has from 3.12 on."""

from __future__ import annotations

import argparse
import typing
from pathlib import Path

import torch
import typing_extensions


def lower(path: Path) -> bytes:
    from executorch.backends.cadence.aot import compiler
    from executorch.backends.cadence.aot.quantizer.quantizer import CadenceDefaultQuantizer

    program = torch.export.load(path)
    inputs = tuple(program.example_inputs[0])
    quantizer = CadenceDefaultQuantizer()
    model = program.module()
    model.eval = model.train = lambda *mode: model  # it is in evaluation, and refuses to be told so
    prepared = compiler.prepare_pt2(model, inputs, quantizer)
    prepared(*inputs)
    converted = torch.export.export(compiler.convert_pt2(prepared), inputs, strict=True)
    fused = compiler.apply_pre_edge_transform_passes(converted, quantizer)
    return compiler._lower_ep_to_cadence_gen_etrecord(fused).buffer


def main(folder: str) -> None:
    typing.override = typing_extensions.override
    import executorch.backends.cadence.aot.ops_registrations  # noqa: F401

    for path in sorted(Path(folder).glob("*.pt2")):
        try:
            path.with_suffix(".pte").write_bytes(lower(path))
        except Exception as error:
            path.with_suffix(".txt").write_text(f"{type(error).__name__}: {error}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", help="of the exported programs; files go beside them")
    main(parser.parse_args().folder)
