// Suggestions for a field that takes the name of a person or thing.

import { component, html } from "../shell/component.js";
import { load } from "../shell/service.js";

// Maximum number of suggested names.
const SUGGESTED = 8;

/** The <datalist> of a field. Properties: `id`: its id, `zone`, `typed`: what the field holds. */
export const EntityNames = component((props, own) => {
  const found = load(own, () => {
    const { zone, typed } = props.value;
    return typed ? { zone, path: "/entities", query: { query: typed, limit: SUGGESTED } } : null;
  });
  return () => html`<datalist id=${props.value.id}>${found.value.data?.entities.map(
    ({ id, name }) => html`<option key=${id} value=${name}></option>`)}</datalist>`;
});
