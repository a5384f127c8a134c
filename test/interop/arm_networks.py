# SPDX-License-Identifier: BSD-3-Clause
"""Networks of the benchmark suite, quantized and cut for Arm, beside ExecuTorch 1.4.1: delegates, calls left on the
CPU, seconds of quantizing and lowering without the vendor's compilers. Ours is then compiled by Vela, too.

usage: python -m executorch.test.interop.arm_networks [network ...] [--spec TOSA-1.0+INT+int16+int4+u55]
           [--vela ethos-u55-128 ...] [--repeats 1] [--no-peer] [--left]

1.4.1 runs in its own environment, EXECUTORCH_PEER_PYTHON. Both get the same exported program and the same inputs for
calibration, in turns. A line for each network; exit status 1 where ours leaves more on the CPU."""

from __future__ import annotations

import argparse
import contextlib
import io
import statistics
import sys
import tempfile
from pathlib import Path
from typing import Any

import torch

from executorch.tools.bench.suite.network import Network
from executorch.tools.bench.suite.table import chosen
from executorch.tools.bench.turns import Worker, peer_python

NETWORKS = """resnet18 resnet50 regnet bit convnext mobilenet_v1 mobilenet_v2 mobilenet_v3 efficientnet_b0 mobilevit
levit poolformer vit deit_base squeezenet shufflenet vgg11 densenet mlp_mixer deeplab unet espcn edsr dcgan keywords
wavenet vocoder tcn lstm gru_both_ways""".split()
SPEC = "TOSA-1.0+INT+int16+int4+u55"
CODE = """
import json, logging, operator, sys, time, warnings
warnings.filterwarnings("ignore"); logging.disable(logging.WARNING)
sys.path += @PACKAGES@
import torch
from collections import Counter
from torchao.quantization.pt2e.quantize_pt2e import convert_pt2e, prepare_pt2e
from executorch.backends.arm.quantizer import TOSAQuantizer, get_symmetric_quantization_config
from executorch.backends.arm.tosa.compile_spec import TosaCompileSpec
from executorch.backends.arm.tosa.partitioner import TOSAPartitioner
from executorch.exir import to_edge_transform_and_lower
from executorch.exir.lowered_backend_module import get_lowered_backend_modules
def quantized(module, inputs, spec):
    quantizer = TOSAQuantizer(spec).set_global(get_symmetric_quantization_config())
    start = time.perf_counter()
    prepared = prepare_pt2e(module, quantizer)
    seconds = time.perf_counter() - start
    prepared(*inputs)
    start = time.perf_counter()
    program = torch.export.export(convert_pt2e(prepared), inputs)
    return program, seconds + time.perf_counter() - start
def lowered(path, calls, text, folder):
    program = torch.export.load(path)
    inputs = tuple(torch.load(calls, weights_only=True))
    spec, seconds = TosaCompileSpec(text), 0.0
    if "INT" in text:
        program, seconds = quantized(program.module(check_guards=False), inputs, spec)
    start = time.perf_counter()
    edge = to_edge_transform_and_lower(program, partitioner=[TOSAPartitioner(spec)])
    seconds += time.perf_counter() - start
    module = edge.exported_program().graph_module
    graphs = [bytes(each.processed_bytes) for each in get_lowered_backend_modules(module)]
    for place, graph in enumerate(graphs if folder else ()):
        open(f"{folder}/{place}.tosa", "wb").write(graph)
    names = [str(n.target) for n in module.graph.nodes if n.op == "call_function" and n.target is not operator.getitem]
    outside = [n for n in names if "delegate" not in n and "quantize" not in n and "sym_" not in n]
    return dict(seconds=seconds, delegates=len(graphs), left=Counter(outside))
for line in sys.stdin:
    try:
        answer = lowered(*json.loads(line))
    except Exception as problem:
        answer = {"error": f"{type(problem).__name__}: {problem}"[:200].replace(chr(10), " ")}
    print("RESULT " + json.dumps(answer), flush=True)
"""
Answer = dict[str, Any]


def tool_packages() -> list[str]:
    """Where 1.4.1 finds the serializer of TOSA."""
    from executorch.exir.backend.lowering.external_tool import tool_path

    model = tool_path("arm", "tosa_reference_model")
    found = model.parent.parent.glob("lib/python3*/site-packages") if model else ()
    return [str(each) for each in found]


