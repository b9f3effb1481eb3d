// Entities: their types in words, their rows in lists, and the choice between namesakes.

import { hrefOf } from "../shell/address.js";
import { component, html } from "../shell/component.js";
import { load } from "../shell/service.js";
import { isId } from "./memories.js";
import { Refused, answered } from "./states.js";
import { Name, names } from "./texts.js";
import { count } from "./times.js";

const HANDLE = /_handle$/;
// How a problem names an entity that is not the only one of its name.
const AMBIGUOUS = /^(['"])(.*)\1 is the name of \d+ entities/s;
// Maximum number of entities among which namesakes are looked for.
const LISTED = 100;

/** Return the type of an entity in words. */
export function typeInWords(type) {
  if (type === "unknown") return "unknown type";
  return HANDLE.test(type) ? `${type.replace(HANDLE, "").replaceAll("_", " ")} account` : type;
}

/** Return accounts as platform and handle. */
export const accountsOf = (handles) => handles.map(({ platform, handle }) => `${platform} ${handle}`);

/** The other names and the accounts of an entity. */
export function others({ aliases, handles }) {
  const other = aliases.filter((alias) => !handles.some(({ handle }) => handle === alias));
  return names([...other, ...accountsOf(handles)]);
}

/** An entity in a list. `href`: its link. */
export function entityRow(entity, href = hrefOf({ view: "people", id: entity.id })) {
  return html`<li key=${entity.id} class="entity">
    <a href=${href}><${Name} text=${entity.name} /></a>
    <span class="kind">${typeInWords(entity.type)}</span>
    <span class="number">${count(entity.facts, "fact")}</span>
    <span class="number">${count(entity.mentions, "mention")}</span>
    <span class="quiet also">${others(entity)}</span>
  </li>`;
}

/**
 * A problem with the name of an entity; if several have it, they can be chosen. Properties: `zone`,
 * `problem`, `href(id, name)`: the address with the id of one of them in place of the name.
 */
export const EntityProblem = component((props) => () => {
  const { zone, problem, href } = props.value;
  const name = AMBIGUOUS.exec(problem.detail)?.[2];
  return name
    ? html`<${Namesakes} key=${name} zone=${zone} problem=${problem} name=${name} href=${href} />`
    : html`<${Refused} problem=${problem} />`;
});

const Namesakes = component((props, own) => {
  const found = load(own, () => {
    const { zone, name } = props.value;
    return { zone, path: "/entities", query: { query: name, limit: LISTED } };
  });
  return () =>
    answered(found, ({ entities }) => {
      const { name, problem, href } = props.value;
      const same = entities.filter((each) => [each.name, ...each.aliases].some(
        (other) => other.toLowerCase() === name.toLowerCase()));
      if (same.length < 2) return html`<${Refused} problem=${problem} />`;
      return html`<p role="alert"><${Name} text=${name} /> is the name of ${same.length} people or things. Which
          one do you mean?</p>
        <ul class="rows" aria-label="Namesakes">${same.map((each) => entityRow(each, href(each.id, name)))}</ul>`;
    });
});

/** The entity that an id in a field stands for. Properties: `zone`, `id`: an id, or a name. */
export const Chosen = component((props, own) => {
  const found = load(own, () => {
    const { zone, id } = props.value;
    return isId(id) ? { zone, path: `/entities/${id}` } : null;
  });
  return () => {
    const { data } = found.value;
    return data
      ? html`<p>Chosen: <a href=${hrefOf({ view: "people", id: data.id })}><${Name} text=${data.name} /></a>
          <span class="quiet"> (${names([typeInWords(data.type), ...accountsOf(data.handles)])})</span></p>`
      : null;
  };
});
