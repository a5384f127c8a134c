// SPDX-License-Identifier: BSD-3-Clause
// The page: what is typed goes to the server, what it answers is shown and kept.
import { Attachments } from "./attach.js";
import { charactersOf, fromFile, leaveOut, makeRoom, newTalk, sent, titleOf, toFile } from "./conversation.js";
import { drawList } from "./list.js";
import { make } from "./markdown.js";
import { answer, describe } from "./server.js";
import { Store } from "./store.js";
import { AnswerBox, answerBox, cut, note, question, trouble } from "./talk.js";

const get = (id) => document.getElementById(id);
const NUMBERS = ["temperature", "top_p", "max_tokens", "seed"];
const SETTINGS = [...NUMBERS, "system", "tools"];
const EXAMPLES = [
  "Explain how a rainbow forms, in three sentences.",
  "Write a Python function that tells whether a word is a palindrome.",
  "Plan a day in Lisbon as a table: time, place, why.",
];
const KEEP_EVERY = 3000; // ms, of an answer that comes

const store = new Store((text) => say("kept", text));
const attachments = new Attachments({ tray: get("tray"), chooser: get("files"), button: get("attach"), target: document.body }, (text) => say("notice", text));
let talk = newTalk(), running = null, server = { context: 0 };
let given = new Map(); // results of calls, as they are typed

function say(id, text, action) {
  get(id).replaceChildren(...(text ? [text] : []), ...(text && action ? [" ", action] : []));
}
function follow(change) {  // stays at the end unless the reader has gone up
  const page = get("scroll"), atEnd = page.scrollHeight - page.scrollTop - page.clientHeight < 40;
  change();
  if (atEnd) page.scrollTop = page.scrollHeight;
}
const toEnd = () => { get("scroll").scrollTop = get("scroll").scrollHeight; };

// ---- settings ----
function settings() {
  return Object.fromEntries(SETTINGS.map((name) => [name, get(name).value]));
}
function apply(values) {
  for (const name of SETTINGS) get(name).value = values[name] ?? get(name).defaultValue;
}
/** Fields of a request; an empty one is left to the server. An error with a sentence for tools that are no JSON. */
function wanted() {
  const body = {};
  for (const name of NUMBERS) if (get(name).value !== "" && get(name).checkValidity()) body[name] = Number(get(name).value);
  const tools = get("tools").value.trim();
  if (tools) {
    try { body.tools = JSON.parse(tools); } catch (error) { throw new Error(`Tools: expected a list of functions in JSON. ${error.message}`); }
  }
  return body;
}

