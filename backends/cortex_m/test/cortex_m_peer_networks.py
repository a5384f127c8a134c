# SPDX-License-Identifier: BSD-3-Clause
"""Runs in ExecuTorch 1.4.1's environment: makes programs of cortex_m operators from captured models.

    python cortex_m_peer_networks.py FOLDER PACKAGES

FOLDER/*.pt2: captured models with their example inputs; a .pte is written beside each, or a .txt with what
failed. PACKAGES: a folder with TOSA's packages, which its quantizer imports."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import torch
from torchao.quantization.pt2e.quantize_pt2e import convert_pt2e, prepare_pt2e

PRESERVED = ("linear", "hardsigmoid", "hardsigmoid_", "hardswish", "hardswish_")


def lower(path: Path) -> bytes:
    from executorch.backends.cortex_m.passes import CortexMPassManager
    from executorch.backends.cortex_m.quantizer.quantizer import CortexMQuantizer
    from executorch.exir import EdgeCompileConfig, ExecutorchBackendConfig, to_edge

    program = torch.export.load(path)
    inputs = tuple(each.clone() for each in program.example_inputs[0])
    prepared = prepare_pt2e(program.module(check_guards=False), CortexMQuantizer())
    prepared(*inputs)
    config = EdgeCompileConfig(
        preserve_ops=[getattr(torch.ops.aten, name).default for name in PRESERVED],
        _check_ir_validity=False,
        _core_aten_ops_exception_list=[torch.ops.aten.max_pool2d.default],
    )
    edge = to_edge(torch.export.export(convert_pt2e(prepared), inputs), compile_config=config)
    edge._edge_programs["forward"] = CortexMPassManager(edge.exported_program()).transform()
    made = edge.to_executorch(config=ExecutorchBackendConfig(extract_delegate_segments=False))
    return made.buffer


def main(folder: str, packages: str) -> None:
    sys.path.append(packages)
    for path in sorted(Path(folder).glob("*.pt2")):
        try:
            path.with_suffix(".pte").write_bytes(lower(path))
        except Exception as error:
            path.with_suffix(".txt").write_text(f"{type(error).__name__}: {error}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", help="of the exported programs; files go beside them")
    parser.add_argument("packages", help="a folder of further packages")
    options = parser.parse_args()
    main(options.folder, options.packages)
