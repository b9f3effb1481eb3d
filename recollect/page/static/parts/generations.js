// The difference of two generations of a zone, or of a branch and its zone.

import { component, html } from "../shell/component.js";
import { memoryHref } from "./memories.js";
import { WordChanges } from "./difference.js";
import { Name, Text, names } from "./texts.js";
import { count } from "./times.js";

/** Properties: `difference`; `zone`: the zone of the added facts, if it is another one. */
export const GenerationDifference = component((props) => () => {
  const { difference } = props.value;
  const { gained, lost, changed, split, joined } = difference;
  return html`<div role="region" aria-label="Difference" class="difference">
    <p>${count(difference.facts_same, "fact")} the same,
      ${" "}${difference.facts_gained.toLocaleString("en")} gained,
      ${" "}${difference.facts_lost.toLocaleString("en")} lost,
      ${" "}${difference.facts_changed.toLocaleString("en")} changed;
      ${" "}${count(difference.entities_split, "entity", "entities")} split,
      ${" "}${difference.entities_joined.toLocaleString("en")} joined.</p>
    ${facts("Gained", gained, "added", "+")}
    ${facts("Lost", lost, "removed", "−")}
    ${changed.length
      ? html`<section aria-label="Changed"><h3>Changed</h3><ul class="rows">${changed.map(
          (each) => html`<li key=${each.id}><${WordChanges} before=${each.before} after=${each.after} />
            <span class="quiet">${each.changed_fields.join(", ")}</span></li>`)}</ul></section>`
      : null}
    ${entities("Split", split, "became")}
    ${entities("Joined", joined, "were")}
  </div>`;
});

function facts(title, found, mark, sign) {
  if (!found.length) return null;
  return html`<section aria-label=${title}><h3>${title}</h3>
    <ul class="changes">${found.map((each) => html`<li class=${mark} key=${each.id}>
      <span class="sign" aria-hidden="true">${sign}</span>
      <a href=${memoryHref("event", each.source_event_id)}><${Text} text=${each.text} limit=${240} /></a>
    </li>`)}</ul></section>`;
}

function entities(title, found, verb) {
  if (!found.length) return null;
  return html`<section aria-label=${title}><h3>${title}</h3>
    <ul class="rows">${found.map((each) => html`<li key=${each.name}><${Name} text=${each.name} /> ${verb}
      ${" "}${names(each.names)}</li>`)}</ul></section>`;
}
