# SPDX-License-Identifier: BSD-3-Clause
"""The JavaScript half without a compiler: its own tests, the joined script, type declarations, the page's files."""

from __future__ import annotations

import json
import re
import runpy
import shutil
import subprocess
import urllib.request
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from executorch.test.repository.sources import ROOT

HERE = ROOT / "extension" / "wasm"
BUNDLE = runpy.run_path(str(HERE / "bundle.py"))  # no part of the installed package
NODE = shutil.which("node")
needs_node = pytest.mark.skipif(NODE is None, reason="needs Node (scripts/apt-packages.txt)")


def node(*words: object) -> str:
    done = subprocess.run([str(NODE), *map(str, words)], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-4000:]
    return done.stdout


@needs_node
def test_the_interface_on_a_fake_program() -> None:
    text = node("--test", HERE / "test" / "javascript.test.mjs")
    assert "# fail 0" in text and "# pass 0" not in text


@needs_node
def test_the_joined_script_has_one_name(tmp_path: Path) -> None:
    """Every source is in it, in an order in which it runs."""
    assert sorted(f"{name}.mjs" for name in BUNDLE["SOURCES"]) == sorted(
        path.name for path in (HERE / "src").iterdir()
    )
    joined = tmp_path / "interface.cjs"
    joined.write_text(BUNDLE["script"]() + "console.log(typeof createExecuTorch, typeof Tensor);\n")
    assert node(joined) == "function undefined\n"


def members(text: str, interface: str) -> set[str]:
    (body,) = re.findall(rf"export interface {interface}\b[^{{]*\{{(.*?)\n\}}", text, re.S)
    return set(re.findall(r"^  (?:readonly )?(\w+)\??[:(]", body, re.M))


@needs_node
def test_declarations_are_the_interface(tmp_path: Path) -> None:
    """Each member that index.d.mts declares is there, and no other that is public."""
    source = tmp_path / "names.mjs"
    source.write_text(
        f"""
import {{ FakeRuntime }} from "{HERE}/test/fake_runtime.mjs";
import {{ createInterface }} from "{HERE}/src/interface.mjs";
const runtime = new FakeRuntime();
runtime.recordsEvents = true;
runtime.tokenizers = {{ create: () => 8 }};
const et = createInterface(runtime);
const language = ["constructor", "length", "name", "prototype"];
const own = (value) => Object.getOwnPropertyNames(value).filter((name) => !language.includes(name));
console.log(JSON.stringify({{
  ExecuTorch: own(et), ModuleClass: own(et.Module), Module: own(et.Module.prototype), TensorClass: own(et.Tensor),
  TextSession: own(et.TextSession.prototype), TextSessionClass: own(et.TextSession),
  Tokenizer: own(Object.getPrototypeOf(et.Tekken.prototype)),
  Tensor: [...own(et.Tensor.prototype), ...own(et.Tensor.ones([1]))],
  ScalarType: own(et.ScalarType), Tag: own(et.Tag),
}}));
"""
    )
    found = {name: set(each) for name, each in json.loads(node(source)).items()}
    text = (HERE / "package" / "index.d.mts").read_text()
    for name in ("ScalarType", "Tag"):
        (union,) = re.findall(rf"export type {name}Name =(.*?);", text, re.S)
        assert found.pop(name) == set(re.findall(r'"(\w+)"', union)), name
    for name, names in found.items():
        assert members(text, name) == names, name


CORE = (
    "const core = async ({ wasmBinary, ...given }) => ({ bytes: String(wasmBinary), ...given });\n"
)
THREADS = """
const place = process.argv[2];
const { load } = await import(place);
const said = async (options) => JSON.stringify(await load(options)).replaceAll(new URL(".", place).pathname, "");
console.log(`[${await said()}, ${await said({ threads: 3 })}]`);
"""


