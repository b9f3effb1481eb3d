// Memories of every kind: their addresses, requests, and entries in lists.

import { hrefOf } from "../shell/address.js";
import { component, html, signal } from "../shell/component.js";
import { load } from "../shell/service.js";
import { quotesOf } from "./quotes.js";
import { answered } from "./states.js";
import { Name, Text } from "./texts.js";
import { time } from "./times.js";

const VIEWS = {
  entity: "people",
  event: "memory",
  fact: "memory",
  observation: "observations",
  mental_model: "models",
};
export const KINDS = {
  entity: "entity",
  event: "message",
  fact: "fact",
  observation: "observation",
  mental_model: "mental model",
};

/** Return the address of a memory's page. */
export function memoryHref(type, id) {
  return hrefOf({ view: VIEWS[type] ?? "memory", id });
}

/** Return whether a text is an id. */
export const isId = (text) => /^[0-9A-HJKMNP-TV-Z]{26}$/.test(text ?? "");

/** Return the path of a memory in its zone. */
export function memoryPath(id) {
  return `/memories/${encodeURIComponent(id)}`;
}

/** Return the request that retracts or restores a memory. */
export function retraction(zone, id, restore) {
  return { zone, path: `${memoryPath(id)}/retract`, method: "POST", body: restore ? { restore } : {} };
}

/** Return the request for the facts of messages, superseded ones included. */
export function factsFrom(zone, eventIds, limit) {
  const query = { scope: "facts", superseded: true, limit, source_event_ids: eventIds };
  return { zone, path: "/memories", query };
}

// What the description of a step names by an id or a number, and times.
const REFERENCE =
  /\b(fact|event|observation|mental model) ([0-9A-HJKMNP-TV-Z]{26})\b|\brecord (\d+)\b|(\d{4}-\d\d-\d\dT[\d:]{8}\.\d{3}Z)/g;
// The sender and the time before a quoted message.
const SAID = /^(.{0,200}?, )(\d{4}-\d\d-\d\dT[\d:]{8}\.\d{3}Z): /;

/** Return the description of a step, with links in place of ids. */
function linked(description) {
  const parts = [];
  let done = 0;
  for (const match of description.matchAll(REFERENCE)) {
    const [found, type, id, number, at] = match;
    parts.push(html`<${Text} text=${description.slice(done, match.index)} />`);
    if (at) parts.push(time(at));
    else if (number) parts.push(html`<a href=${hrefOf({ view: "ledger", id: number })}>${found}</a>`);
    // Not every event has a page.
    else if (type === "event") parts.push(html`<span title=${id}>the ${type}</span>`);
    else parts.push(html`${type === "observation" ? "an" : "a"} <a href=${memoryHref(type.replace(" ", "_"), id)}>${type}</a>`);
    done = match.index + found.length;
  }
  return [...parts, html`<${Text} text=${description.slice(done)} />`];
}

const dated = (detail) => detail.replace(SAID, (_, sender, at) => `${sender}${time(at)}: `);

/** How a fact ended; null if it holds. */
export function ending({ current, retracted }) {
  if (retracted) return html`<span class="flag">retracted</span>`;
  return current ? null : html`<span class="flag">no longer so</span>`;
}

/** The provenance of a memory, down to its messages. Properties: `id`, `zone`. */
export const Sources = component((props, own) => {
  const found = load(own, () => ({
    zone: props.value.zone,
    path: `${memoryPath(props.value.id)}/why`,
  }));
  return () =>
    answered(
      found,
      (why) => html`<ol class="steps">${why.steps.map(
        (step, at) => html`<li key=${at}>${linked(step.description)}
          ${step.details?.length
            ? html`<ul>${step.details.map((each) => html`<li><${Text} text=${dated(each)} /></li>`)}</ul>`
            : null}</li>`,
      )}</ol>`,
    );
});

/** The source messages of a fact, with its words marked. Properties: `zone`, `id`, `text`. */
export const Evidence = component((props, own) => {
  const fact = load(own, () => ({
    zone: props.value.zone,
    path: memoryPath(props.value.id),
  }));
  const said = load(own, () => {
    const ids = fact.value.data?.source_event_ids ?? [];
    return ids.length
      ? {
          zone: props.value.zone,
          path: "/memories",
          query: { scope: "events", source_event_ids: ids, limit: 20 },
        }
      : null;
  });
  return () =>
    answered(fact, ({ text }) => html`${said.value.data?.memories.map(
      (message) => html`<blockquote key=${message.id}>
        <${Text} text=${message.text}
          marks=${[...quotesOf(props.value.text, message.text), ...quotesOf(text, message.text)]} />
        <footer class="about">${attribution(message)}
          <a href=${memoryHref("event", message.id)}>Open</a></footer></blockquote>`,
    )}`);
});

/** A <details> rendered when first opened. Properties: `summary`, `children`: a function. */
export const Fold = component((props) => {
  const open = signal(false);
  return () => html`<details class="fold" open=${open.value}
    onToggle=${(event) => (open.value = event.currentTarget.open)}>
    <summary>${props.value.summary}</summary>
    ${open.value ? props.value.children() : null}
  </details>`;
});

/** Sender, place and time, on one line. */
export function attribution({ sender_name, said_by, platform, as_of }) {
  const who = sender_name ?? said_by;
  return html`<span class="attribution">${who ? html`<${Name} text=${who} />, ` : null}${
    platform ? html`${platform}, ` : null}<time datetime=${as_of}>${time(as_of)}</time></span>`;
}
