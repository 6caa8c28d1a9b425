// The questions that were asked.

import { highlighted } from "./answer.js";
import { get } from "./api.js";
import { announce, count, el, percent, say } from "./dom.js";

const content = document.getElementById("content");
const VERDICTS = { right: "right", wrong: "wrong", corrected: "corrected", answer: "answer picked", "none-of-these": "none of these" };

function verdict(entry) {
  const last = entry.feedback.at(-1);
  return last ? el("span", { class: `tag ${last.verdict}` }, VERDICTS[last.verdict] ?? last.verdict) : null;
}

function entryElement(entry, run) {
  const time = new Date(entry.time);
  const corrected = entry.feedback.at(-1)?.program;
  const state = entry.declined ? `not answered: ${entry.declined}` : entry.unsure ? "not sure" : "answered";
  const facts = [state, entry.confidence === null ? null : percent(entry.confidence), `${(entry.micros / 1000).toFixed(0)} ms`];
  const again = new URLSearchParams({ ask: entry.question });
  return el("li", { class: "entry" },
    el("div", { class: "entry-head" },
      el("span", { class: "entry-question" }, entry.question), verdict(entry),
      el("a", { class: "again", href: `/?${new URLSearchParams({ run })}#${again}` }, "Ask again")),
    el("p", { class: "hint" }, el("time", { datetime: time.toISOString() }, time.toLocaleString()), ` · ${facts.filter(Boolean).join(" · ")}`),
    entry.program ? el("details", { class: "query" }, el("summary", {}, corrected && corrected !== entry.program ? "Query, and the right one" : "Query"),
      highlighted(entry.program), corrected && corrected !== entry.program ? highlighted(corrected) : null) : null);
}

function start() {
  const { run } = content.dataset;
  const list = el("ol", { class: "entries", reversed: true });
  const search = el("input", { type: "search", id: "history-search", placeholder: "Find a question" });
  const judged = el("input", { type: "checkbox", id: "history-judged" });
  const more = el("button", { type: "button", hidden: true }, "Older questions");
  const summary = el("p", { class: "hint" });
  let next;
  let loads = 0;

  async function load(isNew) {
    const number = ++loads;
    try {
      const page = await get("/v1/log", { run, text: search.value, judged: judged.checked || null, below: isNew ? null : next });
      // What comes after a later search is not shown.
      if (number !== loads) return;
      if (isNew) list.replaceChildren();
      list.append(...page.entries.map((entry) => entryElement(entry, run)));
      if (!list.firstChild) list.append(el("li", { class: "empty" }, page.questions === 0 ? "Nothing was asked yet." : "No question is like this."));
      if (isNew) announce(page.entries.length === 0 ? list.textContent : `${count(list.children.length, "question")} shown`);
      summary.textContent = `${count(page.questions, "question")}, ${page.confirmed.toLocaleString("en")} with a confirmed answer`;
      next = page.next;
      more.hidden = next === null;
    } catch (error) {
      say(error.message, true);
    }
    content.setAttribute("aria-busy", "false");
  }

  let timer;
  search.addEventListener("input", () => { clearTimeout(timer); timer = setTimeout(() => load(true), 250); });
  judged.addEventListener("change", () => load(true));
  more.addEventListener("click", () => load(false));
  content.append(
    el("div", { class: "filters" }, el("label", { for: "history-search", class: "hidden" }, "Find a question"), search,
      el("label", { for: "history-judged" }, judged, " only those that somebody judged")),
    summary, list, more);
  load(true);
}

if (content) start();
