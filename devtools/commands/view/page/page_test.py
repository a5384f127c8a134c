# SPDX-License-Identifier: BSD-3-Clause
"""The page without a browser: what is packed, groups, edges between them, places in layers, where arrows lead."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

from executorch.devtools.commands.output.report import Table
from executorch.devtools.commands.view.graph import INPUT, OUTPUT, Graph, GraphNode, Weight
from executorch.devtools.commands.view.page import HERE, SCRIPTS, graph_page, packed

NODE = shutil.which("node")
needs_node = pytest.mark.skipif(NODE is None, reason="needs Node (Debian: nodejs)")
# x -> conv -> relu -> add -> output, x -> add; the first two are in a module, and two lines of Python.
LINE = ("/src/net.py:7", "y = c(x)")
SIZES = ("float32[1]",)
CONV = GraphNode("conv", "aten::convolution", "block.conv", *LINE, (0,), SIZES, "Xnn", ms=2.0)
NODES = [
    GraphNode("x", INPUT, outputs=SIZES),
    replace(CONV, num_bytes=100),
    GraphNode("relu", "aten::relu.out", "block.act", *LINE, (1,), (), "kernels", "no such operator", 0, 0.5),
    GraphNode("add", "aten::add.out", "", "/src/net.py:8", "return x + y", (0, 2), (), "Xnn", num_bytes=10, call=3),
    GraphNode("output", OUTPUT, inputs=(3,)),
]  # fmt: skip


def in_node(graphs: Sequence[Graph], script: str) -> Any:
    """What `script` gives, where `nodes` are those of the graphs and `named(item)` is an item's name."""
    assert NODE is not None
    sources = [(HERE / name).read_text() for name in ("tree.js", "layout.js")]
    data = json.dumps(packed(graphs))
    body = f"const nodes = unpack({data}); const named = item => item.name;"
    program = "\n".join([*sources, body, f"console.log(JSON.stringify((() => {{{script}}})()))"])
    ran = subprocess.run([NODE, "-"], input=program, capture_output=True, text=True, timeout=60)
    assert ran.returncode == 0, ran.stderr
    return json.loads(ran.stdout)


def graph(
    nodes: Sequence[GraphNode] = NODES, file: str = "a.pte", method: str = "forward"
) -> Graph:
    return Graph(file, method, nodes)


def chain(count: int) -> list[GraphNode]:
    return [GraphNode(f"n{i}", "aten::add.out", inputs=(i - 1,) if i else ()) for i in range(count)]


@needs_node
def test_groups_and_sums() -> None:
    show = """const show = item => item.children ? [item.name, item.sums.count, item.sums.num_bytes, item.sums.ms,
        ...item.children.map(show)] : item.name;
        return ["module", "line", "backend"].map(by => show(buildTree(nodes, by).root));"""
    by_module, by_line, by_backend = in_node([graph()], show)
    block = ["block", 2, 100, 2.5, ["conv", 1, 100, 2, "convolution"], ["act", 1, 0, 0.5, "relu"]]
    assert by_module == ["", 3, 110, 2.5, "x", block, "add", "output"]
    seven = ["7: y = c(x)", 2, 100, 2.5, "convolution", "relu"]
    eight = ["8: return x + y", 1, 10, None, "add"]
    assert by_line == ["", 3, 110, 2.5, "x", ["net.py", 3, 110, 2.5, seven, eight], "output"]
    xnn = ["Xnn", 2, 110, 2, "convolution", ["call 3", 1, 10, None, "add"]]
    assert by_backend == ["", 3, 110, 2.5, "x", xnn, ["kernels", 1, 0, 0.5, "relu"], "output"]


@needs_node
def test_edges_stand_where_ways_part() -> None:
    script = """const { root } = buildTree(nodes, "module");
        const edges = item => item.edges.map(edge => edge.map(named));
        return [edges(root), edges(root.children[1]), nodes.map(node => node.users)];"""
    outer, inner, users = in_node([graph()], script)
    assert sorted(outer) == [["add", "output"], ["block", "add"], ["x", "add"], ["x", "block"]]
    assert inner == [["conv", "act"]]
    assert users == [[1, 3], [2], [3], [4], []]


@needs_node
def test_layers_go_down_and_boxes_do_not_overlap() -> None:
    script = """const { root } = buildTree(nodes, "module"), open = firstOpen(root);
        layout(root, open);
        const seen = item => item.children && open.has(item) ? item.children.flatMap(seen) : [item];
        const boxes = seen(root).map(item => ({ ...cornerOf(item), w: item.w, h: item.h }));
        const hits = seen(root).map(item => { const { x, y } = cornerOf(item);
            return itemAt(root, open, x + 1, y + 1) === item; });
        return [root.layers.map(layer => layer.map(named)), boxes, hits, root.w, root.h];"""
    layers, boxes, hits, width, height = in_node([graph()], script)
    assert layers == [["x"], ["block"], ["add"], ["output"]]
    assert all(hits)
    for i, a in enumerate(boxes):
        assert a["x"] >= 0 and a["x"] + a["w"] <= width and a["y"] + a["h"] <= height
        for b in boxes[i + 1 :]:
            apart = a["x"] + a["w"] <= b["x"] or b["x"] + b["w"] <= a["x"]
            assert apart or a["y"] + a["h"] <= b["y"] or b["y"] + b["h"] <= a["y"]


