// The co-occurrence graph of an entity: the entity in the centre, and around it those that share
// most facts with it. A list of the same entities follows, for screen readers.

import { hrefOf } from "../shell/address.js";
import { component, html } from "../shell/component.js";
import { visible } from "./texts.js";
import { count } from "./times.js";

const WIDE = 640;
const HIGH = 400;
const MIDDLE = { x: WIDE / 2, y: HIGH / 2 };

/** Properties: `name`; `found`: {related, links, total}. */
export const Graph = component((props) => () => {
  const { name, found } = props.value;
  const { related, links } = found;
  const most = Math.max(1, ...related.map((each) => each.facts));
  const places = new Map(
    related.map((each, at) => {
      const angle = (2 * Math.PI * at) / related.length - Math.PI / 2;
      const x = MIDDLE.x + 165 * Math.cos(angle);
      return [each.id, { x, y: MIDDLE.y + 165 * Math.sin(angle) }];
    }),
  );
  const line = (from, to, facts, key) =>
    html`<line key=${key} x1=${from.x} y1=${from.y} x2=${to.x} y2=${to.y}
      stroke-width=${0.5 + (2.5 * facts) / most} />`;
  return html`<svg class="graph" viewBox=${`0 0 ${WIDE} ${HIGH}`} role="img"
      aria-label=${`${count(related.length, "person or thing", "people and things")} around ${name}; a list follows`}>
      <g class="between">${links
        .filter(({ a, b }) => places.has(a) && places.has(b))
        .map(({ a, b, facts }) => line(places.get(a), places.get(b), facts, `${a} ${b}`))}</g>
      <g>${related.map((each) => line(MIDDLE, places.get(each.id), each.facts, each.id))}</g>
      <circle class="middle" cx=${MIDDLE.x} cy=${MIDDLE.y} r="7" />
      ${related.map((each) => {
        const { x, y } = places.get(each.id);
        const right = x > MIDDLE.x + 5;
        const left = x < MIDDLE.x - 5;
        return html`<g key=${each.id}>
          <circle cx=${x} cy=${y} r=${3 + (3 * each.facts) / most} />
          <text x=${x + (right ? 10 : left ? -10 : 0)} y=${right || left ? y + 4 : y < MIDDLE.y ? y - 11 : y + 19}
            text-anchor=${right ? "start" : left ? "end" : "middle"}>${short(each.name)}</text></g>`;
      })}
    </svg>
    <ul class="named" aria-label="Named together with">${related.map(
      (each) => html`<li key=${each.id}><a href=${hrefOf({ view: "people", id: each.id })}>
        <bdi class="text">${visible(each.name)}</bdi></a>
        <span class="quiet"> ${count(each.facts, "fact")}</span></li>`,
    )}</ul>
    ${found.total > related.length
      ? html`<p class="quiet">The first ${related.length} of ${found.total.toLocaleString("en")}.</p>`
      : null}`;
});

// SVG text has no bidirectional isolation, so directional marks are removed.
function short(name) {
  const plain = name.replace(/[\p{Cf}\p{Cc}]/gu, "");
  return plain.length > 18 ? `${plain.slice(0, 17)}…` : plain;
}
