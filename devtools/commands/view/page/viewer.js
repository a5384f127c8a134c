// SPDX-License-Identifier: BSD-3-Clause
// The page: its state, the mouse, fingers, keys and the search.
"use strict";
const SCALES = { least: 0.02, most: 3 }, MAX_FOUND = 50;
const get = id => document.getElementById(id);

function start(text) {
  const packed = JSON.parse(text), nodes = unpack(packed);
  const view = {
    packed, nodes, canvas: get("graph"), colour: "backend", scale: 1, x: 0, y: 0, selected: null,
    palette: paletteOf(nodes), goTo: index => goTo(view, index), toggle: item => toggle(view, item),
  };
  for (const [key, has] of [["ms", nodes.some(node => node.ms !== null)], ["num_bytes", nodes.some(node => node.num_bytes)],
    ["change", nodes.some(node => node.change)]])
    get("colour").querySelector(`[value=${key}]`).disabled = !has;
  regroup(view, "module");
  listen(view);
  select(view, null);
  view.canvas.focus();
  globalThis.view = view;
}

function regroup(view, by) {
  const chosen = view.selected?.node;
  Object.assign(view, buildTree(view.nodes, by));
  view.open = firstOpen(view.root);
  view.selected = null;
  arrange(view);
  fit(view, MIN_SCALE_OF_TEXT);
  if (chosen) goTo(view, chosen.index);
}

function arrange(view) {
  layout(view.root, view.open);
  const seen = shown(view.root, view.open).filter(item => item.parent);
  view.largest = {};
  for (const key of ["ms", "num_bytes"]) view.largest[key] = seen.reduce((most, item) => Math.max(most, item.sums[key] ?? 0), 0);
}

/** Nodes and closed groups that are to be seen. */
function shown(item, open) {
  return item.children && open.has(item) ? item.children.flatMap(child => shown(child, open)) : [item];
}

/** The whole width, from the top on where it is high; at first no smaller than letters are read, around where it begins. */
function fit(view, least = 0) {
  const { canvas, root } = view, width = canvas.clientWidth, height = canvas.clientHeight;
  const whole = Math.min(width / root.w, (height - 30) / root.h), first = root.layers?.[0]?.[0];
  view.scale = Math.min(1.25, Math.max(whole, Math.min(0.6, width / root.w), least));
  const isWide = first && root.w * view.scale > width + 1, middle = isWide ? first.x + Math.min(first.w, width / view.scale) / 2 : root.w / 2;
  view.x = width / 2 - middle * view.scale;
  view.y = Math.max(26, (height - root.h * view.scale) / 2);
  refresh(view);
}

function refresh(view) {
  if (view.isWaiting) return;
  view.isWaiting = true;
  requestAnimationFrame(() => {
    view.isWaiting = false;
    draw(view);
    if (!view.firstPicture) view.firstPicture = performance.now();
  });
}

function select(view, item) {
  view.selected = item;
  get("details").replaceChildren(...detailsOf(item, view));
  showMemory(view);
  showLegend(view);
  refresh(view);
}

/** The group stays where it is in the window. */
function toggle(view, item) {
  if (!item?.children) return;
  const before = cornerOf(item);
  if (view.open.has(item)) view.open.delete(item); else view.open.add(item);
  arrange(view);
  const after = cornerOf(item);
  view.x += (before.x - after.x) * view.scale;
  view.y += (before.y - after.y) * view.scale;
  select(view, item);
}

function goTo(view, index) {
  const item = view.leaves[index];
  for (let at = item.parent; at; at = at.parent) view.open.add(at);
  arrange(view);
  view.scale = Math.max(view.scale, 0.7);
  centre(view, item);
  select(view, item);
}

function centre(view, item) {
  const { x, y } = cornerOf(item);
  view.x = view.canvas.clientWidth / 2 - (x + item.w / 2) * view.scale;
  view.y = view.canvas.clientHeight / 2 - (y + Math.min(item.h, 200) / 2) * view.scale;
}

