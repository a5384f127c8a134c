// SPDX-License-Identifier: BSD-3-Clause
// What is known of a node or a group, beside the picture.
"use strict";

function element(name, attributes = {}, ...children) {
  const made = Object.assign(document.createElement(name), attributes);
  made.append(...children.filter(child => child !== null && child !== undefined));
  return made;
}

function sized(bytes) {
  const units = ["bytes", "kB", "MB", "GB"];
  let at = 0, value = bytes;
  while (value >= 999.5 && at < 3) { value /= 1000; at++; }
  return at ? `${value.toPrecision(3)} ${units[at]}` : numberOf(bytes, "byte");
}

const numberOf = (count, noun) => `${count.toLocaleString("en")} ${noun}${count === 1 ? "" : "s"}`;
const timed = ms => `${ms < 0.01 ? ms.toPrecision(2) : ms.toFixed(ms < 10 ? 3 : 1)} ms`;
const plain = number => Number(number.toPrecision(4)).toString();

function listed(rows) {
  const list = element("dl");
  for (const [name, value] of rows)
    if (value !== null && value !== "" && value !== undefined)
      list.append(element("dt", {}, name), element("dd", {}, value));
  return list;
}

function histogram([name, kind, low, high, bins]) {
  const bars = element("div", { className: "bars" });
  for (const bin of bins) {
    const bar = element("i");
    bar.style.height = `${bin}%`;
    bars.append(bar);
  }
  const ends = element("div", { className: "ends" }, element("span", {}, plain(low)), element("span", {}, plain(high)));
  const isOne = bins.length && low === high, caption = [name, kind, ...(isOne ? [`all ${plain(low)}`] : [])].join(" · ");
  return element("figure", {}, element("figcaption", {}, caption), ...(bins.length && !isOne ? [bars, ends] : []));
}

function links(indexes, view) {
  const box = element("div", { className: "links" });
  for (const index of indexes.slice(0, 40))
    box.append(element("button", { type: "button", onclick: () => view.goTo(index) }, view.nodes[index].name));
  if (indexes.length > 40) box.append(`and ${indexes.length - 40} more`);
  return indexes.length ? box : null;
}

function detailsOf(item, view) {
  if (!item) return [...ofGroup(view.root, view), element("h2", {}, "Keys"), helpOf()];
  return item.node ? ofNode(item.node, view) : ofGroup(item, view);
}

function ofNode(node, view) {
  const parts = [element("h2", {}, node.name)];
  if (node.why) parts.push(element("p", { className: "why" }, `Not delegated: ${node.why}`));
  if (node.change) parts.push(element("p", { className: "change" }, node.change));
  const place = node.line ? element("code", {}, `${node.line}`, element("br"), node.source) : null;
  parts.push(listed([
    ["operator", node.operator], ["runs on", node.backend], ["module", node.module], ["line", place],
    ["gives", node.outputs.join(", ")], ["range", node.limits ? `${plain(node.limits[0])} … ${plain(node.limits[1])}` : null],
    ["bytes", node.num_bytes ? sized(node.num_bytes) : null], ["time", node.ms === null ? null : timed(node.ms)],
    ["call", node.call === null ? null : memoryAt(node)],
    ["reads", links(node.inputs, view)], ["read by", links(node.users, view)],
  ]));
  for (const weight of node.weights) parts.push(histogram(weight));
  return parts;
}

function memoryAt(node) {
  const alive = node.graph.memory[node.call];
  return alive === undefined ? `${node.call}` : `${node.call}, while ${sized(alive)} are alive`;
}

function ofGroup(item, view) {
  const { sums } = item, parts = [element("h2", {}, item.name || document.title)];
  const shares = [...sums.backends].map(([name, count]) => `${count.toLocaleString("en")} ${name || "without a call of their own"}`);
  parts.push(listed([
    ["operators", sums.count.toLocaleString("en")], ["run on", shares.join(", ")],
    ["bytes", sums.num_bytes ? sized(sums.num_bytes) : null], ["time", sums.ms === null ? null : timed(sums.ms)],
    ["changed", sums.changed ? numberOf(sums.changed, "node") : null],
  ]));
  const whys = [...sums.whys].sort((a, b) => b[1] - a[1]).slice(0, 20);
  if (whys.length) parts.push(element("h2", {}, "Not delegated"));
  for (const [why, count] of whys) parts.push(element("p", { className: "why" }, `${count} × ${why}`));
  if (item.parent) parts.push(element("p", {}, element("button", { type: "button", onclick: () => view.toggle(item) },
    view.open.has(item) ? "Fold" : "Open"), " ", element("kbd", {}, "Enter")));
  return parts;
}

function helpOf() {
  const keys = [["arrows", "move along edges and layers"], ["Enter", "open or fold a group"], ["Backspace", "the group around it"],
    ["/", "search"], ["+ −", "zoom; 0 fits the window"], ["Esc", "nothing selected"]];
  const list = element("dl");
  for (const [key, what] of keys) list.append(element("dt", {}, element("kbd", {}, key)), element("dd", {}, what));
  return list;
}
