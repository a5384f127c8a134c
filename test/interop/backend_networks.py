# SPDX-License-Identifier: BSD-3-Clause
"""Networks of the benchmark suite lowered for a backend, beside ExecuTorch 1.4.1: delegates, calls left on the CPU,
seconds of quantizing and lowering without those of the vendor's own compiler.

usage: python -m executorch.test.interop.backend_networks arm|coreml|mps [network ...] [--spec SPEC]
           [--vela ethos-u55-128 ...] [--repeats 1] [--cpu-time] [--no-peer] [--left]

SPEC is the row's: arm TOSA-1.0+INT+int16+int4+u55 (quantized where it has INT; --vela compiles ours, too), coreml
iOS18+FLOAT16 (+INT8: by CoreMLQuantizer), mps FLOAT16 or FLOAT32, whose nodes are compared, too. 1.4.1 runs in its own
environment, EXECUTORCH_PEER_PYTHON. Both get the same exported program and the same inputs for calibration, in turns. A
line for each network, with how long preparing to quantize and lowering alone take: the rest is torchao's converting and
torch.export, the same on both sides. Exit status 1 where ours is worse."""

from __future__ import annotations

import argparse
import contextlib
import io
import statistics
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch

from executorch.tools.bench.suite.network import Network
from executorch.tools.bench.suite.table import chosen
from executorch.tools.measure.processes import Worker, peer_python

NETWORKS = """resnet18 resnet50 regnet bit convnext mobilenet_v1 mobilenet_v2 mobilenet_v3 efficientnet_b0 mobilevit
levit poolformer vit deit_base squeezenet shufflenet vgg11 densenet mlp_mixer deeplab unet espcn edsr dcgan keywords
wavenet vocoder tcn lstm gru_both_ways""".split()
# What both sides run; a row's code defines quantizer(spec), None where nothing is quantized, and partitioner(spec).
CODE = """
import json, logging, operator, sys, time, warnings
warnings.filterwarnings("ignore"); logging.disable(logging.WARNING)
sys.path += @PACKAGES@
import torch
now = time.@CLOCK@
from collections import Counter
from torchao.quantization.pt2e.quantize_pt2e import convert_pt2e, prepare_pt2e
from executorch.exir import to_edge_transform_and_lower
from executorch.exir.lowered_backend_module import get_lowered_backend_modules
vendor = {"seconds": 0.0, "depth": 0}
def of_vendor(owner, name):
    function = getattr(owner, name)
    def timed(*args, **kwargs):
        start, vendor["depth"] = now(), vendor["depth"] + 1
        try:
            return function(*args, **kwargs)
        finally:
            vendor["depth"] -= 1
            vendor["seconds"] += now() - start if not vendor["depth"] else 0.0
    setattr(owner, name, timed)
@ROW@
def quantized(module, inputs, made):
    start = now()
    prepared = prepare_pt2e(module, made)
    prepare = now() - start
    prepared(*inputs)
    start = now()
    program = torch.export.export(convert_pt2e(prepared), inputs)
    return program, prepare, now() - start
def lowered(path, calls, text, folder):
    program = torch.export.load(path)
    inputs = tuple(torch.load(calls, weights_only=True))
    made, prepare, convert = quantizer(text), 0.0, 0.0
    if made is not None:
        program, prepare, convert = quantized(program.module(check_guards=False), inputs, made)
    vendor["seconds"], start = 0.0, now()
    edge = to_edge_transform_and_lower(program, partitioner=[partitioner(text)])
    lower = now() - start - vendor["seconds"]
    module = edge.exported_program().graph_module
    graphs = [bytes(each.processed_bytes) for each in get_lowered_backend_modules(module)]
    for place, graph in enumerate(graphs if folder else ()):
        open(f"{folder}/{place}.payload", "wb").write(graph)
    names = [str(n.target) for n in module.graph.nodes if n.op == "call_function" and n.target is not operator.getitem]
    outside = [n for n in names if "delegate" not in n and "quantize" not in n and "sym_" not in n]
    times = dict(seconds=prepare + convert + lower, prepare=prepare, lower=lower)
    return dict(times, delegates=len(graphs), left=Counter(outside))
for line in sys.stdin:
    try:
        answer = lowered(*json.loads(line))
    except Exception as problem:
        answer = {"error": f"{type(problem).__name__}: {problem}"[:200].replace(chr(10), " ")}
    print("RESULT " + json.dumps(answer), flush=True)
"""
ARM = """
from executorch.backends.arm.quantizer import TOSAQuantizer, get_symmetric_quantization_config
from executorch.backends.arm.tosa.compile_spec import TosaCompileSpec
from executorch.backends.arm.tosa.partitioner import TOSAPartitioner
def quantizer(text):
    made = TOSAQuantizer(TosaCompileSpec(text)).set_global(get_symmetric_quantization_config())
    return made if "INT" in text else None
def partitioner(text):
    return TOSAPartitioner(TosaCompileSpec(text))
"""
COREML = """
import coremltools as ct
from executorch.backends.apple.coreml.compiler import CoreMLBackend
from executorch.backends.apple.coreml.partition import CoreMLPartitioner
from executorch.backends.apple.coreml.quantizer import CoreMLQuantizer
of_vendor(ct, "convert")
of_vendor(ct.models.MLModel, "save")
def quantizer(text):
    linear = ct.optimize.torch.quantization
    config = linear.ModuleLinearQuantizerConfig(
        quantization_scheme="symmetric", activation_dtype=torch.quint8, weight_dtype=torch.qint8,
        weight_per_channel=True)
    made = CoreMLQuantizer(linear.LinearQuantizerConfig(global_config=config))
    return made if text.endswith("+INT8") else None
def partitioner(text):
    target, precision = text.split("+")[:2]
    return CoreMLPartitioner(compile_specs=CoreMLBackend.generate_compile_specs(
        minimum_deployment_target=ct.target[target], compute_precision=ct.precision[precision]))
"""
MPS = """
from executorch.backends.apple.mps.partition import MPSPartitioner
from executorch.exir.backend.compile_spec_schema import CompileSpec
def quantizer(text):
    return None
def partitioner(text):
    return MPSPartitioner([CompileSpec("use_fp16", bytes([text == "FLOAT16"]))])
"""
Answer = dict[str, Any]