@needs_node
def test_an_edge_that_passes_a_layer_goes_around_its_boxes() -> None:
    script = """const { root } = buildTree(nodes, "module"); layout(root, firstOpen(root));
        const [, block] = root.children, edge = root.edges.find(([a, b]) => named(a) + named(b) === "xadd");
        return [edge.right, block.x + block.w];"""
    right, of_block = in_node([graph()], script)
    assert right == of_block


@needs_node
def test_arrows_follow_edges_and_enter_open_groups() -> None:
    script = """const { root, leaves } = buildTree(nodes, "module"), open = firstOpen(root);
        layout(root, open);
        const walk = (item, keys) => keys.map(key => named(item = neighbour(item, open, key)));
        return [walk(leaves[0], Array(5).fill("ArrowDown")), walk(leaves[4], Array(5).fill("ArrowUp")),
            walk(leaves[0], ["ArrowLeft", "ArrowRight"])];"""
    down, up, aside = in_node([graph()], script)
    assert down == ["convolution", "relu", "add", "output", "output"]
    assert up == ["add", "relu", "convolution", "x", "x"]
    assert aside == ["x", "x"]


@needs_node
def test_what_reads_nothing_stands_above_its_reader() -> None:
    """A dequantized weight is among the first nodes of a program, and its module still comes last."""
    late = GraphNode("dq", "quantized::dequantize", "tail")
    nodes = [late, GraphNode("x", INPUT), GraphNode("a", "aten::a", "head", inputs=(1,))]
    nodes += [GraphNode("b", "aten::b", "tail", inputs=(0, 2))]
    script = """const { root } = buildTree(nodes, "module"); layout(root, firstOpen(root));
        return root.layers.map(layer => layer.map(named));"""
    assert in_node([graph(nodes)], script) == [["x"], ["head"], ["tail"]]


@needs_node
def test_a_flat_graph_is_cut_into_parts() -> None:
    script = """const { root } = buildTree(nodes, "module");
        return [root.children.length, root.children[0].children.length, named(root.children[3]), root.edges.length];"""
    # 1000 nodes in parts of 50, each of which reads the one before.
    assert in_node([graph(chain(1000))], script) == [20, 50, "151 – 200", 19]


@needs_node
def test_files_and_methods_are_outer_groups() -> None:
    graphs = [graph(), graph(file="b.pte"), graph(file="b.pte", method="decode")]
    script = """const { root } = buildTree(nodes, "module"); layout(root, firstOpen(root));
        return root.layers.map(layer => layer.map(file => [named(file), ...file.children.map(named)]));"""
    inside = ["x", "block", "add", "output"]
    assert in_node(graphs, script) == [[["a.pte", *inside], ["b.pte", "forward", "decode"]]]


@needs_node
def test_search_wants_all_words() -> None:
    script = 'return ["relu", "xnn add", "NET.PY:7", "no such", ""].map(words => searched(nodes, words, 9).map(named));'
    found = in_node([graph()], script)
    assert found == [["relu"], ["add"], ["conv", "relu"], ["relu"], []]


@needs_node
def test_scripts_are_valid() -> None:
    assert NODE is not None
    whole = "\n".join((HERE / name).read_text() for name in SCRIPTS)
    ran = subprocess.run([NODE, "--check", "-"], input=whole, capture_output=True, text=True)
    assert ran.returncode == 0, ran.stderr


def test_a_page_needs_nothing_else_and_shows_text_as_it_is() -> None:
    wild = "</script><b>{{TITLE}}"
    weight = Weight(wild, "int8[8]", 8, -1.0, 1.0, (0, 100))
    node = GraphNode(wild, "aten::add", why=wild, weights=(weight,), limits=(-1.0, 2.0))
    table = Table("t", wild, [{"line": wild}])
    page = graph_page(wild, [wild], [Graph(wild, "forward", [node], [1, 2])], [table])
    assert page.count("</script>") == 2  # of its two scripts
    assert "<b>" not in re.sub(r'<script id="data".*?</script>', "", page, flags=re.DOTALL)
    data = re.search(r'<script id="data"[^>]*>(.*?)</script>', page, re.DOTALL)
    assert data is not None
    read = json.loads(data[1])
    assert read["texts"][read["graphs"][0]["name"][0]] == wild
    assert read["graphs"][0]["weights"] == [[[wild, "int8[8]", -1.0, 1.0, [0, 100]]]]
    assert read["graphs"][0]["memory"] == [1, 2]
    assert not re.search(r"https?://|src=|@import|url\(", page)
