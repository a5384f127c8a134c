// SPDX-License-Identifier: BSD-3-Clause
// The chat page's behaviour: a session in a worker, whose pieces are shown as they come.
import { bytesText, threadsText } from "./text.mjs";
import { loadInWorker } from "./worker.mjs";

const $ = (id) => document.getElementById(id);
const state = { et: null, session: null, messages: [] };
const SETTINGS = { temperature: 0, maxNewTokens: 256 };

function say(text, isBad = false) {
  $("status").textContent = text;
  $("status").className = isBad ? "bad" : "";
}

function bubble(role, text) {
  const box = Object.assign(document.createElement("p"), { className: role, textContent: text });
  $("talk").append(box);
  box.scrollIntoView({ block: "end" });
  return box;
}

async function open(files) {
  const chosen = Array.from(files);
  const program = chosen.find((file) => file.name.endsWith(".pte"));
  const tokenizer = chosen.find((file) => file !== program);
  if (program === undefined) {
    throw new Error("expected a .pte file, and the tokenizer beside it");
  }
  say("Loading …");
  await state.session?.delete();
  state.session = await state.et.loadText(await program.arrayBuffer(),
    tokenizer === undefined ? {} : { tokenizer: await tokenizer.arrayBuffer(), tokenizerName: tokenizer.name });
  state.messages = [];
  $("talk").replaceChildren();
  $("name").textContent = program.name;
  $("size").textContent = bytesText(program.size);
  $("form").hidden = false;
  $("message").focus();
  say("");
}

async function send(text) {
  state.messages.push({ role: "user", content: text });
  bubble("user", text);
  const box = bubble("assistant", "");
  try {
    const answer = await state.session.chat(state.messages, SETTINGS, (piece) => {
      box.textContent += piece;
      box.scrollIntoView({ block: "end" });
    });
    state.messages.push({ role: "assistant", content: answer.text });
    const speed = answer.answerSeconds > 0 ? `${((answer.newTokens - 1) / answer.answerSeconds).toFixed(1)} tokens/s, ` : "";
    say(`${speed}first after ${answer.promptSeconds.toFixed(2)} s, ${bytesText(await state.et.memoryUsed())} of memory`);
  } catch (error) {
    state.messages.pop();
    box.remove();
    throw error;
  }
}

/** Shows what fails; one at a time. */
async function attempt(work) {
  $("send").disabled = true;
  try {
    await work();
  } catch (error) {
    say(error.message, true);
  }
  $("send").disabled = false;
}

const fetched = async (url) => {
  const response = await fetch(url);
  if (!response.ok) {
    throw new Error(`expected a file at ${url}, found status ${response.status}`);
  }
  return new File([await response.arrayBuffer()], url.split("/").pop());
};

async function start() {
  try {
    state.et = await loadInWorker({ threads: navigator.hardwareConcurrency });
  } catch (error) {
    say(`This browser cannot run the program: ${error.message}`, true);
    return;
  }
  $("version").textContent = `ExecuTorch ${state.et.version}, WebAssembly with vectors, ${threadsText(state.et)}`;
  $("file").addEventListener("change", () => attempt(() => open($("file").files)));
  $("drop").addEventListener("dragover", (event) => event.preventDefault());
  $("drop").addEventListener("drop", (event) => {
    event.preventDefault();
    attempt(() => open(event.dataTransfer.files));
  });
  $("form").addEventListener("submit", (event) => {
    event.preventDefault();
    const text = $("message").value.trim();
    if (text !== "" && !$("send").disabled) {
      $("message").value = "";
      attempt(() => send(text));
    }
  });
  // ?file=URL&file=URL opens them at once.
  const urls = new URL(location.href).searchParams.getAll("file");
  if (urls.length > 0) {
    attempt(async () => open(await Promise.all(urls.map(fetched))));
  }
}

start();
