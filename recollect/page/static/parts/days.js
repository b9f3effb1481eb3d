// The facts of the timeline by day: as a list, and as items of a `Difference`.

import { html } from "../shell/component.js";
import { attribution, memoryHref } from "./memories.js";
import { Text } from "./texts.js";

/** The facts of a day. */
export function dayFacts(items) {
  return html`<ul>${items.map(
    (item) => html`<li key=${item.id} class=${item.current ? "" : "over"}>
      <a href=${memoryHref("fact", item.id)}><${Text} text=${item.text} /></a>
      <div class="about">${attribution(item)}
        ${item.dated_by === "when" ? html`<span class="quiet">names this day</span>` : null}
        ${item.current ? null : html`<span class="flag">no longer so</span>`}
        ${item.superseded_by
          ? html`<a href=${memoryHref("fact", item.superseded_by.id)}>replaced</a>`
          : null}
      </div></li>`,
  )}</ul>`;
}

/** Return the facts of a page as items of a `Difference`. */
export function itemsOf(page) {
  return page.days.flatMap(({ items }) =>
    items.map(({ id, text, current }) => ({
      id,
      text,
      href: memoryHref("fact", id),
      state: current ? "" : "no longer so",
    })),
  );
}
