// SPDX-License-Identifier: BSD-3-Clause
// Tables of all pages: sorted by a click on a heading, long ones folded. Without it they are as they were written.
"use strict";
const OF_UNIT = {
  "": 1, "%": 0.01, ns: 1e-9, "µs": 1e-6, us: 1e-6, ms: 1e-3, s: 1, min: 60, h: 3600,
  byte: 1, bytes: 1, b: 1, kb: 1e3, mb: 1e6, gb: 1e9, tb: 1e12, kib: 1024, mib: 2 ** 20, gib: 2 ** 30,
};
const NUMBER = /^([+\u2212-]?(?:\d[\d,]*(?:\.\d+)?|\.\d+)(?:e[+-]?\d+)?)\s*([a-zµ%]*)$/i;
const ROWS_OF_FOLDED = 10;  // page.css hides those behind

/** Of "1.5 ms", "1,234", "12 %", "3 MB", "inf"; null of what is no number. */
function numberIn(text) {
  const plain = text.trim().toLowerCase();
  if (/^[+-]?inf$/.test(plain)) return plain[0] === "-" ? -Infinity : Infinity;
  const [, digits, unit] = plain.match(NUMBER) ?? [];
  return digits === undefined || !Object.hasOwn(OF_UNIT, unit) ? null : Number(digits.replaceAll(",", "").replace("\u2212", "-")) * OF_UNIT[unit];
}

/** The places of `cells` ({text, value}) in their new order; a column of numbers where all that is written is one. Cells
 * without a value come last both ways. */
function sortedPlaces(cells, isDown) {
  const known = cells.map(({ text, value }) => value === undefined ? numberIn(text) : Number.isNaN(Number(value)) ? numberIn(value) : Number(value));
  const isEmpty = cells.map(({ text }) => !text.trim() || text.trim().toLowerCase() === "nan");
  const isNumeric = cells.every((_, i) => isEmpty[i] || known[i] !== null);
  const compare = (i, j) => isNumeric ? known[i] - known[j] : cells[i].text.localeCompare(cells[j].text, "en", { numeric: true });
  return cells.map((_, i) => i).sort((i, j) => isEmpty[i] - isEmpty[j] || (isEmpty[i] ? 0 : isDown ? compare(j, i) : compare(i, j)) || i - j);
}

/** Down first where there are numbers, up first where there are words; the third time as it was written. */
function sortBy(table, column) {
  const heads = [...table.tHead.rows[0].cells], head = heads[column], body = table.tBodies[0];
  table.written ??= [...body.rows];
  const order = head.classList.contains("n") ? ["descending", "ascending", "none"] : ["ascending", "descending", "none"];
  const next = order[(order.indexOf(head.ariaSort) + 1) % 3];
  for (const each of heads) each.ariaSort = "none";
  head.ariaSort = next;
  const cells = table.written.map(row => ({ text: row.cells[column].textContent, value: row.cells[column].dataset.v }));
  const places = next === "none" ? cells.map((_, i) => i) : sortedPlaces(cells, next === "descending");
  body.replaceChildren(...places.map(i => table.written[i]));
}

function makeSortable(table) {
  [...table.tHead.rows[0].cells].forEach((head, column) => {
    const button = document.createElement("button");
    button.type = "button";
    button.className = "sort";
    button.append(...head.childNodes);
    button.addEventListener("click", () => sortBy(table, column));
    head.ariaSort = "none";
    head.append(button);
  });
}

function makeFolded(table) {
  const count = table.tBodies[0].rows.length, button = document.createElement("button");
  const show = isFolded => {
    table.classList.toggle("folded", isFolded);
    button.ariaExpanded = String(!isFolded);
    button.textContent = isFolded ? `Show all ${count.toLocaleString("en")} rows` : `Show the first ${ROWS_OF_FOLDED} rows`;
  };
  button.type = "button";
  button.className = "more";
  button.addEventListener("click", () => show(!table.classList.contains("folded")));
  table.parentElement.after(button);
  show(true);
}

function enhance(within) {
  for (const table of within.querySelectorAll(".wide > table")) {
    const count = table.tBodies[0].rows.length;
    if (count > 1) makeSortable(table);
    if (count > ROWS_OF_FOLDED + 2) makeFolded(table);
  }
}

if (globalThis.document) enhance(document);
