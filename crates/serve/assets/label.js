// Questions one after another, those first whose answers the parser is least sure of.

import { explanation, highlighted } from "./answer.js";
import { get, post } from "./api.js";
import { count, el, percent, say } from "./dom.js";
import { plainTable } from "./table.js";

const content = document.getElementById("content");
let run;
let waiting = [];
let done = 0;
/** What the keys of the question that is shown do. */
let keys = {};
/** Whether what somebody chose is being kept, or questions are being fetched. */
let isBusy = false;

/** Does what a key or a button stands for, unless the last one is still being done: the next would be about a question that nobody has seen. */
async function act(action) {
  if (isBusy) return;
  isBusy = true;
  try {
    await action();
  } finally {
    isBusy = false;
  }
}

/** Returns the listener of a button. The second click of a double click is at the same place, but on a button of the next question. */
function click(action) {
  return (event) => { if (event.detail < 2) act(action); };
}

async function keep(label, verdict, sql) {
  try {
    await post("/v1/feedback", { id: label.id, verdict, sql, run });
    done += 1;
    say(`Kept. ${count(done, "question")} labeled.`);
    await next();
  } catch (error) {
    say(error.message, true);
  }
}

function answerSection(label, answer, index) {
  const key = String(index + 1);
  const choose = () => keep(label, "answer", answer.sql);
  keys[key] = choose;
  return el("section", { class: "choice", "aria-label": `Answer ${key}` },
    explanation(answer.explanation),
    answer.message ? el("p", { class: "text-answer" }, answer.message) : plainTable(answer.columns, answer.rows, answer.row_count),
    el("details", { class: "query" }, el("summary", {}, "Query"), highlighted(answer.sql)),
    el("div", { class: "choice-foot" },
      el("button", { type: "button", class: "primary", onclick: click(choose) }, el("kbd", {}, key), " This is the right one"),
      el("span", { class: "hint" }, `${percent(answer.probability)} probable`)));
}

function show(label) {
  keys = { n: () => keep(label, "none-of-these"), s: next };
  const again = new URLSearchParams({ ask: label.question });
  content.replaceChildren(el("article", { class: "label-question" },
    el("h2", { tabindex: "-1" }, label.question),
    el("div", { class: "choices" }, label.answers.map((answer, index) => answerSection(label, answer, index))),
    el("div", { class: "feedback", role: "group", "aria-label": "Other choices" },
      el("button", { type: "button", onclick: click(keys.n) }, el("kbd", {}, "n"), " None of these"),
      el("button", { type: "button", class: "quiet", onclick: click(keys.s) }, el("kbd", {}, "s"), " Skip"),
      el("a", { class: "again", href: `/?${new URLSearchParams({ run })}#${again}` }, "Write the query"))));
  content.querySelector("h2").focus();
}

async function next() {
  if (waiting.length === 0) {
    content.setAttribute("aria-busy", "true");
    try {
      const labels = await get("/v1/labels", { run });
      // A skipped question comes again with the next visit.
      waiting = labels.filter((label) => label.answers.length > 0 && !next.seen.has(label.id));
      labels.forEach((label) => next.seen.add(label.id));
    } catch (error) {
      say(error.message, true);
    }
    content.setAttribute("aria-busy", "false");
  }
  const label = waiting.shift();
  if (label) return show(label);
  keys = {};
  content.replaceChildren(el("p", { class: "empty", tabindex: "-1" }, done > 0 ? `That is all for now. You labeled ${count(done, "question")}; thank you.`
    : "There is no question whose answers disagree. Ask some, and come back."));
  if (next.seen.size > 0) content.querySelector(".empty").focus();
}
next.seen = new Set();

document.addEventListener("keydown", (event) => {
  // A key that is held down repeats itself.
  if (event.repeat || event.ctrlKey || event.metaKey || event.altKey || event.target.matches("input, textarea, select")) return;
  const action = keys[event.key.toLowerCase()];
  if (action) {
    event.preventDefault();
    act(action);
  }
});

if (content) {
  ({ run } = content.dataset);
  act(next);
}
