// Finding questions. Without it the page is the same, only longer to look through.
const form = document.getElementById("filter");
if (form) {
  const [text, kind, count] = ["input", "select", "output"].map((name) => form.querySelector(name));
  const groups = [...document.querySelectorAll("#errors .group")];
  const questions = [...document.querySelectorAll("#errors .q")];
  const said = new Map(questions.map((q) => [q, q.textContent.toLowerCase()]));
  const opened = new Map(groups.map((group) => [group, group.open]));
  const filter = () => {
    const words = text.value.toLowerCase().split(/\s+/).filter(Boolean);
    const isAsked = words.length > 0 || kind.value !== "";
    let shown = 0;
    for (const q of questions) {
      const fits = (!kind.value || q.dataset.kind === kind.value) && words.every((word) => said.get(q).includes(word));
      q.hidden = !fits;
      shown += fits;
    }
    for (const group of groups) {
      group.open = isAsked ? group.querySelector(".q:not([hidden])") !== null : opened.get(group);
    }
    count.textContent = isAsked ? `${shown} of ${questions.length}` : `${questions.length}`;
  };
  form.addEventListener("submit", (event) => event.preventDefault());
  form.addEventListener("input", filter);
  form.hidden = false;
  filter();
}
// Paper cannot be unfolded: figures are printed, questions as they are.
addEventListener("beforeprint", () => {
  for (const panel of document.querySelectorAll("details.panel:not(.group)")) panel.open = true;
});
