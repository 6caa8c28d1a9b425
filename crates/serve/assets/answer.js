// An answer: its rows, its query, how sure it is, and what a person can say about it.

import { post } from "./api.js";
import { announce, count, el, isInView, percent, say, visible } from "./dom.js";
import { plainTable, resultTable } from "./table.js";

const KEYWORDS = new Set(("select distinct from where and or not in is null like between exists group by having order asc desc limit offset " +
  "join inner left outer cross on using as union intersect except all case when then else end with cast glob collate").split(" "));
const FUNCTIONS = new Set("count sum avg min max abs round length lower upper substr strftime date coalesce total".split(" "));

/** Returns a query with its keywords, texts, names in quotes and numbers in elements of their own. */
export function highlighted(sql) {
  const code = el("code");
  const token = /('(?:[^']|'')*')|("(?:[^"]|"")*")|(\d+(?:\.\d+)?)|([A-Za-z_][A-Za-z0-9_]*)|(--[^\n]*)|([\s\S])/gu;
  for (const [text, string, name, number, word] of sql.matchAll(token)) {
    const lower = word?.toLowerCase();
    const kind = string ? "string" : number ? "numeral" : KEYWORDS.has(lower) ? "keyword" : FUNCTIONS.has(lower) ? "function" : name ? "name" : word ? "" : "sign";
    code.append(...(kind ? [el("span", { class: `sql-${kind}` }, visible(text))] : visible(text)));
  }
  return el("pre", { class: "sql" }, code);
}

/** Returns how sure the parser is, as a bar and in words. */
function confidence(answer) {
  if (answer.confidence === null || answer.confidence === undefined) return null;
  const share = answer.confidence;
  const words = answer.unsure ? "not sure" : share >= 0.9 ? "very sure" : "sure";
  return el("p", { class: answer.unsure ? "confidence unsure" : "confidence" },
    el("meter", { min: "0", max: "1", low: "0.5", high: "0.9", optimum: "1", value: share.toFixed(3), "aria-hidden": "true" }),
    el("span", {}, `The parser is ${words}: ${percent(share)}`));
}

/** Returns what a query returns, in English. */
export function explanation(text) {
  return text ? el("p", { class: "explanation" }, visible(text), ".") : null;
}

function body(columns, rows, message, name) {
  return message ? el("p", { class: "text-answer" }, message) : resultTable(columns, rows, name);
}

/** Returns a name for downloaded files. */
function fileName(question) {
  return question.toLowerCase().replace(/[^a-z0-9]+/g, "-").replace(/^-|-$/g, "").slice(0, 40) || "answer";
}

/** An answer in the page, and what can be done with it. */
class AnswerArticle {
  constructor(answer, run) {
    this.answer = answer;
    this.run = run;
    this.element = el("article", { class: "answer", "aria-label": `Answer to: ${answer.question}` });
    this.draw();
  }

  draw() {
    const { answer } = this;
    if (answer.declined) return this.drawDeclined(answer.declined);
    if (answer.unsure) return this.drawChoice();
    return this.drawResult(answer, true);
  }

  drawDeclined({ reason, nearest }) {
    this.element.replaceChildren(
      el("p", { class: "notice" }, `Not answered: ${reason}.`),
      nearest ? el("p", {}, "A question it can answer: ", el("button", { type: "button", class: "link", "data-ask": nearest }, nearest)) : "",
      this.feedbackBar(false));
  }

  /** Shows one answer, with its query to see and to edit. */
  drawResult(shown, isFirst) {
    const others = this.answer.answers.filter((other) => other.sql !== shown.sql);
    const more = isFirst && others.length > 0 && !this.answer.unsure
      ? el("details", { class: "others" }, el("summary", {}, `${count(others.length, "other answer")} that the parser found`),
        el("div", { class: "choices" }, others.map((other, index) => this.choice(other, `Other answer ${index + 1}`))))
      : "";
    this.element.replaceChildren(...[
      explanation(shown.explanation),
      body(shown.columns, shown.rows, shown.message, fileName(this.answer.question)),
      isFirst ? confidence(this.answer) : null,
      this.query(shown.sql),
      this.feedbackBar(true),
      more,
    ].filter(Boolean));
  }

  /** Shows several answers, none of which is sure. */
  drawChoice() {
    const { answer } = this;
    const found = answer.answers.length;
    const words = found === 0 ? "It found no query that runs." : found === 1 ? "This is the only answer that it found." : "Which of these is right?";
    this.element.replaceChildren(
      el("div", { class: "notice unsure-notice" }, confidence(answer) ?? "The parser is not sure.", el("p", {}, words)),
      el("div", { class: "choices" }, answer.answers.map((other, index) => this.choice(other, `Answer ${index + 1}`))),
      answer.sql && found === 0 ? this.query(answer.sql) : "",
      found > 0 ? el("details", { class: "others" }, el("summary", {}, "Write the query yourself"), this.editor(answer.sql ?? "")) : this.editor(answer.sql ?? ""),
      this.feedbackBar(false));
  }

