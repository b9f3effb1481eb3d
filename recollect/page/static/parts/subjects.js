// What a command is about, by name: memories, directives, people and things, and the two of a merge.

import { hrefOf } from "../shell/address.js";
import { component, html } from "../shell/component.js";
import { load } from "../shell/service.js";
import { memoryHref, memoryPath } from "./memories.js";
import { Name, Text } from "./texts.js";
import { count } from "./times.js";

// Maximum number of memories that are named for one command.
const NAMED = 5;
// Maximum number of entries of a list that is searched for one of them.
const MAX_LISTED = 1000;
const MEMORIES = ["set_memory_state", "archive_memories", "update_mental_model"];
const MERGES = ["propose_merge", "decide_merge", "undo_merge"];

/** What a command is about, as links. Properties: `zone`, `record`, a listed record. */
export const Subjects = component((props) => () => {
  const { zone, record } = props.value;
  const { kind, about, id } = record;
  if (kind === "remember") {
    return html`<p><a href=${memoryHref("event", id)}><${Text} text=${record.text ?? ""} /></a></p>`;
  }
  if (MERGES.includes(kind)) return html`<${Merge} zone=${zone} kind=${kind} about=${about} />`;
  if (kind === "retract") {
    const [target, replacement] = about;
    return html`<${Retracted} zone=${zone} id=${target} />${replacement
      ? html`<p><span class="quiet">replaced by </span><${Memory} zone=${zone} id=${replacement} /></p>` : null}`;
  }
  if (kind === "refresh_mental_model") return html`<p><${Entity} zone=${zone} id=${about.at(-1)} /></p>`;
  if (!MEMORIES.includes(kind) || !about.length) return null;
  return html`<ul>${about.slice(0, NAMED).map((each) => html`<li key=${each}><${Memory} zone=${zone} id=${each} /></li>`)}
    ${about.length > NAMED ? html`<li class="quiet">and ${count(about.length - NAMED, "more", "more")}</li>` : null}</ul>`;
});

const Memory = component((props, own) => {
  const found = load(own, () => ({ zone: props.value.zone, path: memoryPath(props.value.id) }));
  return () => found.value.data && memoryLink(found.value.data);
});

function memoryLink({ type, id, name, text }) {
  return html`<a href=${memoryHref(type, id)}>${name
    ? html`<${Name} text=${name} />` : html`<${Text} text=${text} limit=${240} />`}</a>`;
}

const Entity = component((props, own) => {
  const found = load(own, () => ({ zone: props.value.zone, path: `/entities/${props.value.id}` }));
  return () => found.value.data && entityLink(props.value.id, found.value.data.name);
});

const entityLink = (id, name) => html`<a href=${hrefOf({ view: "people", id })}><${Name} text=${name} /></a>`;

/**
 * Return a function that returns what a command retracted, {memory} or {directive}; null until it is
 * known, and if it was forgotten. `request()` returns {zone, id}, or null for none.
 */
export function retracted(own, request) {
  const memory = load(own, () => {
    const wanted = request();
    return wanted && { zone: wanted.zone, path: memoryPath(wanted.id) };
  });
  const directives = load(own, () =>
    memory.value.problem?.status === 404
      ? { zone: request().zone, path: "/directives", query: { superseded: "true", limit: MAX_LISTED } }
      : null,
  );
  return () => {
    if (memory.value.data) return { memory: memory.value.data };
    const directive = directives.value.data?.directives.find(({ id }) => id === request().id);
    return directive ? { directive } : null;
  };
}

const Retracted = component((props, own) => {
  const found = retracted(own, () => props.value);
  return () => {
    const { memory, directive } = found() ?? {};
    if (memory) return html`<p>${memoryLink(memory)}</p>`;
    return directive
      ? html`<p><a href=${hrefOf({ view: "directives", params: { superseded: "1" } })}>
          <${Text} text=${directive.text} limit=${240} /></a></p>`
      : null;
  };
});

/** The two that a merge is about, by their names before it. */
const Merge = component((props, own) => {
  const found = load(own, () => {
    const { zone, kind, about } = props.value;
    return kind === "propose_merge"
      ? { zone, path: "/merges", query: { entity: about[0], limit: MAX_LISTED } }
      : { zone, path: `/merges/${encodeURIComponent(about[0])}` };
  });
  return () => {
    const { kind, about } = props.value;
    const { data } = found.value;
    const merge = kind === "propose_merge"
      ? data?.merges.find(({ a_id, b_id }) => about.includes(a_id) && about.includes(b_id))
      : data;
    if (!merge) return null;
    const link = (id, name) => merge.of === "facts"
      ? html`<a href=${memoryHref("fact", id)}><${Text} text=${name} limit=${240} /></a>`
      : entityLink(id, name);
    return html`<p>${link(merge.a_id, merge.a)} and ${link(merge.b_id, merge.b)}
      ${" "}<a class="quiet" href=${hrefOf({ view: "merges", params: {
        status: merge.status, entity: merge.of === "facts" ? "" : merge.a_id } })}>${STATES[merge.status]}</a></p>`;
  };
});

const STATES = {
  pending: "still pending",
  merged: "now merged",
  rejected: "kept separate",
  undone: "separate again",
};
