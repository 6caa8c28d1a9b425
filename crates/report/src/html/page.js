// Filters the wrong answers. Without scripts the form stays hidden and all of them are listed.
const form = document.getElementById("filter");
if (form) {
  const [text, kind, count] = ["input", "select", "output"].map((name) => form.querySelector(name));
  const groups = [...document.querySelectorAll("#errors .group")];
  const questions = [...document.querySelectorAll("#errors .q")];
  const texts = new Map(questions.map((q) => [q, q.textContent.toLowerCase()]));
  const wasOpen = new Map(groups.map((group) => [group, group.open]));
  const filter = () => {
    const words = text.value.toLowerCase().split(/\s+/).filter(Boolean);
    const isActive = words.length > 0 || kind.value !== "";
    let shown = 0;
    for (const q of questions) {
      const matches = (!kind.value || q.dataset.kind === kind.value) && words.every((word) => texts.get(q).includes(word));
      q.hidden = !matches;
      shown += matches;
    }
    for (const group of groups) {
      group.open = isActive ? group.querySelector(".q:not([hidden])") !== null : wasOpen.get(group);
    }
    count.textContent = isActive ? `${shown} of ${questions.length}` : `${questions.length}`;
  };
  form.addEventListener("submit", (event) => event.preventDefault());
  form.addEventListener("input", filter);
  form.hidden = false;
  filter();
}
// Unfolds figures and tables for print; questions stay as they are.
addEventListener("beforeprint", () => {
  for (const panel of document.querySelectorAll("details.panel:not(.group)")) panel.open = true;
});
