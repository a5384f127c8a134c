// SPDX-License-Identifier: BSD-3-Clause
// The list of conversations: what is open can be renamed, exported and deleted there.
import { make } from "./markdown.js";

function renaming(row, rename) {
  const field = make("input", { "aria-label": "Name of the conversation", value: row.title });
  let isOver = false;
  const end = (title) => { if (!isOver) { isOver = true; rename(title); } };
  field.onkeydown = (event) => {
    if (event.key === "Enter") { event.preventDefault(); end(field.value.trim() || row.title); }
    if (event.key === "Escape") { event.stopPropagation(); end(row.title); }
  };
  field.onblur = () => end(field.value.trim() || row.title);
  return field;
}

/** `act`: {rename(id, title), save(id), remove(id)} of the conversation that is open. */
export function drawList(list, rows, openId, act) {
  list.replaceChildren(...rows.map((row) => {
    const isOpen = row.id === openId;
    const link = make("a", { href: `#${row.id}`, "aria-current": isOpen ? "page" : undefined }, row.title);
    if (!isOpen) return make("li", {}, link);
    const item = make("li", { class: "open" }, link);
    const one = (name, text, work) => {
      const made = make("button", { type: "button", class: name }, text);
      made.onclick = work;
      return made;
    };
    item.append(make("div", { class: "acts" },
      one("rename", "Rename", () => {
        const field = renaming(row, (title) => act.rename(row.id, title));
        link.replaceWith(field);
        field.select();
        field.focus();
      }),
      one("save", "Export", () => act.save(row.id)),
      one("remove", "Delete", () => act.remove(row.id))));
    return item;
  }));
}
