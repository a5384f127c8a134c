# SPDX-License-Identifier: BSD-3-Clause
"""Networks lowered by whichever ExecuTorch runs this as a program, with a recorder in the SDK's place: for each name
that a line of the input has, `FOLDER/NAME.pt2` is lowered, and a line says how many delegates there are, what is left
on the CPU, and how much processor time it took. It imports nothing that ExecuTorch 1.4.1 lacks, but where it is this
package.

    qualcomm_networks.py FOLDER [--quantize 8a8w] [--refuse TYPE ...]"""

from __future__ import annotations

import argparse
import contextlib
import copy
import io
import json
import logging
import os
import sys
import warnings
from collections import Counter
from collections.abc import Callable, Collection, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import torch

Inputs = tuple[Any, ...]
REPLY = "network "  # a line that begins so is a reply: 1.4.1 prints others


def is_peer() -> bool:
    import executorch

    return not hasattr(executorch, "__file__") or executorch.__file__ is None


@contextlib.contextmanager
def recorder(refused: Collection[str]) -> Iterator[None]:
    """In the SDK's place: it takes all operators but those of the types `refused`."""
    if is_peer():
        sys.modules["cpuinfo"] = SimpleNamespace(get_cpu_info=dict)  # asked for at import
        from executorch.backends.qualcomm.python import PyQnnManagerAdaptor

        PyQnnManagerAdaptor.QnnManager = _manager(PyQnnManagerAdaptor.Error.Ok, refused)
        yield
        return
    from executorch.backends.qualcomm.aot.door import using
    from executorch.backends.qualcomm.test.recorder import Recorder

    with using(Recorder(refused=refused)):
        yield


def _manager(ok: Any, refused: Collection[str]) -> type:
    import numpy as np

    class Manager:
        def __init__(self, *given: Any) -> None:
            pass

        def IsNodeSupportedByBackend(self, operators: Any) -> bool:
            return not {each.GetOpType() for each in operators} & set(refused)

        def IsTensorDump(self) -> bool:
            return False

        def Compile(self, names: Any, operators: Any) -> Any:
            return np.zeros(8, dtype=np.int8)

        def __getattr__(self, name: str) -> Callable[..., Any]:
            return lambda *given: ok

    return Manager


def quantized(module: torch.nn.Module, inputs: Inputs, dtype: str) -> torch.nn.Module:
    from torchao.quantization.pt2e.quantize_pt2e import convert_pt2e, prepare_pt2e

    from executorch.backends.qualcomm.quantizer.quantizer import QnnQuantizer, QuantDtype

    quantizer = QnnQuantizer()
    quantizer.set_default_quant_config(
        QuantDtype[f"use_{dtype}"], is_conv_per_channel=True, is_linear_per_channel=True
    )
    prepared = prepare_pt2e(torch.export.export(module, inputs, strict=True).module(), quantizer)
    prepared(*inputs)
    return convert_pt2e(prepared)


def lowered(module: torch.nn.Module, inputs: Inputs, is_quantized: bool) -> Any:
    """For SM8650, by the call of the documents."""
    from executorch.backends.qualcomm.serialization.qc_schema import QcomChipset
    from executorch.backends.qualcomm.utils.utils import (
        generate_htp_compiler_spec,
        generate_qnn_executorch_compiler_spec,
        to_edge_transform_and_lower_to_qnn,
    )

    htp = generate_htp_compiler_spec(use_fp16=not is_quantized)
    specs = generate_qnn_executorch_compiler_spec(QcomChipset.SM8650, htp)
    return to_edge_transform_and_lower_to_qnn(module, inputs, specs)


def result_of(path: Path, dtype: str) -> dict[str, Any]:
    program = torch.export.load(path)
    inputs = program.example_inputs[0]
    module = program.module()
    if dtype:
        module = quantized(module, inputs, dtype)
    module, inputs = copy.deepcopy(module), copy.deepcopy(inputs)
    start = _processor_seconds()
    manager = lowered(module, inputs, bool(dtype))
    manager.to_executorch()
    seconds = _processor_seconds() - start
    nodes = manager.exported_program().graph.nodes
    names = [_name(node) for node in nodes if node.op == "call_function"]
    delegates = names.count("executorch_call_delegate")
    left = Counter(each for each in names if "." in each)
    return {"delegates": delegates, "left": dict(left), "seconds": seconds}


def _processor_seconds() -> float:
    """Of all threads, and of programs that ran and ended, such as flatc: others on the machine do not count."""
    return sum(os.times()[:4])


def _name(node: Any) -> str:
    """With a dot where it is an operator that computes."""
    name = getattr(node.target, "__name__", str(node.target))
    return "" if "quantized_decomposed" in str(node.target) else name


def main(argv: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path)
    parser.add_argument("--quantize", default="", help="dtypes, such as 8a8w")
    parser.add_argument(
        "--refuse", nargs="*", default=[], metavar="TYPE", help="of QNN's operators"
    )
    options = parser.parse_args(argv)
    warnings.simplefilter("ignore")
    logging.disable(logging.CRITICAL)
    with recorder(options.refuse):
        for line in sys.stdin:
            name = line.strip()
            try:
                with contextlib.redirect_stdout(io.StringIO()):
                    found = result_of(options.folder / f"{name}.pt2", options.quantize)
            except Exception as error:
                found = {"error": f"{type(error).__name__}: {error}"[:300]}
            print(REPLY + json.dumps({"network": name, **found}), flush=True)


if __name__ == "__main__":
    main()
