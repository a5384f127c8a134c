// SPDX-License-Identifier: BSD-3-Clause
// The picture: what is in the window and large enough to be seen, on one canvas.
"use strict";
const HUES = [214, 150, 280, 338, 188, 60, 310, 110];  // of backends, in the order in which they come
const MIN_SCALE_OF_TEXT = 0.38;                                // below this scale letters are not read

function paletteOf(nodes) {
  const isDark = matchMedia("(prefers-color-scheme: dark)").matches;
  const css = getComputedStyle(document.documentElement);
  const colours = Object.fromEntries(["ink", "soft", "paper", "box", "line", "edge", "mark", "hot"]
    .map(name => [name, css.getPropertyValue(`--${name}`).trim()]));
  const fill = (hue, share = 55) => `hsl(${hue} ${share}% ${isDark ? 26 : 84}%)`;
  const strong = (hue, share = 60) => `hsl(${hue} ${share}% ${isDark ? 60 : 45}%)`;
  const backends = new Map();
  for (const node of nodes)
    if (node.backend && node.backend !== "kernels" && !backends.has(node.backend))
      backends.set(node.backend, HUES[backends.size % HUES.length]);
  const hueOf = backend => backend === "kernels" ? 32 : backends.get(backend);
  return { ...colours, isDark, fill, strong, hueOf, names: [...backends.keys(), ...(nodes.some(node => node.backend === "kernels") ? ["kernels"] : [])] };
}

/** Of a node or a closed group, by what is asked for. */
function fillOf(item, view) {
  const { palette, colour } = view;
  if (colour === "change") return item.sums.changed ? palette.fill(item.sums.changed === item.sums.count || item.node ? 350 : 32, 70) : palette.box;
  if (colour !== "backend") {
    const share = (item.sums[colour] ?? 0) / (view.largest[colour] || 1);
    return share > 0 ? heat(Math.min(1, share), palette.isDark) : palette.box;
  }
  if (!item.node || !item.sums.count) return palette.box;
  const hue = palette.hueOf(item.node.backend);
  return hue === undefined ? palette.box : palette.fill(hue);
}

function heat(share, isDark) {
  const part = Math.sqrt(share);
  return `hsl(${45 - 40 * part} ${50 + 40 * part}% ${isDark ? 22 + 16 * part : 92 - 27 * part}%)`;
}

function draw(view) {
  const { canvas, root, scale, x, y, palette } = view, ratio = devicePixelRatio || 1;
  const width = canvas.clientWidth, height = canvas.clientHeight;
  if (canvas.width !== Math.round(width * ratio) || canvas.height !== Math.round(height * ratio)) {
    canvas.width = Math.round(width * ratio);
    canvas.height = Math.round(height * ratio);
  }
  const pen = canvas.getContext("2d");
  pen.setTransform(ratio, 0, 0, ratio, 0, 0);
  pen.fillStyle = palette.paper;
  pen.fillRect(0, 0, width, height);
  pen.setTransform(ratio * scale, 0, 0, ratio * scale, ratio * x, ratio * y);
  const seen = { left: -x / scale, top: -y / scale, right: (width - x) / scale, bottom: (height - y) / scale };
  view.drawn = 0;
  drawInside(pen, view, root, 0, 0, seen);
}

function drawInside(pen, view, item, left, top, seen) {
  drawEdges(pen, view, item, left, top, seen);
  for (const child of item.children) {
    const x = left + child.x, y = top + child.y;
    if (x > seen.right || y > seen.bottom || x + child.w < seen.left || y + child.h < seen.top) continue;
    const isOpen = child.children && view.open.has(child);
    drawBox(pen, view, child, x, y, isOpen);
    view.drawn++;
    if (isOpen) drawInside(pen, view, child, x, y, seen);
  }
}

function drawBox(pen, view, item, x, y, isOpen) {
  const { palette, scale, selected } = view;
  pen.beginPath();
  pen.roundRect(x, y, item.w, item.h, item.node ? 6 : 9);
  pen.fillStyle = isOpen ? (item.depth % 2 ? palette.box : palette.paper) : fillOf(item, view);
  pen.globalAlpha = isOpen ? 0.6 : 1;
  pen.fill();
  pen.globalAlpha = 1;
  pen.strokeStyle = item === selected ? palette.mark : item.node?.why ? palette.strong(32) : palette.line;
  pen.lineWidth = item === selected ? 3 / Math.min(1, scale) : 1;
  pen.stroke();
  if (!item.node && !isOpen) drawShares(pen, view, item, x, y);
  if (scale < MIN_SCALE_OF_TEXT && item.w * scale < 60) return;
  pen.fillStyle = palette.ink;
  pen.font = item.node ? "13px system-ui, sans-serif" : "600 13px system-ui, sans-serif";
  pen.textBaseline = "middle";
  const sign = item.node ? "" : isOpen ? "▾ " : "▸ ";
  write(pen, sign + item.name, x + 10, y + 14, item.w - 20);
  if (isOpen) return;
  pen.font = "11px system-ui, sans-serif";
  write(pen, subtitle(item), x + 10, y + 29, item.w - 20);
}

