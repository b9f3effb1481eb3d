// Placeholders of a view: a problem, loading, an empty list.

import { component, html } from "../shell/component.js";

/** A problem of the service. */
export const Refused = component(
  (props) => () =>
    html`<div class="problem" role="alert">
      <strong>${props.value.problem.title}${props.value.problem.detail ? ":" : "."}</strong>
      ${" "}${props.value.problem.detail}
      ${props.value.problem.request_id
        ? html`<span class="quiet"> Request ${props.value.problem.request_id}</span>`
        : null}
    </div>`,
);

/** Render `draw(data)` once there is an answer; before that, loading or the problem. */
export function answered(found, draw, refused = (problem) => html`<${Refused} problem=${problem} />`) {
  const { data, problem, loading } = found.value;
  if (problem) return refused(problem);
  if (data === null) return loading ? html`<p class="quiet" role="status">Loading…</p>` : null;
  return html`<div class=${loading ? "loading" : ""} aria-busy=${loading ? "true" : "false"}>
    ${draw(data)}
  </div>`;
}

/** The line for an empty list. */
export const nothing = (text) => html`<p class="quiet empty">${text}</p>`;