// ---- drawing ----
function resultsOf(messages) {
  return new Map(messages.filter(({ role }) => role === "tool").map((message) => [message.tool_call_id, message.content]));
}
const drawn = new WeakMap(); // what a message looks like, and for what it does
const line = cut(), again = make("button", { type: "button", class: "again" }, "Try again");
function nodesOf(message, results, isAsking, box) {
  const state = JSON.stringify([isAsking, (message.calls ?? []).map(({ id }) => results.get(id)), message.note, message.error]);
  const old = drawn.get(message);
  if (old?.state === state) return old.nodes;
  const onResult = isAsking ? (id, text) => given.set(id, text) : undefined;
  const nodes = [];
  if (message.role === "user") nodes.push(question(message));
  if (message.role === "assistant") nodes.push(box ? box.finish(message, results, onResult) : answerBox(message, results, onResult));
  if (message.note) nodes.push(note(message.note));
  if (message.error) nodes.push(trouble(message.error));
  drawn.set(message, { state, nodes });
  return nodes;
}
/** `box`: the last message's, in which it came. */
function draw(box) {
  const messages = talk.messages, results = resultsOf(messages), last = messages.length - 1;
  const asks = running ? -1 : messages.findLastIndex(({ role }) => role !== "tool");
  const nodes = messages.flatMap((message, i) => [
    ...(i === talk.from && i > 0 ? [line] : []),
    ...nodesOf(message, results, i === asks && !!message.calls?.some(({ id }) => !results.has(id)), i === last ? box : undefined),
  ]);
  if (last >= 0 && !running && !messages[last].calls) nodes.push(again);
  const list = get("talk");
  nodes.forEach((node, i) => { if (list.childNodes[i] !== node) list.insertBefore(node, list.childNodes[i] ?? null); });
  while (list.childNodes.length > nodes.length) list.lastChild.remove();
  get("empty").hidden = messages.length > 0;
  get("send").disabled = get("send").hidden = running !== null;
  get("stop").hidden = running === null;
  list.setAttribute("aria-busy", String(running !== null));
  if (document.activeElement === document.body) get("text").focus();
  tell();
}
function tell() {
  const stats = talk.messages.findLast((message) => message.stats)?.stats;
  get("status").textContent = stats?.used
    ? `${stats.used.toLocaleString("en")} of ${(server.context || "?").toLocaleString("en")} tokens of the context are used` : "";
}
async function list() {
  drawList(get("list"), await store.list(), talk.id, {
    rename: async (id, title) => { if (talk.id === id) talk.title = title; await keep(talk); list(); },
    save: () => download(`${talk.title.replace(/[^\p{L}\p{N}]+/gu, "-").slice(0, 40)}.json`, toFile(talk)),
    remove,
  });
}
function download(name, text) {
  const url = URL.createObjectURL(new Blob([text], { type: "application/json" }));
  make("a", { href: url, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(url), 1000);
}

// ---- conversations ----
const opened = new Map(); // what was here is as it was, also if an answer to it was stopped and is not kept yet
const removed = new WeakSet(); // an answer that is stopped by it is not kept
async function keep(which) {
  if (!removed.has(which)) await store.put(which);
}
async function remove(id) {
  const old = talk;
  removed.add(old);
  opened.delete(id);
  open(newTalk(settings()));
  await store.remove(id);
  await list();
  const undo = make("button", { type: "button" }, "Undo");
  undo.onclick = async () => {
    removed.delete(old);
    await keep(old);
    location.hash = old.id;
  };
  say("notice", `Deleted: ${old.title}.`, undo);
}
/** Shows a conversation; a new one has no address until something is said. */
function open(next) {
  running?.abort();
  running = null;
  talk = next;
  opened.set(talk.id, talk);
  given = new Map();
  apply(talk.settings);
  if (location.hash.slice(1) !== (talk.messages.length ? talk.id : "")) history.pushState(null, "", talk.messages.length ? `#${talk.id}` : location.pathname);
  say("notice", "");
  draw();
  toEnd();
  close();
}
async function openByAddress() {
  const id = location.hash.slice(1);
  if (id === talk.id) return;
  const kept = id ? await store.get(id) : undefined, here = opened.get(id);
  const found = here && !(kept?.changed > here.changed) ? here : kept; // another window may have gone on with it
  open(found ?? newTalk(settings()));
  if (id && !found) say("notice", "This browser has no such conversation.");
  await list();
}

// ---- asking ----
/** What comes of one request goes into the message and its box; the reason why it ended. */
async function ask(mine, message, box, body, signal) {
  const asked = sent(mine), system = mine.settings.system.trim();
  if (system) asked.unshift({ role: "system", content: system });
  const characters = charactersOf(asked);
  let reason = null, kept = Date.now();
  for await (const part of answer({ ...body, messages: asked }, signal)) {
    if (part.text) { message.content += part.text; box.add(part.text); }
    if (part.calls) message.calls = part.calls.map(({ id, type, function: called }) => ({ id, type, function: called }));
    if (part.usage) message.stats = statsOf(part, characters + message.content.length);
    reason = part.reason ?? reason;
    if (Date.now() - kept > KEEP_EVERY) {
      kept = Date.now();
      store.put({ ...mine, messages: [...mine.messages, { ...message, note: "Cut off: the page was closed." }] });
    }
  }
  return reason;
}
async function respond() {
  const now = running = new AbortController(), mine = talk;
  given = new Map();
  let body;
  try { body = wanted(); } catch (error) {
    running = null;
    return failed(error.message);
  }
  mine.settings = settings();
  makeRoom(mine, server.context);
  draw();
  const box = new AnswerBox(follow), message = { role: "assistant", content: "" };
  get("talk").append(box.box);
  toEnd();
  let problem = null, reason = null;
  do {
    problem = null;
    try { reason = await ask(mine, message, box, body, now.signal); } catch (error) { problem = error; }
  } while (problem?.code === "context_length_exceeded" && leaveOut(mine));
  const hasAnswer = message.content || message.calls;
  if (hasAnswer) mine.messages.push(message);
  const last = mine.messages.at(-1);
  if (last.role === "user") last.unanswered = true;
  if (now.signal.aborted) last.note = "Stopped.";
  else if (problem) last.error = problem.message;
  else if (!hasAnswer) last.note = "The model said nothing.";
  else if (reason === "length") last.note = cutShort(message.stats, body.max_tokens);
  mine.changed = Date.now();
  await keep(mine);
  if (running === now) running = null;
  if (talk === mine && !running) follow(() => draw(hasAnswer ? box : undefined));
  return list();
}
function statsOf({ usage, timings }, characters) {
  return { tokens: usage.completion_tokens, speed: timings?.predicted_per_second ?? 0, used: usage.prompt_tokens + usage.completion_tokens, characters };
}
function cutShort(stats, limit) {
  return stats && stats.tokens >= limit ? `Cut short at ${limit} tokens, as the settings say.`
    : "Cut short: the context is full, there is no room for more in this chat.";
}
function failed(text) {
  talk.messages.at(-1).unanswered = true;
  talk.messages.at(-1).error = text;
  draw();
}
async function send(text, files = []) {
  if (running || (!text && files.length === 0)) return;
  const isNew = talk.messages.length === 0;
  talk.title ||= titleOf(text || files[0].name);
  talk.messages.push({ role: "user", content: text, ...(files.length && { files }) });
  talk.changed = Date.now();
  say("notice", "");
  if (isNew) history.replaceState(null, "", `#${talk.id}`);
  const answered = respond();
  await keep(talk);
  await list();
  await answered;
}
async function tryAgain() {
  if (running) return;
  const question = talk.messages.findLastIndex(({ role }) => role !== "assistant");
  talk.messages.length = question + 1;
  for (const key of ["unanswered", "error", "note"]) delete talk.messages[question][key];
  talk.from = Math.min(talk.from, question);
  await respond();
}
async function sendResults() {
  const calls = talk.messages.at(-1)?.calls ?? [];
  for (const { id } of calls) talk.messages.push({ role: "tool", tool_call_id: id, content: given.get(id) ?? "" });
  await respond();
}

// ---- copying ----
async function copy(text, button) {
  const selected = () => { // pages that are not of this machine, without https, have no clipboard
    const field = make("textarea", { class: "away" });
    field.value = text;
    document.body.append(field);
    field.select();
    const isDone = document.execCommand("copy");
    field.remove();
    button.focus();
    return isDone;
  };
  let isDone = true;
  try { await navigator.clipboard.writeText(text); } catch { isDone = selected(); }
  button.textContent = isDone ? "Copied" : "Not copied";
  setTimeout(() => { button.textContent = "Copy"; }, 1500);
}

// ---- what people do ----
function close() {
  document.body.classList.remove("listed");
  get("menu").setAttribute("aria-expanded", "false");
}
get("form").onsubmit = async (event) => {
  event.preventDefault();
  const text = get("text").value.trim();
  if (running || (!text && !attachments.files.length)) return;
  get("text").value = "";
  get("text").focus();
  send(text, await attachments.take());
};
get("talk").onclick = (event) => {
  const button = event.target.closest("button");
  if (button?.classList.contains("copy")) copy(button.closest("figure").querySelector("code").textContent, button);
  if (button?.classList.contains("copy-answer")) copy(contentOf(button), button);
  if (button?.classList.contains("again")) tryAgain();
  if (button?.classList.contains("send-results")) sendResults();
};
function contentOf(button) {
  const answers = [...get("talk").querySelectorAll(".assistant")];
  return talk.messages.filter(({ role }) => role === "assistant")[answers.indexOf(button.closest(".assistant"))].content;
}
get("stop").onclick = () => running?.abort();
get("new").onclick = async () => {
  open(newTalk(settings()));
  await list();
  get("text").focus();
};
get("import").onclick = () => get("imported").click();
get("imported").onchange = async () => {
  const [file] = get("imported").files;
  get("imported").value = "";
  try {
    const read = fromFile(await file.text());
    await keep(read);
    open(read);
    await list();
  } catch (error) { say("notice", `${file.name}: ${error.message}`); }
};
get("menu").onclick = () => {
  const isOpen = document.body.classList.toggle("listed");
  get("menu").setAttribute("aria-expanded", String(isOpen));
  if (isOpen) get("new").focus();
};
get("shade").onclick = close;
get("tune").onclick = () => {
  get("settings").hidden = !get("settings").hidden;
  get("tune").setAttribute("aria-expanded", String(!get("settings").hidden));
};
get("settings").onsubmit = (event) => event.preventDefault();
get("text").onkeydown = (event) => {
  if (event.key === "Enter" && !event.shiftKey && !event.isComposing) {
    event.preventDefault();
    get("form").requestSubmit();
  }
};
document.onkeydown = (event) => {
  if (event.key !== "Escape") return;
  if (document.body.classList.contains("listed")) { close(); get("menu").focus(); } else running?.abort();
};
addEventListener("popstate", openByAddress);
get("examples").append(...EXAMPLES.map((text) => {
  const button = make("button", { type: "button" }, text);
  button.onclick = () => { send(text); get("text").focus(); };
  return make("li", {}, button);
}));

let problem = "";
try {
  server = await describe();
  get("model").textContent = document.title = server.model;
  get("context").textContent = `context of ${server.context.toLocaleString("en")} tokens`;
  for (const name of ["temperature", "top_p"]) get(name).defaultValue = server.sampling[name] ?? get(name).defaultValue;
  attachments.offer(server.input_modalities ?? ["text"]);
} catch (error) { problem = error.message; }
draw();
await openByAddress();
await list();
if (problem) say("notice", problem);
document.documentElement.dataset.ready = "";
