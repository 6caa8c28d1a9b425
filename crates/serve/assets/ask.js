// The page on which people ask.

import { renderAnswer, summary } from "./answer.js";
import { listen, post } from "./api.js";
import { announce, el, say } from "./dom.js";
import { foldTables, insertNames } from "./schema.js";

const form = document.getElementById("ask-form");
const field = document.getElementById("question");
const answer = document.getElementById("answer");
const { run } = form.dataset;
let asked = 0;

async function ask(question) {
  const number = ++asked;
  answer.setAttribute("aria-busy", "true");
  const waiting = setTimeout(() => answer.replaceChildren(el("p", { class: "waiting" }, "Looking for an answer…")), 150);
  let shown;
  let words = "";
  try {
    const found = await post("/v1/ask", { question, run });
    shown = renderAnswer(found, run);
    words = summary(found);
  } catch (error) {
    shown = el("p", { class: "notice", role: "alert" }, error.message);
  }
  clearTimeout(waiting);
  // An answer that comes after that of a later question is not shown.
  if (number !== asked) return;
  answer.replaceChildren(shown);
  answer.setAttribute("aria-busy", "false");
  // An error is an alert of its own.
  announce(words);
}

form.addEventListener("submit", (event) => {
  event.preventDefault();
  const question = field.value.trim();
  if (question) ask(question);
});

// Questions that the page suggests.
document.addEventListener("click", (event) => {
  const suggested = event.target.closest("[data-ask]")?.dataset.ask;
  if (!suggested) return;
  event.preventDefault();
  field.value = suggested;
  ask(suggested);
});

// Names go to the query that is being edited, or else to the question.
let lastField = field;
document.addEventListener("focusin", (event) => {
  if (event.target === field || event.target.matches("textarea")) lastField = event.target;
});
foldTables(document.getElementById("schema"));
insertNames(document.getElementById("schema"), () => (lastField.isConnected ? lastField : field));

// `/` goes to the question, as in many pages.
document.addEventListener("keydown", (event) => {
  if (event.key === "/" && !event.target.matches("input, textarea, select")) {
    event.preventDefault();
    field.focus();
    field.select();
  }
});

// A question of the history that is asked again.
const again = new URLSearchParams(location.hash.slice(1)).get("ask");
if (again) {
  field.value = again;
  ask(again);
}

let parser;
listen(run, (event) => {
  if (parser && parser !== event.parser) say("A new parser answers from now on.");
  ({ parser } = event);
});
