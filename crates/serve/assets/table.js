// Rows as a table that can be sorted, copied and downloaded.

import { count, el, say } from "./dom.js";

/** The number of rows that are shown at first. */
const FIRST_ROWS = 100;

/** The number of characters of a cell that are shown at first. */
const FIRST_CHARACTERS = 300;

/** Returns whether a cell is a number. Integers that a double cannot have are of type `bigint`. */
function isNumber(value) {
  return typeof value === "number" || typeof value === "bigint";
}

/** Compares two cells: nulls come last, numbers before texts. */
function compare(left, right) {
  if (left === null || right === null) return (left === null) - (right === null);
  const numbers = isNumber(right) - isNumber(left);
  if (numbers !== 0) return numbers;
  return isNumber(left) ? (left > right) - (left < right) : left.localeCompare(right, undefined, { numeric: true });
}

function cell(value) {
  if (value === null) return el("td", { class: "null" }, "null");
  if (isNumber(value)) return el("td", { class: "number" }, String(value));
  const text = String(value);
  // The direction of a text is its own, whatever the others of its row are.
  return text.length > FIRST_CHARACTERS ? longCell(text) : el("td", { dir: "auto" }, text);
}

/** Returns a cell that shows the beginning of a long text, and the rest if somebody asks for it. */
function longCell(text) {
  const all = button(`Show all ${count(text.length, "character")}`, () => element.replaceChildren(text));
  // A character of two units is not divided.
  const element = el("td", { dir: "auto" }, `${text.slice(0, FIRST_CHARACTERS).replace(/[\ud800-\udbff]$/, "")}… `, all);
  return element;
}

/** Returns the class of a column: numbers are at the right, and so is their head. */
function columnClass(rows, index) {
  const values = rows.map((row) => row[index]).filter((value) => value !== null);
  return values.length > 0 && values.every(isNumber) ? "number" : null;
}

/** Returns a cell as a text that spreadsheets read as it is. One that they would take for a formula is marked as text. */
function field(value) {
  const isFormula = typeof value === "string" && /^(\s*[=+\-@]|[\t\r])/.test(value);
  return `${isFormula ? "'" : ""}${value ?? ""}`;
}

function csvField(value) {
  const text = field(value);
  return /[",\n\r]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/** Returns rows as CSV. Excel reads other letters than those of ASCII only after a byte order mark, so a text has one if it needs it. */
export function toCsv(columns, rows) {
  const text = [columns, ...rows].map((row) => row.map(csvField).join(",")).join("\r\n") + "\r\n";
  return /[^\0-\x7f]/.test(text) ? `\ufeff${text}` : text;
}

export function toTabs(columns, rows) {
  const tabField = (value) => field(value).replace(/[\t\n\r]/g, " ");
  return [columns, ...rows].map((row) => row.map(tabField).join("\t")).join("\n");
}

/** Returns names that differ: several columns may have the same one, and an object has only one property of a name. */
function distinct(columns) {
  const used = new Set();
  return columns.map((column) => {
    let name = column;
    for (let number = 2; used.has(name); number += 1) name = `${column}_${number}`;
    used.add(name);
    return name;
  });
}

export function toJson(columns, rows) {
  const names = distinct(columns);
  const exact = (key, value) => (typeof value !== "bigint" ? value : JSON.rawJSON ? JSON.rawJSON(String(value)) : String(value));
  return JSON.stringify(rows.map((row) => Object.fromEntries(row.map((value, index) => [names[index], value]))), exact, 2);
}

function download(name, type, text) {
  const address = URL.createObjectURL(new Blob([text], { type }));
  const link = el("a", { href: address, download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(address), 1000);
}

async function copy(text) {
  try {
    await navigator.clipboard.writeText(text);
    say("Copied.");
  } catch {
    say("The browser does not allow copying here.", true);
  }
}

function button(label, onclick) {
  return el("button", { type: "button", class: "quiet", onclick }, label);
}

/** Returns a table without buttons. `total` is the number of rows, if there are more than those given. */
export function plainTable(columns, rows, total = rows.length) {
  const head = el("thead", {}, el("tr", {}, columns.map((name, index) => el("th", { scope: "col", class: columnClass(rows, index) }, name))));
  const body = el("tbody", {}, rows.map((row) => el("tr", {}, row.map(cell))));
  const wrap = el("div", { class: "table-wrap", tabindex: "0", role: "group", "aria-label": "Rows" }, el("table", {}, head, body));
  const note = total === 0 ? "No rows." : total > rows.length ? `The first ${rows.length} of ${count(total, "row")}.` : `${count(total, "row")}.`;
  return el("div", { class: "rows" }, wrap, el("p", { class: "hint" }, note));
}

/** Returns a table whose columns sort, with buttons that copy and download all rows. */
export function resultTable(columns, rows, name = "answer") {
  let sorted = [...rows];
  let order = { column: -1, up: true };
  let shown = Math.min(FIRST_ROWS, rows.length);
  const body = el("tbody");
  const heads = columns.map((column, index) =>
    el("th", { scope: "col", class: columnClass(rows, index), "aria-sort": "none" },
      el("button", { type: "button", class: "sort", title: `Sort by ${column}`, onclick: () => sort(index) }, column)));
  const more = el("button", { type: "button", class: "quiet", onclick: () => { shown = rows.length; draw(); } }, "Show all rows");
  const note = el("p", { class: "hint" });

  function draw() {
    body.replaceChildren(...sorted.slice(0, shown).map((row) => el("tr", {}, row.map(cell))));
    note.replaceChildren(rows.length === 0 ? "No rows." : shown < rows.length ? `The first ${shown} of ${count(rows.length, "row")}. ` : `${count(rows.length, "row")}.`);
    if (shown < rows.length) note.append(more);
  }

  function sort(column) {
    order = { column, up: order.column === column ? !order.up : true };
    const sign = order.up ? 1 : -1;
    sorted = [...rows].sort((left, right) => {
      // Nulls come last in both directions.
      if (left[column] === null || right[column] === null) return compare(left[column], right[column]);
      return sign * compare(left[column], right[column]);
    });
    heads.forEach((head, index) => head.setAttribute("aria-sort", index === column ? (order.up ? "ascending" : "descending") : "none"));
    draw();
  }

  draw();
  const table = el("table", {}, el("thead", {}, el("tr", {}, heads)), body);
  const wrap = el("div", { class: "table-wrap", tabindex: "0", role: "group", "aria-label": "Rows of the answer" }, table);
  const tools = el("div", { class: "tools" },
    button("Copy", () => copy(toTabs(columns, sorted))),
    button("CSV", () => download(`${name}.csv`, "text/csv", toCsv(columns, sorted))),
    button("JSON", () => download(`${name}.json`, "application/json", toJson(columns, sorted))));
  return el("div", { class: "rows" }, wrap, el("div", { class: "below-table" }, note, tools));
}