def measured(
    network: Network, workers: dict[str, Worker], options: argparse.Namespace, folder: Path
) -> dict[str, Answer]:
    """The last answer of each engine, with the median of its seconds."""
    module, inputs = network.build()
    with torch.no_grad():
        program = torch.export.export(module, inputs)
    torch.save(list(inputs), folder / "inputs.pt")
    torch.export.save(program, folder / "network.pt2")
    found: dict[str, list[Answer]] = {engine: [] for engine in workers}
    for _ in range(options.repeats):
        for engine, worker in workers.items():
            graphs = str(folder) if engine == "ours" else ""
            question = [
                str(folder / "network.pt2"),
                str(folder / "inputs.pt"),
                options.spec,
                graphs,
            ]
            found[engine].append(worker.ask(question))
    for answers in found.values():
        if "error" not in answers[-1]:
            answers[-1]["seconds"] = statistics.median(each["seconds"] for each in answers)
    return {engine: answers[-1] for engine, answers in found.items()}


def on_cpu(folder: Path, delegates: int, target: str) -> str:
    """What Vela says of our graphs; it is refused where operators stay on the CPU."""
    from executorch.backends.arm.arm_vela import vela_compile
    from executorch.backends.arm.ethosu import EthosUCompileSpec
    from executorch.exir.backend.lowering.external_compiler import Refused

    try:
        for place in range(delegates):
            graph = (folder / f"{place}.tosa").read_bytes()
            with contextlib.redirect_stdout(io.StringIO()):
                vela_compile(graph, EthosUCompileSpec(target).compiler_flags)
    except Refused as reason:
        return f"{target}: {reason}"[:160]
    return f"{target}: CPU operators = 0"


def text_of(answer: Answer) -> str:
    if "error" in answer:
        return f"fails: {answer['error'][:60]}"
    left = sum(answer["left"].values())
    return f"{answer['delegates']:3d} delegates {left:4d} left {answer['seconds']:7.2f} s"


def is_worse(found: dict[str, Answer]) -> bool:
    ours, theirs = found["ours"], found.get("1.4.1", {})
    if "error" in ours:
        return True
    if "delegates" not in theirs:
        return False
    return sum(ours["left"].values()) > sum(theirs["left"].values())


def show(name: str, found: dict[str, Answer], options: argparse.Namespace, folder: Path) -> None:
    ours, theirs = found["ours"], found.get("1.4.1", {})
    texts = [f"{engine}: {text_of(answer)}" for engine, answer in found.items()]
    if "seconds" in ours and "seconds" in theirs:
        texts.append(f"{theirs['seconds'] / ours['seconds']:.1f}x")
    texts += [
        on_cpu(folder, ours["delegates"], each) for each in options.vela if "error" not in ours
    ]
    print(f"{name:16s} {' | '.join(texts)}", flush=True)
    for engine, answer in found.items():
        if options.left and answer.get("left"):
            print(
                f"    {engine}: {', '.join(f'{k} {v}' for k, v in answer['left'].items())}",
                flush=True,
            )


def main(argv: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "networks", nargs="*", default=NETWORKS, help="of the suite; 30 unless given"
    )
    parser.add_argument(
        "--spec", default=SPEC, help="a TOSA specification; of FP nothing is quantized"
    )
    parser.add_argument(
        "--vela", nargs="*", default=[], help="targets for which Vela compiles ours"
    )
    parser.add_argument("--repeats", type=int, default=1)
    parser.add_argument("--no-peer", action="store_true", help="ours alone")
    parser.add_argument("--left", action="store_true", help="what is left on the CPU, by name")
    options = parser.parse_args(argv)
    pythons = {"ours": sys.executable} | ({} if options.no_peer else {"1.4.1": peer_python()})
    worse = []
    with tempfile.TemporaryDirectory() as name:
        packages = {"ours": [], "1.4.1": tool_packages()}
        workers = {
            engine: Worker(
                python, CODE.replace("@PACKAGES@", repr(packages[engine])), Path(name), engine
            )
            for engine, python in pythons.items()
        }
        for network in chosen(options.networks):
            found = measured(network, workers, options, Path(name))
            show(network.name, found, options, Path(name))
            worse += [network.name] if is_worse(found) else []
        for worker in workers.values():
            worker.close()
    print(f"ours leaves more on the CPU: {', '.join(worse) or 'nowhere'}")
    return 1 if worse else 0


if __name__ == "__main__":
    sys.exit(main())