function reveal(view, item) {
  const { x, y } = cornerOf(item), left = x * view.scale + view.x, top = y * view.scale + view.y;
  const isSeen = left > 0 && top > 30 && left + Math.min(item.w * view.scale, 80) < view.canvas.clientWidth
    && top + BOX.height * view.scale < view.canvas.clientHeight;
  if (!isSeen) centre(view, item);
}

function zoom(view, by, x = view.canvas.clientWidth / 2, y = view.canvas.clientHeight / 2) {
  const scale = Math.min(SCALES.most, Math.max(SCALES.least, view.scale * by)), change = scale / view.scale;
  view.x = x - (x - view.x) * change;
  view.y = y - (y - view.y) * change;
  view.scale = scale;
  refresh(view);
}

function showLegend(view) {
  const { palette } = view, entry = (colour, name) => {
    const dot = element("i");
    dot.style.background = colour;
    return element("span", {}, dot, name);
  };
  const byBackend = palette.names.map(name => entry(palette.strong(palette.hueOf(name)), name));
  const known = { backend: byBackend, change: [entry(palette.fill(350, 70), "changed"), entry(palette.fill(32, 70), "partly")] };
  get("legend").replaceChildren(...(known[view.colour] ?? [entry(heat(0.05, palette.isDark), "little"), entry(heat(1, palette.isDark), "most")]));
}

function graphOf(view) {
  let at = view.selected;
  while (at && !at.node) at = at.children[0];
  return at?.node.graph ?? view.packed.graphs[0];
}

function showMemory(view) {
  const graph = graphOf(view), memory = graph?.memory ?? [], call = view.selected?.node?.call;
  const isNew = get("memory").hidden !== !memory.length;
  get("memory").hidden = !memory.length;
  if (!memory.length) return;
  drawMemory(get("steps"), memory, call, view.palette);
  const most = Math.max(...memory), at = call ?? memory.indexOf(most);
  get("bytes").textContent = `${sized(memory[at])} of ${graph.method}'s planned memory alive at call ${at} of ${memory.length}`
    + (memory[at] === most ? ", the most" : "; at most " + sized(most));
  if (isNew) refresh(view);
}

function listen(view) {
  const { canvas } = view;
  get("group").onchange = event => { regroup(view, event.target.value); select(view, view.selected); };
  get("colour").onchange = event => { view.colour = event.target.value; showLegend(view); refresh(view); };
  get("in").onclick = () => zoom(view, 1.3);
  get("out").onclick = () => zoom(view, 1 / 1.3);
  get("fit").onclick = () => fit(view);
  get("fold").onclick = () => { view.open = firstOpen(view.root); arrange(view); fit(view); select(view, null); };
  for (const name of ["details", "report"]) get(`show-${name}`).onclick = () => {
    for (const other of ["details", "report"]) {
      get(other).hidden = other !== name;
      get(`show-${other}`).setAttribute("aria-pressed", String(other === name));
    }
  };
  get("steps").onclick = event => {
    const graph = graphOf(view), call = Math.floor(event.offsetX / event.target.clientWidth * graph.memory.length);
    const found = view.nodes.find(node => node.graph === graph && node.call === call);
    if (found) goTo(view, found.index);
  };
  addEventListener("resize", () => { showMemory(view); refresh(view); });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => {
    view.palette = paletteOf(view.nodes);
    select(view, view.selected);
  });
  canvas.addEventListener("wheel", event => {
    event.preventDefault();
    if (event.ctrlKey || !event.shiftKey) zoom(view, Math.exp(-event.deltaY / 500), event.offsetX, event.offsetY);
    else { view.x -= event.deltaY; refresh(view); }
  }, { passive: false });
  listenToPointers(view);
  canvas.addEventListener("keydown", event => onKey(view, event));
  addEventListener("keydown", event => {
    if (event.key !== "/" || event.target.matches("input, select")) return;
    event.preventDefault();
    get("search").focus();
  });
  listenToSearch(view);
}