/** A closed group's operators by backend, along its lower end. */
function drawShares(pen, view, item, x, y) {
  let at = x + 10;
  const whole = item.w - 20;
  for (const name of ["", ...view.palette.names].reverse()) {
    const share = (item.sums.backends.get(name) ?? 0) / (item.sums.count || 1) * whole, hue = view.palette.hueOf(name);
    pen.fillStyle = hue === undefined ? view.palette.line : view.palette.strong(hue);
    pen.fillRect(at, y + item.h - 4, share, 3);
    at += share;
  }
}

function write(pen, text, x, y, width) {
  if (pen.measureText(text).width > width) {
    let letters = text.length;
    while (letters > 1 && pen.measureText(text.slice(0, letters) + "…").width > width) letters -= Math.ceil(letters / 16);
    text = text.slice(0, letters) + "…";
  }
  pen.fillText(text, x, y);
}

function drawEdges(pen, view, item, left, top, seen) {
  const { palette, selected } = view, marked = [];
  pen.lineWidth = 1.2;
  pen.strokeStyle = palette.edge;
  pen.beginPath();
  for (const edge of item.edges) {
    const [a, b] = edge, high = top + Math.min(a.y, b.y), low = top + Math.max(a.y + a.h, b.y + b.h);
    if (high > seen.bottom || low < seen.top) continue;
    if (a === selected || b === selected) marked.push(edge); else trace(pen, edge, left, top);
  }
  pen.stroke();
  if (!marked.length) return;
  pen.strokeStyle = palette.mark;
  pen.lineWidth = 2;
  pen.beginPath();
  for (const edge of marked) trace(pen, edge, left, top);
  pen.stroke();
}

/** Down to the next layer; around the boxes of others to a later one. */
function trace(pen, edge, left, top) {
  const [a, b] = edge, x1 = left + a.x + a.w / 2, x2 = left + b.x + b.w / 2;
  if (b.layer === a.layer + 1 || (b.layer > a.layer && Math.abs(x1 - x2) > (a.w + b.w) / 2)) {
    const y1 = top + a.y + a.h, y2 = top + b.y, half = Math.min(28, (y2 - y1) / 2);
    pen.moveTo(x1, y1);
    pen.bezierCurveTo(x1, y1 + half, x2, y2 - half, x2, y2);
    pen.moveTo(x2 - 3.5, y2 - 6);
    pen.lineTo(x2, y2);
    pen.lineTo(x2 + 3.5, y2 - 6);
    return;
  }
  const right1 = left + a.x + a.w, right2 = left + b.x + b.w, y1 = top + a.y + a.h / 2, y2 = top + b.y + b.h / 2;
  const outer = left + edge.right + ASIDE / 2 + Math.min(10, Math.abs(b.layer - a.layer));
  pen.moveTo(right1, y1);
  pen.bezierCurveTo(outer, y1, outer, y1, outer, y1 + Math.sign(y2 - y1) * 14);
  pen.lineTo(outer, y2 - Math.sign(y2 - y1) * 14);
  pen.bezierCurveTo(outer, y2, outer, y2, right2, y2);
  pen.moveTo(right2 + 6, y2 - 3.5);
  pen.lineTo(right2, y2);
  pen.lineTo(right2 + 6, y2 + 3.5);
}

/** Planned bytes over the calls of a method, with the call that is selected. */
function drawMemory(canvas, memory, call, palette) {
  const ratio = devicePixelRatio || 1, width = canvas.clientWidth, height = canvas.clientHeight;
  canvas.width = Math.round(width * ratio);
  canvas.height = Math.round(height * ratio);
  const pen = canvas.getContext("2d"), most = Math.max(...memory), step = width / memory.length;
  pen.setTransform(ratio, 0, 0, ratio, 0, 0);
  pen.fillStyle = palette.fill(214);
  memory.forEach((bytes, i) => {
    const high = bytes / most * (height - 14);
    pen.fillRect(i * step, height - high, Math.max(step + 0.5, 1), high);
  });
  if (call === null || call === undefined) return;
  pen.fillStyle = palette.mark;
  pen.fillRect((call + 0.5) * step - 1, 0, 2, height);
}
