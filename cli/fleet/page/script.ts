/** The script of the page: a search, everything unfolded in print, and the states of a run while it runs. */
export const SCRIPT = `
"use strict";
const field = document.getElementById("search");
const found = document.getElementById("found");
field.addEventListener("input", () => {
  const words = field.value.toLowerCase().split(/\\s+/).filter((word) => word !== "");
  let stacks = 0;
  const match = new Set();
  for (const section of document.querySelectorAll("section.stack")) {
    const text = section.textContent.toLowerCase();
    const isFound = words.every((word) => text.includes(word));
    if (isFound) { match.add(section.dataset.stack); stacks += 1; }
  }
  for (const one of document.querySelectorAll("[data-stack]")) one.hidden = !match.has(one.dataset.stack);
  for (const one of document.querySelectorAll("#dangers + ul > li")) one.hidden = one.querySelector("a:not([hidden])") === null;
  found.textContent = words.length === 0 ? "" : stacks === 1 ? "1 stack found" : stacks + " stacks found";
});
const open = (hash) => {
  const section = hash.length > 1 ? document.getElementById(hash.slice(1)) : null;
  const details = section === null ? null : section.querySelector("details");
  if (details !== null) details.open = true;
};
addEventListener("hashchange", () => open(location.hash));
open(location.hash);
let folded = [];
addEventListener("beforeprint", () => {
  folded = [...document.querySelectorAll("details:not([open])")];
  for (const one of folded) one.open = true;
});
addEventListener("afterprint", () => { for (const one of folded) one.open = false; });
if (document.body.dataset.live === "yes") {
  const say = document.getElementById("live");
  const events = new EventSource("events");
  events.addEventListener("message", ({ data }) => {
    const { stacks, gates, words } = JSON.parse(data);
    for (const one of document.querySelectorAll("[data-state-of]")) one.textContent = stacks[one.dataset.stateOf] ?? "not begun";
    for (const one of document.querySelectorAll("[data-gate-of]")) one.textContent = gates[one.dataset.gateOf] ?? "not begun";
    if (say.textContent !== words) say.textContent = words;
  });
  events.addEventListener("end", () => events.close());
  events.addEventListener("error", () => { say.textContent = "no connection to the run: it has ended, or tries again"; });
}
`;