/** One pointer moves the picture or selects; two zoom. */
function listenToPointers(view) {
  const { canvas } = view, held = new Map();
  let moved = 0;
  const placeOf = event => ({ x: event.offsetX, y: event.offsetY });
  canvas.addEventListener("pointerdown", event => {
    canvas.setPointerCapture(event.pointerId);
    held.set(event.pointerId, placeOf(event));
    moved = held.size > 1 ? Infinity : 0;
  });
  canvas.addEventListener("pointermove", event => {
    const before = held.get(event.pointerId), now = placeOf(event);
    if (!before) return;
    const other = [...held].find(([id]) => id !== event.pointerId)?.[1];
    if (other) {
      const distance = place => Math.hypot(place.x - other.x, place.y - other.y) || 1;
      zoom(view, distance(now) / distance(before), other.x, other.y);
    } else {
      view.x += now.x - before.x;
      view.y += now.y - before.y;
      moved += Math.abs(now.x - before.x) + Math.abs(now.y - before.y);
      refresh(view);
    }
    held.set(event.pointerId, now);
  });
  const end = event => {
    held.delete(event.pointerId);
    if (event.type === "pointerup" && moved < 5) click(view, event);
  };
  canvas.addEventListener("pointerup", end);
  canvas.addEventListener("pointercancel", end);
}

/** A click selects; on a group that is selected it opens or folds. */
function click(view, event) {
  const found = itemAt(view.root, view.open, (event.offsetX - view.x) / view.scale, (event.offsetY - view.y) / view.scale);
  if (found?.children && (found === view.selected || !view.open.has(found))) toggle(view, found);
  else select(view, found);
}

function onKey(view, event) {
  const { selected } = view;
  const actions = {
    Enter: () => toggle(view, selected), Escape: () => select(view, null), "+": () => zoom(view, 1.3), "=": () => zoom(view, 1.3),
    "-": () => zoom(view, 1 / 1.3), 0: () => fit(view),
    Backspace: () => { if (selected?.parent?.parent) { select(view, selected.parent); reveal(view, selected.parent); } },
  };
  const isArrow = event.key.startsWith("Arrow");
  if (!isArrow && !actions[event.key]) return;
  event.preventDefault();
  if (!isArrow) return actions[event.key]();
  const next = selected ? neighbour(selected, view.open, event.key) : view.root.layers?.[0]?.[0];
  if (!next) return;
  select(view, next);
  reveal(view, next);
}

function listenToSearch(view) {
  const box = get("search"), list = get("found");
  let found = [], at = 0;
  const show = () => {
    list.replaceChildren(...found.map((node, i) => element("li", { id: `found-${i}`, role: "option", ariaSelected: String(i === at), onmousedown: event => {
      event.preventDefault();
      choose(i);
    } }, node.name, " ", element("small", {}, [node.module, node.outputs[0], node.backend].filter(Boolean).join(" · ")))));
    if (!found.length) list.replaceChildren(element("li", { role: "option", ariaSelected: "false" }, element("small", {}, "nothing has these words")));
    setOpen(!!box.value.trim());
    if (found.length) box.setAttribute("aria-activedescendant", `found-${at}`);
    list.children[at]?.scrollIntoView({ block: "nearest" });
  };
  const setOpen = isOpen => {
    list.hidden = !isOpen;
    box.ariaExpanded = String(isOpen);
    box.removeAttribute("aria-activedescendant");
  };
  const choose = i => {
    setOpen(false);
    if (!found[i]) return;
    goTo(view, found[i].index);
    view.canvas.focus();
  };
  box.oninput = () => { found = searched(view.nodes, box.value, MAX_FOUND); at = 0; show(); };
  box.onfocus = () => { if (box.value) show(); };
  box.onblur = () => setOpen(false);
  box.onkeydown = event => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step) { at = Math.max(0, Math.min(found.length - 1, at + step)); show(); }
    else if (event.key === "Enter") choose(at);
    else if (event.key === "Escape") { setOpen(false); view.canvas.focus(); }
    else return;
    event.preventDefault();
  };
}
