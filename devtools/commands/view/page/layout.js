// SPDX-License-Identifier: BSD-3-Clause
// Places of items: a group's children stand in layers, what is read above its readers. No browser is needed here.
"use strict";
const BOX = { height: 44, least: 96, most: 260, letter: 7.2 }, GAP = { x: 22, y: 34 };
const HEAD = 26, PAD = 16, MAX_BESIDE = 10;  // items beside each other, before a layer goes on below
const ASIDE = 30;                        // beside the boxes, for edges that pass layers

/** Sets x, y (within the parent), w and h of what is seen, from the inside out. */
function layout(item, open) {
  if (!item.children || !open.has(item)) {
    const letters = Math.max(item.name.length * (item.node ? 1 : 1.15) + (item.node ? 0 : 2), subtitle(item).length * 0.85);
    item.w = Math.min(BOX.most, Math.max(BOX.least, letters * BOX.letter + 22));
    item.h = BOX.height;
    return;
  }
  for (const child of item.children) layout(child, open);
  const layers = layersOf(item);
  order(layers, item.edges);
  place(item, layers);
}

function subtitle(item) {
  return item.node ? item.node.outputs[0] ?? "" : `${item.sums.count.toLocaleString("en")} operator${item.sums.count === 1 ? "" : "s"}`;
}

function layersOf(item) {
  const rank = new Map(), children = [...item.children].sort((a, b) => a.first - b.first);
  const after = new Map(children.map(child => [child, []])), joined = new Set();
  for (const [a, b] of item.edges) {
    joined.add(a).add(b);
    if (a.first < b.first) after.get(a).push(b);  // what leads back is drawn, and has no say
  }
  for (const child of children) rank.set(child, 0);
  for (const child of children)
    for (const next of after.get(child)) rank.set(next, Math.max(rank.get(next), rank.get(child) + 1));
  const has = new Set(item.edges.map(([, b]) => b));
  for (const child of [...children].reverse())  // what reads nothing stands close to its first reader
    if (!has.has(child) && after.get(child).length)
      rank.set(child, Math.min(...after.get(child).map(next => rank.get(next))) - 1);
  const layers = [], alone = children.filter(child => !joined.has(child));
  for (const child of children)
    if (joined.has(child)) (layers[rank.get(child)] ??= []).push(child);
  const side = Math.min(MAX_BESIDE, Math.max(3, Math.ceil(Math.sqrt(alone.length))));
  const rows = layers.filter(Boolean).flatMap(layer => parts(layer, MAX_BESIDE));
  return [...rows, ...(alone.length ? parts(alone, side) : [])];
}

function parts(list, size) {
  const found = [];
  for (let start = 0; start < list.length; start += size) found.push(list.slice(start, start + size));
  return found;
}

/** Items stand in their layer as those that they read stand in theirs, then as their readers. */
function order(layers, edges) {
  const above = new Map(), below = new Map();
  for (const [a, b] of edges) {
    above.set(b, [...(above.get(b) ?? []), a]);
    below.set(a, [...(below.get(a) ?? []), b]);
  }
  const at = new Map(layers.flatMap(layer => layer.map((item, i) => [item, i - layer.length / 2])));
  const sort = (layer, near) => {
    const mean = new Map(layer.map(item => {
      const others = near.get(item) ?? [];
      return [item, others.length ? others.reduce((sum, other) => sum + at.get(other), 0) / others.length : at.get(item)];
    }));
    layer.sort((a, b) => mean.get(a) - mean.get(b) || a.first - b.first);
    layer.forEach((item, i) => at.set(item, i - layer.length / 2));
  };
  for (let turn = 0; turn < 2; turn++) {
    for (const layer of layers) sort(layer, above);
    for (const layer of [...layers].reverse()) sort(layer, below);
  }
}

function place(item, layers) {
  const layerOf = new Map(layers.flatMap((layer, i) => layer.map(child => [child, i])));
  item.layers = layers;
  const widths = layers.map(layer => layer.reduce((sum, child) => sum + child.w + GAP.x, -GAP.x));
  const isPassed = item.edges.some(([a, b]) => layerOf.get(b) - layerOf.get(a) !== 1);
  const inner = Math.max(item.name.length * BOX.letter + 60, ...widths), aside = isPassed ? ASIDE : 0;
  let y = item.parent ? HEAD + PAD / 2 : PAD;
  layers.forEach((layer, i) => {
    let x = PAD + aside + (inner - widths[i]) / 2;
    for (const child of layer) {
      child.x = x;
      child.y = y;
      child.layer = i;
      x += child.w + GAP.x;
    }
    y += Math.max(...layer.map(child => child.h)) + GAP.y;
  });
  item.w = inner + 2 * (PAD + aside);
  item.h = Math.max(y - GAP.y, HEAD) + PAD;
  for (const edge of item.edges) edge.right = rightOf(layers, edge[0].layer, edge[1].layer);
}

/** Of the boxes that an edge passes, its ends included: it goes around them. */
function rightOf(layers, from, to) {
  const passed = layers.slice(Math.min(from, to), Math.max(from, to) + 1);
  return passed.reduce((most, layer) => Math.max(most, layer[layer.length - 1].x + layer[layer.length - 1].w), 0);
}

/** Left and top of an item in the picture. */
function cornerOf(item) {
  let x = 0, y = 0;
  for (let at = item; at.parent; at = at.parent) {
    x += at.x;
    y += at.y;
  }
  return { x, y };
}

/** The item at a place: the innermost one that is seen. */
function itemAt(root, open, x, y) {
  let at = root, left = 0, top = 0;
  for (;;) {
    const inside = at.children && open.has(at) ? at.children.find(child => x >= left + child.x
      && x <= left + child.x + child.w && y >= top + child.y && y <= top + child.y + child.h) : null;
    if (!inside) return at === root ? null : at;
    left += inside.x;
    top += inside.y;
    at = inside;
  }
}

/** Where an arrow leads: along edges, to neighbours in a layer, out of a group at its end, into an open one. */
function neighbour(item, open, key) {
  if (key === "ArrowLeft" || key === "ArrowRight") {
    const row = item.parent.layers[item.layer], next = row[row.indexOf(item) + (key === "ArrowLeft" ? -1 : 1)];
    return next ?? item;
  }
  const isDown = key === "ArrowDown";
  for (let at = item; at.parent; at = at.parent) {
    const linked = at.parent.edges.filter(([a, b]) => (isDown ? a : b) === at).map(([a, b]) => isDown ? b : a)
      .filter(other => isDown ? other.layer > at.layer : other.layer < at.layer);
    const row = at.parent.layers[at.layer + (isDown ? 1 : -1)] ?? [];
    const near = list => list.reduce((best, other) =>
      !best || Math.abs(other.layer - at.layer) < Math.abs(best.layer - at.layer) ? other : best, null);
    let next = near(linked) ?? row[0];
    if (!next) continue;
    while (next.children && open.has(next)) {
      const rows = next.layers;
      next = rows[isDown ? 0 : rows.length - 1][0];
    }
    return next;
  }
  return item;
}
