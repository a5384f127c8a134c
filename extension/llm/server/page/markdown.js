// SPDX-License-Identifier: BSD-3-Clause
// Markdown as elements. marked reads it; elements are made one by one, never from text as markup, so that what a model writes
// as HTML is shown as it is written.
const { Lexer, getDefaults } = globalThis.marked;

// marked makes spaces of tabs that lines begin with; code keeps its own behind this sign of Unicode's private area.
const TAB = "\uE009";
const FENCE = /^([ \t>]*(?:(?:[-*+]|\d{1,9}[.)])[ \t]+)*)(`{3,}|~{3,})/;
const NAMED = {
  amp: "&", lt: "<", gt: ">", quot: '"', apos: "'", nbsp: "\u00a0", copy: "©", reg: "®", hellip: "…", ndash: "–", mdash: "—",
  times: "×", middot: "·", bull: "•", deg: "°", larr: "←", rarr: "→", le: "≤", ge: "≥", ne: "≠", euro: "€", pi: "π",
};
const PROTOCOLS = ["http:", "https:", "mailto:"];

function plain(text) {
  return text.replaceAll(TAB, "\t").replace(/&(?:#(\d{1,7})|#x([\da-f]{1,6})|([a-z]+));/gi, (all, decimal, hex, name) => {
    if (name) return Object.hasOwn(NAMED, name) ? NAMED[name] : all;
    const code = parseInt(decimal ?? hex, decimal ? 10 : 16);
    return code > 0 && code <= 0x10ffff ? String.fromCodePoint(code) : all;
  });
}

/** An element with attributes and children, which are nodes or texts. */
export function make(name, attributes = {}, ...children) {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) if (value !== undefined) element.setAttribute(key, value);
  element.append(...children);
  return element;
}

/** Addresses that may be opened; undefined for others, such as javascript: and those without a host. */
function safe(address) {
  try {
    const url = new URL(plain(address));
    return PROTOCOLS.includes(url.protocol) ? url.href : undefined;
  } catch { return undefined; }
}
function link(token, children) {
  const href = safe(token.href);
  if (href === undefined) return make("span", {}, ...children);
  return make("a", { href, title: token.title ? plain(token.title) : undefined, target: "_blank", rel: "noopener noreferrer" }, ...children);
}

const isBreak = (html) => /^<br\s*\/?>$/i.test(html.trim());
const INLINE = {
  text: (token) => (token.tokens ? inline(token.tokens) : [plain(token.raw)]),
  escape: (token) => [plain(token.text)],
  html: (token) => [isBreak(token.raw) ? make("br") : plain(token.raw)],
  strong: (token) => [make("strong", {}, ...inline(token.tokens))],
  em: (token) => [make("em", {}, ...inline(token.tokens))],
  del: (token) => [make("del", {}, ...inline(token.tokens))],
  codespan: (token) => [make("code", {}, plain(token.text))],
  br: () => [make("br")],
  link: (token) => [link(token, inline(token.tokens))],
  // Pictures of other hosts are not loaded: their addresses could carry away what was said.
  image: (token) => [link(token, [plain(token.text) || "picture"])],
};
const inline = (tokens) => tokens.flatMap((token) => INLINE[token.type](token));

export function codeBlock(text, language) {
  const name = /^[\w+#.-]{1,24}/.exec(language ?? "")?.[0] ?? "";
  return make("figure", { class: "code" },
    make("figcaption", {}, make("span", {}, name || "code"),
      make("button", { type: "button", class: "copy", "aria-label": `Copy the code${name && `, ${name}`}` }, "Copy")),
    make("pre", { tabindex: "0" }, make("code", {}, text)));
}
function item(token, isLoose) {
  const children = token.tokens.flatMap((each) => {
    if (each.type !== "text") return block(each);
    const parts = inline(each.tokens ?? [each]);
    return isLoose ? [make("p", {}, ...parts)] : parts;
  });
  if (token.task) children.unshift(make("input", { type: "checkbox", disabled: "", ...(token.checked && { checked: "" }), "aria-label": "task" }), " ");
  return make("li", token.task ? { class: "task" } : {}, ...children);
}
function table(token) {
  const row = (kind, cells) => make("tr", {}, ...cells.map((cell, i) =>
    make(kind, { class: token.align[i] ?? undefined, scope: kind === "th" ? "col" : undefined }, ...inline(cell.tokens))));
  return make("div", { class: "wide", tabindex: "0", role: "region", "aria-label": "Table" },
    make("table", {}, make("thead", {}, row("th", token.header)), make("tbody", {}, ...token.rows.map((cells) => row("td", cells)))));
}
const BLOCK = {
  space: () => [],
  def: () => [],
  hr: () => [make("hr")],
  html: (token) => [make("p", { class: "html" }, plain(token.raw.trim()))],
  code: (token) => [codeBlock(token.text.replaceAll(TAB, "\t"), token.lang)],
  // h1 is the page's, h2 the conversation's.
  heading: (token) => [make(`h${Math.min(token.depth + 2, 6)}`, {}, ...inline(token.tokens))],
  blockquote: (token) => [make("blockquote", {}, ...token.tokens.flatMap(block))],
  list: (token) => [make(token.ordered ? "ol" : "ul", token.ordered && token.start !== 1 ? { start: token.start } : {}, ...token.items.map((each) => item(each, token.loose)))],
  table: (token) => [table(token)],
  paragraph: (token) => [make("p", {}, ...inline(token.tokens))],
  text: (token) => [make("p", {}, ...inline(token.tokens ?? [token]))],
};
const block = (token) => BLOCK[token.type](token);

/** The text in which lines begin with spaces only: the ends of tokens add up to it. The same when it is done twice. */
function normal(text) {
  let fence = null;
  return text.split("\n").map((line) => {
    const found = FENCE.exec(line);
    if (fence) {
      if (found && found[2].startsWith(fence.marks) && line.slice(found[0].length).trim() === "") fence = null;
      else if (line.startsWith(fence.prefix)) line = fence.prefix + line.slice(fence.prefix.length).replaceAll("\t", TAB);
      else line = line.replaceAll("\t", TAB);
    } else if (found) {
      fence = { prefix: found[1], marks: found[2] };
    }
    return line.replace(/^( *)(\t+)/, (_, spaces, tabs) => spaces + "    ".repeat(tabs.length));
  }).join("\n");
}
const lex = (text) => new Lexer({ ...getDefaults(), breaks: true, mangle: false, tokenizer: null }).lex(text);

/** Changes as little as it takes: what is selected or scrolled stays so. */
function match(old, now) {
  const isSame = old.nodeName === now.nodeName && (old.nodeType !== Node.ELEMENT_NODE ||
    (old.attributes.length === now.attributes.length && [...now.attributes].every(({ name, value }) => old.getAttribute(name) === value)));
  if (!isSame) return old.replaceWith(now);
  if (old.nodeType === Node.ELEMENT_NODE) return matchChildren(old, now.childNodes, 0);
  if (old.data === now.data) return undefined;
  if (now.data.startsWith(old.data)) return old.appendData(now.data.slice(old.data.length));
  old.data = now.data;
  return undefined;
}
function matchChildren(box, nodes, first) {
  const now = [...nodes];
  now.forEach((node, i) => {
    const old = box.childNodes[first + i];
    if (old) match(old, node);
    else box.append(node);
  });
  while (box.childNodes.length > first + now.length) box.lastChild.remove();
}

/** Markdown that grows. All but its last two blocks are done once; the rest is done again, in a fifth of the time at most. */
export class Growing {
  static SHARE = 4; // times as long as the last drawing took is waited for the next
  static LONGEST = 2000; // ms: a text that takes longer to read is shown as it is written

  /** `around`: calls what changes the page, such as one that keeps the end in sight. */
  constructor(box, around = (change) => change()) {
    Object.assign(this, { box, around, parts: [], tail: "", done: 0, took: 0, timer: 0, isPlain: false });
  }

  add(text) {
    const clean = text.replaceAll("\r", "").replaceAll(TAB, "");
    this.parts.push(clean);
    this.tail += clean;
    this.timer ||= setTimeout(() => this.draw(), Math.min(Math.max(Growing.SHARE * this.took, 30), 1000));
  }

  draw() {
    clearTimeout(this.timer);
    this.timer = 0;
    const start = performance.now();
    this.around(() => this.safely(() => {
      this.tail = normal(this.tail);
      const tokens = lex(this.tail);
      const solid = tokens.map((token, i) => i).filter((i) => tokens[i].type !== "space");
      const end = solid.at(-2) ?? 0;
      const ready = tokens.slice(0, end).flatMap(block);
      matchChildren(this.box, [...ready, ...tokens.slice(end).flatMap(block)], this.done);
      if (tokens.reduce((sum, token) => sum + token.raw.length, 0) === this.tail.length) {
        this.done += ready.length;
        this.tail = this.tail.slice(tokens.slice(0, end).reduce((sum, token) => sum + token.raw.length, 0));
      }
    }));
    this.took = performance.now() - start;
    this.isPlain ||= this.took > Growing.LONGEST;
  }

  /** All of it at once: links may be explained behind where they stand. */
  finish() {
    clearTimeout(this.timer);
    this.timer = 0;
    this.around(() => this.safely(() => matchChildren(this.box, lex(normal(this.parts.join(""))).flatMap(block), 0)));
  }

  /** What is nested too deep for marked is shown as it is written. */
  safely(change) {
    if (!this.isPlain) {
      try { return change(); } catch (error) { if (!(error instanceof RangeError)) throw error; }
    }
    this.isPlain = true;
    return matchChildren(this.box, [make("p", { class: "html" }, this.parts.join(""))], 0);
  }
}

export function drawMarkdown(box, text) {
  const growing = new Growing(box);
  growing.add(text);
  growing.finish();
}