  choice(other, name) {
    const pick = el("button", { type: "button", class: "primary", onclick: this.once(() => this.pick(other)) }, "This is the right one");
    return el("section", { class: "choice", "aria-label": name },
      explanation(other.explanation),
      other.message ? el("p", { class: "text-answer" }, other.message) : plainTable(other.columns, other.rows.slice(0, 5), other.row_count),
      el("details", { class: "query" }, el("summary", {}, "Query"), highlighted(other.sql)),
      this.answer.id === null ? null : el("div", { class: "choice-foot" }, pick));
  }

  async pick(other) {
    if (!(await this.say("answer", other.sql))) return;
    const all = await post("/v1/run", { sql: other.sql, run: this.run }).catch(() => other);
    this.drawResult({ ...other, ...all, explanation: other.explanation }, false);
    this.element.querySelector(".table-wrap, .text-answer")?.focus();
    announce(this.said);
  }

  query(sql) {
    const edit = el("button", { type: "button", class: "quiet", onclick: () => { holder.replaceChildren(this.editor(sql)); holder.querySelector("textarea").focus(); } }, "Edit");
    const holder = el("div", {}, highlighted(sql), el("div", { class: "tools" }, edit));
    return el("details", { class: "query", open: true }, el("summary", {}, "Query"), holder);
  }

  /** Returns a field to edit a query and run it. */
  editor(sql) {
    const field = el("textarea", { rows: "4", spellcheck: "false", "aria-label": "SQL", autocapitalize: "off" });
    field.value = sql;
    const result = el("div", { "aria-live": "polite" });
    const keep = el("button", { type: "button", class: "primary", hidden: true, onclick: this.once(async () => {
      keep.disabled = await this.say("corrected", field.value);
    }) }, "This is the right query");
    const run = async () => {
      keep.hidden = true;
      keep.disabled = false;
      try {
        const ran = await post("/v1/run", { sql: field.value, run: this.run });
        result.replaceChildren(...[explanation(ran.explanation), body(ran.columns, ran.rows, ran.message, "query")].filter(Boolean));
        keep.hidden = this.answer.id === null;
      } catch (error) {
        result.replaceChildren(el("p", { class: "notice", role: "alert" }, error.message));
      }
    };
    field.addEventListener("keydown", (event) => {
      if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) { event.preventDefault(); run(); }
    });
    field.addEventListener("input", () => { keep.hidden = true; });
    return el("div", { class: "editor" }, field,
      el("div", { class: "tools" }, el("button", { type: "button", onclick: run, title: "Ctrl+Enter" }, "Run"), keep), result);
  }

  /** Returns the buttons by which a person says whether the answer is right. */
  feedbackBar(hasAnswer) {
    if (this.answer.id === null) return "";
    if (this.said) return this.thanks();
    const button = (label, verdict) => el("button", { type: "button", class: "verdict", onclick: this.once(() => this.say(verdict)) }, label);
    const buttons = hasAnswer ? [button("Right", "right"), button("Wrong", "wrong")]
      : this.answer.answers.length > 0 ? [button("None of these", "none-of-these")] : [button("It should have been answered", "wrong")];
    return el("div", { class: "feedback", role: "group", "aria-label": "Is this right?" },
      hasAnswer ? el("span", { class: "hint" }, "Is this right?") : null, buttons);
  }

  /** Returns what was said, for the place of the buttons. */
  thanks() {
    return el("p", { class: "thanks", tabindex: "-1" }, this.said);
  }

  /** Returns the listener of a button by which a person says something. Until that is kept, no such button does anything. */
  once(action) {
    return async () => {
      if (this.isSaying) return;
      this.isSaying = true;
      try {
        await action();
      } finally {
        this.isSaying = false;
      }
    };
  }

  /** Sends what a person says. Returns whether it is kept. */
  async say(verdict, sql) {
    try {
      await post("/v1/feedback", { id: this.answer.id, verdict, sql, run: this.run });
    } catch (error) {
      say(error.message, true);
      return false;
    }
    const words = { right: "Kept as right.", wrong: "Kept as wrong. If you know the query, edit it and keep it.", corrected: "Kept. The parser learns from this query.",
      answer: "Kept as the right answer.", "none-of-these": "Kept. If you know the query, write it yourself." };
    this.said = words[verdict];
    const hadFocus = this.element.contains(document.activeElement);
    this.element.querySelector(".feedback")?.replaceWith(this.thanks());
    const all = [...this.element.querySelectorAll(".thanks")];
    all.forEach((thanks) => { thanks.textContent = this.said; });
    // The button that had the focus is gone or disabled. What gets the focus is read by screen readers.
    if (hadFocus) all[0]?.focus({ preventScroll: true });
    if (!all.some(isInView)) say(this.said);
    else if (!hadFocus) announce(this.said);
    return true;
  }
}

/** Returns what an answer is, in a sentence or two. */
export function summary(answer) {
  if (answer.declined) return `Not answered: ${answer.declined.reason}.`;
  if (answer.unsure) return `The parser is not sure. ${count(answer.answers.length, "different answer")}.`;
  const found = answer.message ?? (answer.rows.length === 1 && answer.columns.length === 1 ? String(answer.rows[0][0]) : count(answer.rows.length, "row"));
  return `Answer: ${found}. ${answer.explanation ? `It is ${answer.explanation}.` : ""}`;
}

/** Returns the element of an answer. */
export function renderAnswer(answer, run) {
  return new AnswerArticle(answer, run).element;
}