@needs_node
@pytest.mark.parametrize("entry", ["index.mjs", "index.cjs"])
def test_threads_are_loaded_where_they_are(entry: str, tmp_path: Path) -> None:
    """On programs that give back what they are given."""
    for name in ("index.mjs", "index.cjs"):
        shutil.copy(HERE / "package" / name, tmp_path)
    (tmp_path / "core.mjs").write_text(CORE + "export default core;\n")
    (tmp_path / "core.cjs").write_text(CORE + "module.exports = core;\n")
    (tmp_path / "executorch.wasm").write_text("one")
    (tmp_path / "run.mjs").write_text(THREADS)
    words = tmp_path / "run.mjs", (tmp_path / entry).as_uri()
    alone, lacking = json.loads(node(*words))
    assert alone["bytes"] == lacking["bytes"] == "one" and not alone.get("whyOneThread")
    assert lacking["whyOneThread"].startswith("threads need the package's folder threads: ")
    (tmp_path / "threads").mkdir()
    (tmp_path / "threads" / "core.js").write_text(CORE + "module.exports = core;\n")
    (tmp_path / "threads" / "package.json").write_text('{"type": "commonjs"}')
    (tmp_path / "threads" / "executorch.wasm").write_text("more")
    alone, together = json.loads(node(*words))
    main = "threads/core.js"
    assert alone["bytes"] == "one"
    assert together == {"bytes": "more", "numWorkers": 2, "mainScriptUrlOrBlob": main}
    page = "globalThis.crossOriginIsolated = false;\n"  # as browsers say
    (tmp_path / "run.mjs").write_text(page + THREADS)
    _, refused = json.loads(node(*words))
    assert refused["bytes"] == "one"
    assert "Cross-Origin-Embedder-Policy: require-corp, found one" in refused["whyOneThread"]


def test_the_server_sends_the_headers_of_threads(serve: Callable[..., Any], tmp_path: Path) -> None:
    for name in ("index.mjs", "executorch.wasm"):
        (tmp_path / name).touch()
    types = {"index.mjs": "text/javascript", "executorch.wasm": "application/wasm"}
    for is_isolated, policy in ((True, "require-corp"), (False, None)):
        with serve(tmp_path, is_isolated) as site:
            for name, kind in types.items():
                with urllib.request.urlopen(f"{site}/{name}") as answer:
                    assert answer.headers["Content-Type"] == kind
                    assert answer.headers["Cross-Origin-Embedder-Policy"] == policy


def test_the_package_names_its_files() -> None:
    package = json.loads((HERE / "package" / "package.json").read_text())
    made = {"core.mjs", "core.cjs", "executorch.wasm"}  # by bundle.py
    there = {path.name for path in (HERE / "package").iterdir()} | made
    text = json.dumps([package["main"], package["module"], package["types"], package["exports"]])
    assert set(re.findall(r"\./([\w.]+)", text)) - {"worker"} <= there
    for place in sorted((HERE / "package").glob("*.?js")):
        imported = re.findall(
            r'(?:from|import\(|require\(|URL\()\s*"\./([\w.]+)"', place.read_text()
        )
        assert set(imported) <= there, place.name


def test_the_page_names_its_files() -> None:
    text = (HERE / "page" / "index.html").read_text()
    there = {path.name for path in (HERE / "page").iterdir()}
    assert set(re.findall(r'(?:href|src)="([^":]+)"', text)) <= there
    script_text = (HERE / "page" / "page.mjs").read_text()
    assert set(re.findall(r'\$\("(\w+)"\)', script_text)) <= set(re.findall(r'id="([\w-]+)"', text))
    assert not re.search(r"https?://", text + script_text)  # no file of another server


@needs_node
def test_the_page_writes_sizes_and_fills_inputs(tmp_path: Path) -> None:
    source = tmp_path / "page.mjs"
    source.write_text(
        f"""
import {{ bytesText, filled, sizesText, timeText }} from "{HERE}/page/text.mjs";
const info = (name, sizes, minSizes) => ({{ scalarType: {{ name }}, sizes, minSizes, dimOrder: [0] }});
console.log(JSON.stringify([
  [0, 1023, 1536, 4.2 * 2 ** 20].map(bytesText), [0.02, 4.256, 1500].map(timeText),
  sizesText(info("Float", [8, 2], [1, 2])), sizesText(info("Float", [])),
  Array.from(filled(info("Half", [2]), "ones").data), Array.from(filled(info("Float", [3]), "zeros").data),
  Array.from(filled(info("Long", [2]), "ones").data, String),
]));
"""
    )
    assert json.loads(node(source)) == [
        ["0 B", "1020 B", "1.5 KiB", "4.2 MiB"], ["20 µs", "4.26 ms", "1.50 s"], "1 to 8 × 2", "scalar",
        [0x3C00, 0x3C00], [0, 0, 0], ["1", "1"],
    ]  # fmt: skip
