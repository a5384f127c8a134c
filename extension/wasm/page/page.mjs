// SPDX-License-Identifier: BSD-3-Clause
// The page's behaviour. The program runs in a worker; a file that is chosen takes the place of the one before.
import { bytesText, filled, resultText, sizesText, threadsText, timeText } from "./text.mjs";
import { loadInWorker } from "./worker.mjs";

const $ = (id) => document.getElementById(id);
const state = { et: null, module: null, meta: null, sizes: { program: 0, data: 0 }, isBusy: false };

function say(text, isBad = false) {
  $("status").textContent = text;
  $("status").className = isBad ? "bad" : "";
}

function table(id, head, rows) {
  const element = (tag, text, isNumber) => Object.assign(document.createElement(tag), { textContent: text, className: isNumber ? "number" : "" });
  const row = (tag, cells) => {
    const tr = document.createElement("tr");
    tr.append(...cells.map((cell, i) => element(tag, cell, head[i].endsWith("#"))));
    return tr;
  };
  $(id).replaceChildren(row("th", head.map((each) => each.replace("#", ""))), ...rows.map((cells) => row("td", cells)));
}

function facts(id, rows) {
  $(id).replaceChildren(...rows.map(([name, value]) => {
    const pair = document.createElement("div");
    pair.append(Object.assign(document.createElement("dt"), { textContent: name }), Object.assign(document.createElement("dd"), { textContent: value }));
    return pair;
  }));
}

const describe = (tags, names, infos) => tags.map((tag, i) => (infos[i] === undefined ? [names[i] || String(i), tag.name, "", ""]
  : [names[i] || String(i), infos[i].scalarType.name, sizesText(infos[i]), bytesText(infos[i].nbytes)]));

async function showMemory() {
  const planned = state.meta.memoryPlannedBufferSizes.reduce((sum, size) => sum + size, 0);
  facts("memory", [
    ["Program", bytesText(state.sizes.program)],
    ...(state.sizes.data > 0 ? [["Data files", bytesText(state.sizes.data)]] : []),
    ["Planned for values", bytesText(planned)],
    ["WebAssembly, so far", bytesText(await state.et.memoryUsed())],
  ]);
}

async function showMethod() {
  const meta = state.meta = await state.module.getMethodMeta($("method").value);
  table("inputs", ["Name", "Type", "Sizes", "Bytes#"], describe(meta.inputTags, meta.inputNames, meta.inputTensorMeta));
  table("outputs", ["Name", "Type", "Sizes", "Bytes#"], describe(meta.outputTags, meta.outputNames, meta.outputTensorMeta));
  const counts = (calls, kind) => Object.entries(calls).sort((a, b) => b[1] - a[1]).map(([name, times]) => [name, kind, String(times)]);
  table("calls", ["Name", "Kind", "Calls#"], [...counts(meta.delegates, "delegate"), ...counts(meta.operators, "operator")]);
  facts("times", []);
  await showMemory();
  try {
    await state.module.loadMethod(meta.name);
    say("");
    $("run").disabled = false;
  } catch (error) {
    say(error.message, true);
    $("run").disabled = true;
  }
  await showMemory();
}

const SIMPLE = { Int: 1n, Double: 1, Bool: true, None: null, String: "" };

async function run() {
  const { meta } = state;
  const inputs = meta.inputTags.map((tag, i) => (meta.inputTensorMeta[i] === undefined ? SIMPLE[tag.name] : filled(meta.inputTensorMeta[i], $("fill").value)));
  const times = [];
  let results = [];
  const runs = Math.min(Math.max(Number($("runs").value) || 1, 1), 1000);
  for (let i = 0; i < runs; ++i) {
    const start = performance.now();
    results = await state.module.execute(meta.name, inputs);
    times.push(performance.now() - start);
    say(`Run ${i + 1} of ${runs}`);
  }
  say("");
  const sorted = times.slice(1).sort((a, b) => a - b);
  facts("times", [["First run", timeText(times[0])], ...(sorted.length === 0 ? [] : [
    ["Median of the others", timeText(sorted[Math.floor(sorted.length / 2)])], ["Fastest", timeText(sorted[0])],
    ["Slowest", timeText(sorted[sorted.length - 1])]])]);
  table("outputs", ["Name", "Type", "Sizes", "First values"],
    results.map((value, i) => [meta.outputNames[i] || String(i), ...resultText(value)]));
  await showMemory();
}

async function open(files) {
  const chosen = Array.from(files);
  const program = chosen.find((file) => file.name.endsWith(".pte")) ?? chosen.find((file) => !file.name.endsWith(".ptd"));
  if (program === undefined) {
    throw new Error("expected a .pte file");
  }
  say("Loading …");
  $("program").hidden = true;
  const data = await Promise.all(chosen.filter((file) => file !== program).map((file) => file.arrayBuffer()));
  const loaded = await state.et.load(await program.arrayBuffer(), data);
  await state.module?.delete();
  state.module = loaded;
  state.sizes = { program: program.size, data: data.reduce((sum, each) => sum + each.byteLength, 0) };
  $("name").textContent = program.name;
  $("size").textContent = bytesText(program.size);
  const methods = await loaded.getMethods();
  $("method").replaceChildren(...methods.map((name) => new Option(name, name)));
  await showMethod();
  $("program").hidden = false;
}

/** One thing at a time; what fails is shown. */
async function attempt(work) {
  if (state.isBusy) {
    return;
  }
  state.isBusy = true;
  document.body.setAttribute("aria-busy", "true");
  $("run").disabled = true;
  try {
    await work();
    $("run").disabled = $("status").className === "bad";
  } catch (error) {
    say(error.message, true);
    $("run").disabled = state.module === null;
  } finally {
    state.isBusy = false;
    document.body.removeAttribute("aria-busy");
  }
}

async function start() {
  try {
    state.et = await loadInWorker({ threads: navigator.hardwareConcurrency });
    $("version").textContent = `ExecuTorch ${state.et.version}, WebAssembly with vectors, ${threadsText(state.et)}`;
  } catch (error) {
    say(`This browser cannot run the program: ${error.message}`, true);
    return;
  }
  $("file").addEventListener("change", () => attempt(() => open($("file").files)));
  $("drop").addEventListener("dragover", (event) => { event.preventDefault(); $("drop").classList.add("over"); });
  $("drop").addEventListener("dragleave", () => $("drop").classList.remove("over"));
  $("drop").addEventListener("drop", (event) => {
    event.preventDefault();
    $("drop").classList.remove("over");
    attempt(() => open(event.dataTransfer.files));
  });
  $("method").addEventListener("change", () => attempt(showMethod));
  $("run").addEventListener("click", () => attempt(run));
  // ?program=URL opens one at once.
  const url = new URL(location.href).searchParams.get("program");
  if (url !== null) {
    attempt(async () => {
      const response = await fetch(url);
      if (!response.ok) {
        throw new Error(`expected a program at ${url}, found status ${response.status}`);
      }
      await open([new File([await response.arrayBuffer()], url.split("/").pop())]);
      await run();
    });
  }
}

start();
