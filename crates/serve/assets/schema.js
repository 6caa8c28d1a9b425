// The tables beside the question: a click inserts a name or a value.

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
    // A click on the name of a table does not also close its list.
    event.preventDefault();
    const field = target();
    const [start, end] = [field.selectionStart ?? field.value.length, field.selectionEnd ?? field.value.length];
    const before = field.value.slice(0, start);
    const space = before === "" || /[\s(,.]$/.test(before) ? "" : " ";
    field.setRangeText(space + name.dataset.insert, start, end, "end");
    field.dispatchEvent(new Event("input", { bubbles: true }));
    field.focus();
  };
  list.addEventListener("click", insert);
  list.addEventListener("keydown", (event) => {
    if (event.key === "Enter" || event.key === " ") insert(event);
  });
}