@dataclass(frozen=True)
class Row:
    """`packages`: folders in which 1.4.1 finds the vendor's own. `never_more`: counts in which ours may not exceed.
    `compared`: what payloads of both have otherwise, in a few words."""

    code: str
    spec: str
    never_more: tuple[str, ...]
    packages: Callable[[], list[str]] = list
    compared: Callable[[list[bytes], list[bytes]], str] | None = None


def tool_packages() -> list[str]:
    """Where 1.4.1 finds the serializer of TOSA."""
    from executorch.exir.backend.lowering.external.tool import tool_path

    model = tool_path("arm", "tosa_reference_model")
    found = model.parent.parent.glob("lib/python3*/site-packages") if model else ()
    return [str(each) for each in found]


def mps_nodes(ours: list[bytes], theirs: list[bytes]) -> str:
    from executorch.backends.apple.mps.test.chains import compared

    return compared(ours, theirs)


ROWS = {
    "arm": Row(ARM, "TOSA-1.0+INT+int16+int4+u55", ("left",), tool_packages),
    "coreml": Row(COREML, "iOS18+FLOAT16", ("delegates", "left")),
    "mps": Row(MPS, "FLOAT16", ("delegates", "left"), compared=mps_nodes),
}


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
            (folder / engine).mkdir(exist_ok=True)
            is_read = ROWS[options.backend].compared or (engine == "ours" and options.vela)
            graphs = str(folder / engine) if is_read else ""
            question = [
                str(folder / "network.pt2"),
                str(folder / "inputs.pt"),
                options.spec or ROWS[options.backend].spec,
                graphs,
            ]
            found[engine].append(worker.ask(question))
    for answers in found.values():
        for key in ("seconds", "prepare", "lower") if "error" not in answers[-1] else ():
            answers[-1][key] = statistics.median(each[key] for each in answers)
    return {engine: answers[-1] for engine, answers in found.items()}


