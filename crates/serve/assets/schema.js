// The tables beside the question: a click inserts a name or a value.

import { el } from "./dom.js";

/** With more tables than this, they are closed at first, and there is a field to find one. */
const MANY_TABLES = 8;

/** Lets names of the list insert themselves into the field that `target` returns. */
export function insertNames(list, target) {
  for (const name of list.querySelectorAll("[data-insert]")) {
    name.setAttribute("role", "button");
    name.setAttribute("tabindex", "0");
    name.setAttribute("aria-label", `Insert ${name.dataset.insert}`);
  }
  const insert = (event) => {
    const name = event.target.closest("[data-insert]");
    if (!name) return;
    event.preventDefault();
    const field = target();
    const [start, end] = [field.selectionStart ?? field.value.length, field.selectionEnd ?? field.value.length];
    const before = field.value.slice(0, start);
    const space = before === "" || /[\s(,.]$/.test(before) ? "" : " ";
    // Of a database, a query has names and values in SQL, and a question as people say them.
    const text = (field.matches("textarea") ? name.dataset.sql : undefined) ?? name.dataset.insert;
    field.setRangeText(space + text, start, end, "end");
    field.dispatchEvent(new Event("input", { bubbles: true }));
    field.focus();
  };
  list.addEventListener("click", insert);
  list.addEventListener("keydown", (event) => {
    if (event.key === "Enter" || event.key === " ") insert(event);
  });
}

/** Lets tables be closed and opened, and be found if there are many. */
export function foldTables(list) {
  const tables = [...list.querySelectorAll(".table")].map((section, index) => {
    const columns = section.querySelector("ul");
    columns.id = `columns-${index}`;
    const toggle = el("button", { type: "button", class: "toggle", "aria-controls": columns.id, "aria-label": `Columns of ${section.getAttribute("aria-label")}`,
      onclick: () => open(toggle.getAttribute("aria-expanded") !== "true") });
    const open = (isOpen) => {
      toggle.setAttribute("aria-expanded", isOpen);
      columns.hidden = !isOpen;
    };
    section.prepend(toggle);
    return { section, columns, open };
  });
  const isMany = tables.length > MANY_TABLES;
  tables.forEach(({ open }) => open(!isMany));
  if (!isMany) return;
  const search = el("input", { type: "search", placeholder: "Find a table or a column", "aria-label": "Find a table or a column" });
  search.addEventListener("input", () => {
    const wanted = search.value.trim().toLowerCase();
    for (const { section, columns, open } of tables) {
      const isNamed = section.querySelector("h3").textContent.toLowerCase().includes(wanted);
      const found = [...columns.children].filter((column) => {
        const isFound = column.textContent.toLowerCase().includes(wanted);
        column.hidden = !isFound && !isNamed;
        return isFound;
      });
      section.hidden = !isNamed && found.length === 0;
      open(wanted !== "" && found.length > 0);
    }
  });
  list.querySelector(".hint").after(search);
}
