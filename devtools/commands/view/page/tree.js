// SPDX-License-Identifier: BSD-3-Clause
// Nodes in groups: by module, by line of Python or by backend. No browser is needed here.
"use strict";
const MAX_CHILDREN = 200, PART = 50;  // a group with more is cut into parts of consecutive nodes
const MAX_ITEMS = 60, MIN_ITEMS = 8;      // as many stand in the first picture at most, unless there would be fewer than these

/** What page/__init__.py packed, as objects; `inputs` and `users` are places among all nodes. */
function unpack(packed) {
  const nodes = [], text = index => packed.texts[index];
  const several = { file: new Set(packed.graphs.map(graph => graph.file)).size > 1 };
  for (const graph of packed.graphs) {
    const start = nodes.length;
    const siblings = packed.graphs.filter(other => other.file === graph.file);
    const prefix = [...(several.file ? [graph.file] : []), ...(siblings.length > 1 ? [graph.method] : [])];
    for (let i = 0; i < graph.name.length; i++) {
      nodes.push({
        index: start + i, graph, prefix, name: text(graph.name[i]), operator: text(graph.operator[i]),
        module: text(graph.module[i]), line: text(graph.line[i]), source: text(graph.source[i]),
        backend: text(graph.backend[i]), why: text(graph.why[i]), change: text(graph.change[i]),
        inputs: graph.inputs[i].map(place => start + place), users: [], limits: graph.limits[i],
        num_bytes: graph.num_bytes[i], ms: graph.ms[i], call: graph.call[i],
        outputs: graph.outputs[i].map(text), weights: graph.weights[i],
      });
    }
  }
  for (const node of nodes) for (const input of node.inputs) nodes[input].users.push(node.index);
  for (const node of [...nodes].reverse()) {  // what reads nothing, such as a dequantized weight, comes before its reader
    const early = !node.inputs.length && node.operator !== "input" && node.users.length;
    node.order = early ? Math.min(...node.users.map(user => nodes[user].order)) - 0.5 : node.index;
  }
  return nodes;
}

const PATHS = {
  module: node => node.module ? node.module.split(".") : [],
  line: node => node.line ? [node.line.slice(node.line.lastIndexOf("/") + 1).replace(/:\d+$/, ""),
    `${node.line.slice(node.line.lastIndexOf(":") + 1)}: ${node.source}`] : [],
  backend: node => node.backend === "" ? [] : node.backend === "kernels" || node.call === null
    ? [node.backend] : [node.backend, `call ${node.call}`],
};

function group(name, parent) {
  return { name, parent, node: null, children: [], named: new Map(), edges: [], first: Infinity };
}

/** The root of all groups. Items are groups and nodes; `edges` of a group are pairs of its children. */
function buildTree(nodes, by) {
  const root = group("", null), leaves = [];
  for (const node of nodes) {
    let at = root;
    for (const name of [...node.prefix, ...PATHS[by](node)]) {
      if (!at.named.has(name)) {
        const made = group(name, at);
        at.named.set(name, made);
        at.children.push(made);
      }
      at = at.named.get(name);
    }
    const leaf = { name: shortName(node), parent: at, node, children: null, edges: [], first: node.order };
    leaves.push(leaf);
    at.children.push(leaf);
  }
  finish(root, 0);
  for (const node of nodes) for (const input of node.inputs) addEdge(leaves[input], leaves[node.index]);
  return { root, leaves };
}

/** Groups with one group in them are one; large ones are cut; sums of what is inside. */
function finish(item, depth) {
  while (item.children?.length === 1 && item.children[0].children && item.parent) {
    const only = item.children[0];
    item.name += `.${only.name}`;
    item.children = only.children;
    for (const child of item.children) child.parent = item;
  }
  if (item.children && item.children.length > MAX_CHILDREN) cut(item);
  item.depth = depth;
  const sums = item.sums = { count: 0, num_bytes: 0, ms: null, changed: 0, backends: new Map(), whys: new Map() };
  if (item.node) {
    const node = item.node, isCall = !["input", "output", "delegate"].includes(node.operator);
    sums.count = isCall ? 1 : 0;
    sums.num_bytes = node.num_bytes;
    sums.ms = node.ms;
    sums.changed = node.change ? 1 : 0;
    if (isCall) sums.backends.set(node.backend, 1);
    if (node.why) sums.whys.set(`${node.operator}: ${node.why}`, 1);
    return;
  }
  for (const child of item.children) {
    finish(child, depth + 1);
    item.first = Math.min(item.first, child.first);
    for (const key of ["count", "num_bytes", "changed"]) sums[key] += child.sums[key];
    if (child.sums.ms !== null) sums.ms = (sums.ms ?? 0) + child.sums.ms;
    for (const key of ["backends", "whys"])
      for (const [name, count] of child.sums[key]) sums[key].set(name, (sums[key].get(name) ?? 0) + count);
  }
}

function cut(item) {
  const all = item.children;
  item.children = [];
  for (let start = 0; start < all.length; start += PART) {
    const end = Math.min(all.length, start + PART), part = group(`${start + 1} – ${end}`, item);
    part.children = all.slice(start, end);
    for (const child of part.children) child.parent = part;
    item.children.push(part);
  }
  if (item.children.length > MAX_CHILDREN) cut(item);
}

/** Where the ways of both from the root part. */
function addEdge(from, to) {
  let a = from, b = to;
  while (a.parent !== b.parent) {
    if (a.depth >= b.depth) a = a.parent; else b = b.parent;
  }
  if (a === b) return;
  const edges = a.parent.edges, seen = a.parent.seen ??= new Map();
  if (!seen.has(a)) seen.set(a, new Set());
  if (seen.get(a).has(b)) return;
  seen.get(a).add(b);
  edges.push([a, b]);
}

function shortName(node) {
  return node.operator === "input" ? node.name
    : node.operator.replace(/^.*::/, "").replace(/\.(default|out)$/, "");
}

/** The groups that are open at first: level by level from the outside in, while few items are seen. */
function firstOpen(root) {
  const open = new Set();
  for (let level = [root], seen = 1; level.length;) {
    const next = level.reduce((sum, item) => sum + item.children.length - 1, seen);
    if (next > MAX_ITEMS && seen >= MIN_ITEMS) break;
    seen = next;
    for (const item of level) open.add(item);
    level = level.flatMap(item => item.children.filter(child => child.children));
  }
  return open;
}

/** Those whose name, operator, module, line, backend or reason has each of the words. */
function searched(nodes, words, most) {
  const wanted = words.toLowerCase().split(/\s+/).filter(Boolean), found = [];
  if (!wanted.length) return found;
  for (const node of nodes) {
    const text = `${node.name} ${node.operator} ${node.module} ${node.line} ${node.source} ${node.backend} ${node.why} ${node.outputs.join(" ")}`.toLowerCase();
    if (wanted.every(word => text.includes(word))) found.push(node);
    if (found.length === most) break;
  }
  return found;
}
