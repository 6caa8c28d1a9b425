// What happened over time.

import { get, listen } from "./api.js";
import { count, el, percent, say, svg } from "./dom.js";

const content = document.getElementById("content");

/** Returns a figure of bars: one for each day, with the part that was judged and the part that was right. */
function daysChart(days) {
  const shown = days.slice(-60);
  const [width, height, gap] = [720, 180, 4];
  const largest = Math.max(...shown.map((day) => day.questions), 1);
  const most = largest.toLocaleString("en");
  const left = 24 + 8 * most.length;
  const step = Math.min((width - left) / shown.length, 48);
  const bar = (day, index) => {
    const x = left + index * step;
    const part = (number, kind) => {
      const size = (number / largest) * (height - 30);
      return svg("rect", { class: kind, x, y: height - 20 - size, width: Math.max(step - gap, 1), height: size, rx: 2 });
    };
    const title = svg("title");
    title.textContent = `${day.date}: ${count(day.questions, "question")}, ${day.judged} judged, ${day.right} right as answered`;
    return svg("g", {}, title, part(day.questions, "bar"), part(day.judged, "bar judged"), part(day.right, "bar right"));
  };
  const text = (x, y, anchor, words) => { const node = svg("text", { x, y, "text-anchor": anchor }); node.textContent = words; return node; };
  return svg("svg", { class: "chart", viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": "Questions a day; the table below has the numbers" },
    svg("line", { x1: left - 4, y1: height - 20, x2: width, y2: height - 20 }),
    text(left - 8, 20, "end", most), text(left - 8, height - 20, "end", "0"),
    text(left, height - 4, "start", shown[0].date), shown.length > 3 ? text(left + shown.length * step, height - 4, "end", shown.at(-1).date) : null,
    shown.map(bar));
}

function table(caption, heads, rows) {
  return el("div", { class: "table-wrap", tabindex: "0", role: "group", "aria-label": caption }, el("table", {},
    el("caption", {}, caption),
    el("thead", {}, el("tr", {}, heads.map((head, index) => el("th", { scope: "col", class: typeof rows[0][index] === "number" ? "number" : null }, head)))),
    el("tbody", {}, rows.map((row) => el("tr", {}, row.map((value) => el("td", { class: typeof value === "number" ? "number" : null }, String(value))))))));
}

function share(part, whole) {
  return whole === 0 ? "–" : percent(part / whole);
}

function parsers(progress) {
  if (progress.parsers.length === 0) {
    return el("p", { class: "empty" }, "No parser was made from what people said yet. ", el("code", {}, "xpr improve"), " makes one.");
  }
  const rows = progress.parsers.toReversed().map((parser) => [
    parser.number, new Date(parser.time).toLocaleString(), parser.origin,
    parser.number === progress.current ? "answers now" : !parser.promoted ? "was not better" : parser.rolled_back ? "was rolled back" : "answered before",
    parser.compared === 0 ? "not compared" : `${share(parser.right_before, parser.compared)} → ${share(parser.right_after, parser.compared)} of ${parser.compared}`,
  ]);
  return table("Parsers, the newest first", ["number", "finished", "how", "state", "accuracy on confirmed questions"], rows);
}

function figure(number, words) {
  return el("div", { class: "figure" }, el("strong", {}, number), el("span", {}, words));
}

async function draw(run) {
  const progress = await get("/v1/progress", { run });
  const sum = (key) => progress.days.reduce((total, day) => total + day[key], 0);
  const days = progress.days.length === 0 ? [el("p", { class: "empty" }, "Nothing was asked yet.")] : [
    el("div", { class: "chart-wrap", tabindex: "0", role: "group", "aria-label": "Picture" }, daysChart(progress.days)),
    el("p", { class: "legend" }, el("span", { class: "swatch all" }), "asked ", el("span", { class: "swatch judged" }), "judged ", el("span", { class: "swatch right" }), "right as answered"),
    table("Days, the newest first", ["day", "questions", "not answered", "judged", "right as answered", "share right"],
      progress.days.toReversed().map((day) => [day.date, day.questions, day.declined, day.judged, day.right, share(day.right, day.judged)])),
  ];
  content.replaceChildren(
    el("div", { class: "figures" },
      figure(progress.questions.toLocaleString("en"), "questions"),
      figure(progress.confirmed.toLocaleString("en"), "with a confirmed answer"),
      figure(share(sum("right"), sum("judged")), "of judged answers right"),
      figure(`Parser ${progress.current}`, "answers now")),
    el("section", {}, el("h2", {}, "Questions"), days),
    el("section", {}, el("h2", {}, "Parsers"), el("div", { id: "training" }), parsers(progress)));
  content.setAttribute("aria-busy", "false");
}

function showTraining(improving) {
  const place = document.getElementById("training");
  if (!place) return;
  if (!improving) return place.replaceChildren();
  place.replaceChildren(el("label", { for: "training-bar" }, `A new parser is being trained (${improving.parser}): step ${improving.step} of ${improving.steps}`),
    el("progress", { id: "training-bar", max: Math.max(improving.steps, 1), value: improving.step }));
}

async function start() {
  const { run } = content.dataset;
  try {
    await draw(run);
  } catch (error) {
    say(error.message, true);
    return;
  }
  let parser;
  listen(run, async (event) => {
    if (parser && parser !== event.parser) {
      await draw(run).catch(() => {});
      say("A new parser answers from now on.");
    }
    ({ parser } = event);
    showTraining(event.improving);
  });
}

if (content) start();
