// SPDX-License-Identifier: BSD-3-Clause
// How messages look: what was asked, answers with thoughts, calls and their results, errors, and where the context was cut.
import { shown } from "./attach.js";
import { Growing, codeBlock, make } from "./markdown.js";

const [BEGIN, END] = ["<think>", "</think>"];

/** Thoughts that an answer begins with go to `onThought`, the rest to `onText`. */
class Thoughts {
  constructor(onThought, onText) {
    Object.assign(this, { onThought, onText, held: "", place: "start" });
  }

  add(piece) {
    if (this.place === "text") return this.onText(piece);
    this.held += piece;
    if (this.place === "start") {
      const head = this.held.trimStart();
      if (BEGIN.startsWith(head)) return undefined;
      this.place = head.startsWith(BEGIN) ? "thought" : "text";
      if (this.place === "text") return this.flush(this.onText);
      this.held = head.slice(BEGIN.length);
    }
    const end = this.held.indexOf(END);
    if (end < 0) { // but what may be the beginning of the end
      this.onThought(this.held.slice(0, -END.length));
      this.held = this.held.slice(-END.length);
      return undefined;
    }
    this.onThought(this.held.slice(0, end));
    this.held = this.held.slice(end + END.length).trimStart();
    this.place = "text";
    return this.flush(this.onText);
  }

  flush(to) {
    const rest = this.held;
    this.held = "";
    if (rest) to(rest);
  }

  finish() {
    this.flush(this.place === "thought" ? this.onThought : this.onText);
  }
}

function pretty(json) {
  try { return JSON.stringify(JSON.parse(json), null, 2); } catch { return json; }
}
function callBox(call, result, onResult) {
  const { name, arguments: given } = call.function;
  const box = make("section", { class: "call", "aria-label": `Call of ${name}` },
    make("p", {}, "Calls ", make("code", {}, name)), codeBlock(pretty(given), "arguments"));
  if (result !== undefined) {
    box.append(codeBlock(pretty(result), "result"));
  } else if (onResult) {
    const field = make("textarea", { rows: "2", "aria-label": `Result of ${name}`, placeholder: "What the function returns" });
    field.oninput = () => onResult(call.id, field.value);
    box.append(field);
  }
  return box;
}

export const note = (text) => make("p", { class: "note" }, text);
export const trouble = (text) => make("p", { class: "error", role: "alert" }, text);
export const cut = () => make("p", { class: "cut" }, "The model no longer gets what stands above: the context is full.");

export function speedText({ tokens, speed }) {
  return `${tokens} ${tokens === 1 ? "token" : "tokens"}${speed ? `, ${speed.toFixed(1)} tokens/s` : ""}`;
}

const button = (name, label, text) => make("button", { type: "button", class: name, "aria-label": label }, text);

export function question(message) {
  const files = (message.files ?? []).map(shown);
  return make("article", { class: "user", "aria-label": "You" }, ...files, ...(message.content ? [make("div", { class: "said" }, message.content)] : []));
}

/** An answer as it comes. */
export class AnswerBox {
  constructor(around = (change) => change()) {
    this.text = make("div", { class: "text" });
    this.thought = make("div");
    this.thoughts = make("details", { class: "thoughts", hidden: "" }, make("summary", {}, "Thoughts"), this.thought);
    this.box = make("article", { class: "assistant", "aria-label": "Answer" }, this.thoughts, this.text);
    this.growing = new Growing(this.text, around);
    this.splitter = new Thoughts((piece) => around(() => {
      if (!piece) return;
      this.thoughts.hidden = false;
      this.thought.append(piece);
    }), (piece) => this.growing.add(piece));
  }

  add(piece) { this.splitter.add(piece); }

  /** With what belongs to the whole of it. `results`: of calls, by id; `onResult` where they are asked for. */
  finish(message, results, onResult) {
    this.splitter.finish();
    this.growing.finish();
    for (const call of message.calls ?? []) this.box.append(callBox(call, results.get(call.id), onResult));
    if (onResult) this.box.append(button("send-results", "Send the results", "Send the results"));
    const stats = message.stats ? [make("span", { class: "stats" }, speedText(message.stats))] : [];
    const copy = message.content ? [button("copy-answer", "Copy the answer", "Copy")] : [];
    if (stats.length + copy.length) this.box.append(make("footer", {}, ...stats, ...copy));
    return this.box;
  }
}

export function answerBox(message, results, onResult) {
  const made = new AnswerBox();
  if (message.content) made.add(message.content);
  return made.finish(message, results, onResult);
}
