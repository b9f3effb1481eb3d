// The command and the URL that return the answer of the current view.

import { component, html, signal } from "./component.js";
import { address } from "./address.js";
import { call, urlOf } from "./service.js";

/** The query of the current view: {command, request}; null if it has none. */
export const shown = signal(null);

/** Set the query: the arguments of `recollect`, and a request. */
export function sameAs(command, request) {
  shown.value = { command, request };
}

/** Quote an argument for a shell. */
export function quoted(word) {
  const text = String(word);
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;
}

/** Return the arguments of an option; none without a value. */
export function option(name, value) {
  return value === undefined || value === null || value === "" ? [] : [name, value];
}

export const SameAnswer = component(() => {
  const json = signal(null);
  let of = null;

  async function show() {
    json.value = "…";
    try {
      json.value = JSON.stringify(await call(of.request), null, 2);
    } catch (problem) {
      json.value = problem.message;
    }
  }

  return () => {
    const { value } = shown;
    if (value === null) return null;
    if (of !== value) {
      of = value;
      json.value = null;
    }
    const { command, request } = value;
    const words = ["recollect", "--zone", address.value.zone, ...command].map(quoted).join(" ");
    const body = request.body === undefined ? "" : ` -d ${quoted(JSON.stringify(request.body))}`;
    const url = urlOf(request);
    return html`<details class="same">
      <summary>The same answer elsewhere</summary>
      <dl>
        <dt>Command</dt>
        <dd><code>${words}</code></dd>
        <dt>HTTP</dt>
        <dd><code>${request.method ?? "GET"} ${url}${body}</code></dd>
      </dl>
      <button type="button" onClick=${show}>Show the JSON</button>
      ${json.value === null ? null : html`<pre class="json" tabindex="0">${json.value}</pre>`}
    </details>`;
  };
});
