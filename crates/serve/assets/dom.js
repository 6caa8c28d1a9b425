// Elements are made of nodes and text, never of markup, so that nothing in a question or a cell can become part of the page.

/** Returns an element. Properties that begin with `on` are listeners, and others are attributes; `false` and `null` leave one out. */
export function el(tag, properties = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(properties ?? {})) {
    if (value === false || value === null || value === undefined) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else element.setAttribute(name, value === true ? "" : value);
  }
  element.append(...children.flat().filter((child) => child !== null && child !== undefined && child !== false));
  return element;
}

/** Returns an element of a picture. */
export function svg(tag, attributes = {}, ...children) {
  const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  element.append(...children.flat().filter(Boolean));
  return element;
}

/** Characters that reverse or hide others, as `xpr_text::is_deceptive` has them. */
const DECEPTIVE = /([\p{Cc}\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\u{e0000}-\u{e007f}])/u;

/** Returns a text in which such characters are shown by their codes. They are still there when it is copied. */
export function visible(text) {
  const code = (part) => part.split("").map((unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`).join("");
  // Every second part is one of them.
  return text.split(DECEPTIVE).map((part, index) =>
    (index % 2 === 0 || part === "\n" || part === "\t" ? part : el("span", { class: "code-point", "data-code": code(part) }, part)));
}

/** Says something at the foot of the page, and to screen readers, for a moment. */
export function say(text, isError = false) {
  const status = document.getElementById("status");
  status.textContent = text;
  status.classList.toggle("error", isError);
  status.classList.add("shown");
  clearTimeout(say.timer);
  say.timer = setTimeout(() => status.classList.remove("shown"), isError ? 8000 : 3500);
}

/** Tells screen readers what changed in the page. They would read all rows if the rows themselves were announced. */
export function announce(text) {
  document.getElementById("announcement").textContent = text;
}

/** Returns whether all of an element is in the window. */
export function isInView(element) {
  const { top, bottom } = element.getBoundingClientRect();
  return top >= 0 && bottom <= window.innerHeight;
}

/** Returns a share as people read it. It is rounded down, so that what is not certain does not look like it; what is possible does not look impossible. */
export function percent(share) {
  const whole = Math.floor(100 * share + 1e-9);
  return whole === 0 && share > 0 ? "under 1 %" : `${whole} %`;
}

/** Returns a number with its noun. */
export function count(number, noun) {
  return `${number.toLocaleString("en")} ${noun}${number === 1 ? "" : "s"}`;
}
