// Differences: of two lists, of two texts by word, and unified diffs.

import { component, html } from "../shell/component.js";
import { count } from "./times.js";
import { Text, visible } from "./texts.js";

const SIGNS = { added: "+", removed: "−", changed: "~", kept: " " };

/**
 * Items added, removed and changed between two lists. Properties: `before`, `after`: lists of
 * {id, text, href, state}; `then`, `now`: labels of the two moments; `limit`: the number of items
 * compared from each list, if there are more.
 */
export const Difference = component((props) => () => {
  const { before, after, then, now, limit = 0 } = props.value;
  const had = new Map(before.map((each) => [each.id, each]));
  const has = new Map(after.map((each) => [each.id, each]));
  const gone = before.filter((each) => !has.has(each.id));
  const come = after.filter((each) => !had.has(each.id));
  const changed = after.filter((each) => had.has(each.id) && had.get(each.id).state !== each.state);
  const part = (title, found, mark) =>
    html`<section aria-label=${title}>
      <h2>${title} <span class="quiet">${found.length}</span></h2>
      <ul class="changes">${found.map(
        (each) => html`<li class=${mark} key=${each.id}>
          <span class="sign" aria-hidden="true">${SIGNS[mark]}</span>
          <span><a href=${each.href}><${Text} text=${each.text} limit=${240} /></a>
            ${each.state ? html` <span class="quiet">${each.state}</span>` : null}</span></li>`,
      )}</ul>
    </section>`;
  return html`<div class="difference" role="region" aria-label="Difference">
    <p class="quiet">From ${then} to ${now}: ${count(come.length, "item")} more,
      ${" "}${count(gone.length, "item")} fewer, ${count(changed.length, "item")} changed,
      ${" "}${count(after.length - come.length - changed.length, "item")} the same.
      ${limit ? ` Only the first ${limit.toLocaleString("en")} of each were compared.` : ""}</p>
    ${come.length ? part(`Only ${now}`, come, "added") : null}
    ${gone.length ? part(`Only ${then}`, gone, "removed") : null}
    ${changed.length ? part("Changed", changed.map(
      (each) => ({ ...each, state: changeOf(had.get(each.id), each) })), "changed") : null}
  </div>`;
});

const changeOf = (before, after) => `${before.state || "current"}, then ${after.state || "current"}`;

/** A unified diff. */
export const UnifiedLines = component(
  (props) => () =>
    html`<ul class="changes">${props.value.lines
      .filter((line) => !/^(---|\+\+\+|@@)/.test(line))
      .map((line, at) => {
        const mark = line[0] === "+" ? "added" : line[0] === "-" ? "removed" : "kept";
        return html`<li class=${mark} key=${at}>
          <span class="sign">${SIGNS[mark]}</span><${Text} text=${line.slice(1)} limit=${2000} /></li>`;
      })}</ul>`,
);

/** Two texts merged into one, with removed and added words marked. */
export const WordChanges = component(
  (props) => () =>
    html`<p class="words"><bdi>${wordChanges(props.value.before, props.value.after).map(
      ([mark, text]) =>
        mark === "same"
          ? visible(text)
          : mark === "added"
            ? html`<ins>${visible(text)}</ins>`
            : html`<del>${visible(text)}</del>`,
    )}</bdi></p>`,
);

// The comparison takes time and memory proportional to the product of the word counts.
const MAX_CELLS = 4_000_000;

/** Return [mark, text] parts, by longest common subsequence; marks: same, added, removed. */
export function wordChanges(before, after) {
  const a = before.split(/(?<=\s)/);
  const b = after.split(/(?<=\s)/);
  if (a.length * b.length > MAX_CELLS) return [["removed", before], ["added", after]];
  const wide = b.length + 1;
  const common = new Uint16Array((a.length + 1) * wide);
  for (let i = a.length - 1; i >= 0; i--) {
    for (let j = b.length - 1; j >= 0; j--) {
      common[i * wide + j] =
        a[i] === b[j]
          ? common[(i + 1) * wide + j + 1] + 1
          : Math.max(common[(i + 1) * wide + j], common[i * wide + j + 1]);
    }
  }
  const parts = [];
  const add = (mark, text) => {
    if (parts.at(-1)?.[0] === mark) parts.at(-1)[1] += text;
    else parts.push([mark, text]);
  };
  let i = 0;
  let j = 0;
  while (i < a.length || j < b.length) {
    if (i < a.length && j < b.length && a[i] === b[j]) {
      add("same", a[i]);
      i += 1;
      j += 1;
    } else if (j === b.length || (i < a.length && common[(i + 1) * wide + j] >= common[i * wide + j + 1])) {
      add("removed", a[i++]);
    } else {
      add("added", b[j++]);
    }
  }
  return parts;
}