def on_cpu(folder: Path, delegates: int, target: str) -> str:
    """What Vela says of our graphs; it is refused where operators stay on the CPU."""
    from executorch.backends.arm.arm_vela import vela_compile
    from executorch.backends.arm.ethosu import EthosUCompileSpec
    from executorch.exir.backend.lowering.external.compiler import Refused

    try:
        for place in range(delegates):
            graph = _payload(folder, "ours", place)
            with contextlib.redirect_stdout(io.StringIO()):
                vela_compile(graph, EthosUCompileSpec(target).compiler_flags)
    except Refused as reason:
        return f"{target}: {reason}"[:160]
    return f"{target}: CPU operators = 0"


def _payload(folder: Path, engine: str, place: int) -> bytes:
    return (folder / engine / f"{place}.payload").read_bytes()


def text_of(answer: Answer) -> str:
    if "error" in answer:
        return f"fails: {answer['error'][:60]}"
    left = sum(answer["left"].values())
    return f"{answer['delegates']:3d} delegates {left:4d} left {answer['seconds']:7.2f} s"


def count(answer: Answer, key: str) -> int:
    found = answer[key]
    return found if isinstance(found, int) else sum(found.values())


def is_worse(found: dict[str, Answer], never_more: tuple[str, ...]) -> bool:
    ours, theirs = found["ours"], found.get("1.4.1", {})
    if "error" in ours:
        return True
    if "delegates" not in theirs:
        return False
    return any(count(ours, key) > count(theirs, key) for key in never_more)


def show(name: str, found: dict[str, Answer], options: argparse.Namespace, folder: Path) -> None:
    ours, theirs = found["ours"], found.get("1.4.1", {})
    texts = [f"{engine}: {text_of(answer)}" for engine, answer in found.items()]
    if "seconds" in ours and "seconds" in theirs:
        texts.append(f"{theirs['seconds'] / ours['seconds']:.1f}x")
        for part in ("prepare", "lower") if ours["prepare"] else ():
            times = f"{ours[part]:.2f} s of {theirs[part]:.1f} s"
            texts.append(f"{part} {times}, {theirs[part] / ours[part]:.0f}x")
    compared = ROWS[options.backend].compared
    if compared is not None and "delegates" in ours and "delegates" in theirs:
        both = (
            [_payload(folder, engine, place) for place in range(answer["delegates"])]
            for engine, answer in found.items()
        )
        texts.append(compared(*both))
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
    parser.add_argument("backend", choices=sorted(ROWS))
    parser.add_argument(
        "networks", nargs="*", default=NETWORKS, help="of the suite; 30 unless given"
    )
    parser.add_argument("--spec", help="what for; the row's first unless given")
    parser.add_argument(
        "--vela", nargs="*", default=[], help="targets for which Vela compiles ours"
    )
    parser.add_argument("--repeats", type=int, default=1)
    parser.add_argument(
        "--cpu-time", action="store_true", help="seconds of the processor, where others use it, too"
    )
    parser.add_argument("--no-peer", action="store_true", help="ours alone")
    parser.add_argument("--left", action="store_true", help="what is left on the CPU, by name")
    options = parser.parse_args(argv)
    row = ROWS[options.backend]
    pythons = {"ours": sys.executable} | ({} if options.no_peer else {"1.4.1": peer_python()})
    worse = []
    with tempfile.TemporaryDirectory() as name:
        packages = {"ours": [], "1.4.1": row.packages()}
        clock = "process_time" if options.cpu_time else "perf_counter"
        code = CODE.replace("@ROW@", row.code).replace("@CLOCK@", clock)
        workers = {
            engine: Worker(
                python, code.replace("@PACKAGES@", repr(packages[engine])), Path(name), engine
            )
            for engine, python in pythons.items()
        }
        for network in chosen(options.networks):
            found = measured(network, workers, options, Path(name))
            show(network.name, found, options, Path(name))
            worse += [network.name] if is_worse(found, row.never_more) else []
        for worker in workers.values():
            worker.close()
    print(f"ours has more {' or '.join(row.never_more)}: {', '.join(worse) or 'nowhere'}")
    return 1 if worse else 0


if __name__ == "__main__":
    sys.exit(main())
