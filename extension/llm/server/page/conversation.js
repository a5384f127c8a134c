// SPDX-License-Identifier: BSD-3-Clause
// A conversation: what was said, what of it the model gets, and how it goes into a file and comes back.
// Its messages are OpenAI's, with `files` of a user's, and `stats`, `note` and `error`, which are the page's alone.
const FORMAT = "executorch-chat 1";
const ROOM = 3 / 4; // of the context, for what was said; the rest is the answer's
const TITLE = 60;

export const titleOf = (text) => text.trim().split("\n")[0].slice(0, TITLE) || "Untitled";

// crypto.randomUUID is there for pages of https and of this machine alone.
const newId = () => [...crypto.getRandomValues(new Uint8Array(8))].map((byte) => byte.toString(16).padStart(2, "0")).join("");

/** `from`: the first message that the model gets; those before it are left out. */
export const newTalk = (settings = {}) => ({ id: newId(), title: "", changed: Date.now(), settings, messages: [], from: 0 });

function content({ content: text, files = [] }) {
  if (files.length === 0) return text;
  return [...files.map(({ kind, type, url }) => (kind === "image"
    ? { type: "image_url", image_url: { url } }
    : { type: "input_audio", input_audio: { data: url.split(",")[1], format: type.split("/")[1].replace("x-", "").replace("mpeg", "mp3") } })),
  ...(text ? [{ type: "text", text }] : [])];
}

/** What has no answer is no part of the talk that the next message goes with. */
export function sent(talk) {
  const last = talk.messages.length - 1;
  return talk.messages.slice(talk.from).filter((message, i) => !message.unanswered || talk.from + i === last).map((message) => {
    if (message.role === "user") return { role: "user", content: content(message) };
    if (message.role === "tool") return { role: "tool", tool_call_id: message.tool_call_id, content: message.content };
    return { role: "assistant", content: message.content || null, ...(message.calls && { tool_calls: message.calls }) };
  });
}

/** Leaves the oldest turn out; whether there was one before the last. */
export function leaveOut(talk) {
  const lastQuestion = talk.messages.findLastIndex(({ role }) => role === "user");
  const next = talk.messages.findIndex(({ role }, i) => i > talk.from && role === "user");
  if (next < 0 || next > lastQuestion) return false;
  talk.from = next;
  return true;
}

/** Without pictures and sound, whose tokens have nothing to do with their bytes. */
export const charactersOf = (messages) => JSON.stringify(messages, (key, value) => (key === "url" || key === "data" ? "" : value)).length;

/** Leaves turns out until there is room for an answer, by the tokens for each character that the last answer told. */
export function makeRoom(talk, context) {
  const stats = talk.messages.findLast((message) => message.stats)?.stats;
  if (!stats?.used || !context) return;
  while (charactersOf(sent(talk)) * (stats.used / stats.characters) > ROOM * context && leaveOut(talk));
}

export function toFile({ title, settings, messages, from }) {
  return JSON.stringify({ format: FORMAT, title, settings, messages, from }, null, 1);
}

const isText = (value) => typeof value === "string";
const isFile = (file) => ["image", "audio"].includes(file?.kind) && isText(file.name) && isText(file.type) && isText(file.url) &&
  file.url.startsWith(`data:${file.kind}/`);
const isCall = (call) => isText(call?.id) && isText(call.function?.name) && isText(call.function.arguments);
const CHECKS = {
  role: (value) => ["user", "assistant", "tool"].includes(value), content: isText, tool_call_id: isText, note: isText, error: isText,
  unanswered: (value) => value === true, files: (value) => Array.isArray(value) && value.every(isFile),
  calls: (value) => Array.isArray(value) && value.every(isCall), stats: (value) => Number.isFinite(value?.tokens),
};
const isMessage = (message) => isText(message?.role) && isText(message.content) &&
  Object.entries(message).every(([key, value]) => CHECKS[key]?.(value));

/** A conversation of a file. An error with a sentence for what is none. */
export function fromFile(text) {
  let read;
  try { read = JSON.parse(text); } catch { read = null; }
  if (read?.format !== FORMAT || !Array.isArray(read.messages) || !read.messages.every(isMessage)) {
    throw new Error("Expected a conversation that this page exported, found another file.");
  }
  const from = Number.isInteger(read.from) && read.from >= 0 && read.from <= read.messages.length ? read.from : 0;
  const settings = Object.fromEntries(Object.entries(read.settings ?? {}).filter(([, value]) => isText(value)));
  return { ...newTalk(settings), title: isText(read.title) ? titleOf(read.title) : "Imported", messages: read.messages, from };
}
