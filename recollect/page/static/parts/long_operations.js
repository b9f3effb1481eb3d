// Long-running operations: started by a command, and followed until they end.

import { component, html, signal } from "../shell/component.js";
import { call, changes, token, urlOf } from "../shell/service.js";
import { Refused } from "./states.js";
import { count } from "./times.js";

const ENDED = ["succeeded", "failed", "cancelled", "interrupted"];

/**
 * Follow an operation by the events that the service sends; `tell` gets each state. The request
 * carries the token in its header, which an EventSource could not.
 */
export async function watch(zone, id, tell, stop) {
  const response = await fetch(urlOf({ zone, path: `/operations/${id}/progress` }), {
    headers: {
      accept: "text/event-stream",
      ...(token.value ? { authorization: `Bearer ${token.value}` } : {}),
    },
    signal: stop,
    credentials: "omit",
    cache: "no-store",
  });
  if (!response.ok) return;
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let text = "";
  for (;;) {
    const { value, done } = await reader.read();
    if (done) return;
    text += value.replaceAll("\r\n", "\n");
    for (let end; (end = text.indexOf("\n\n")) >= 0; text = text.slice(end + 2)) {
      const lines = text.slice(0, end).split("\n");
      const named = (name) =>
        lines.filter((line) => line.startsWith(`${name}:`)).map((line) => line.slice(name.length + 1).trim());
      if (named("event")[0] === "operation") tell(JSON.parse(named("data").join("\n")));
    }
  }
}

/** Return an operation of a view: {now, problem, start, outcome}; `now` is its state, or null. */
export function longOperation(own) {
  const now = signal(null);
  const problem = signal(null);
  const stopping = new AbortController();
  own(() => stopping.abort());

  async function start(zone, path, body = {}) {
    problem.value = null;
    now.value = null;
    try {
      now.value = await call({ zone, path, method: "POST", body });
      const { id } = now.value;
      await watch(zone, id, (found) => (now.value = found), stopping.signal);
      now.value = await call({ zone, path: `/operations/${id}`, signal: stopping.signal });
      changes.value += 1;
    } catch (error) {
      if (!stopping.signal.aborted) problem.value = error;
    }
  }

  const outcome = (zone, draw) => html`<div class="outcome">
    ${now.value ? html`<${Operation} zone=${zone} operation=${now.value} />` : null}
    ${now.value?.state === "succeeded" ? draw?.(now.value.result) : null}
    ${problem.value ? html`<${Refused} problem=${problem.value} />` : null}
  </div>`;

  return { now, problem, start, outcome, busy: () => now.value !== null && !ENDED.includes(now.value.state) };
}

const STATES = {
  queued: "waits for the one before it",
  running: "runs",
  succeeded: "has succeeded",
  failed: "has failed",
  cancelled: "was cancelled",
  interrupted: "was interrupted",
};

/** The line of an operation, with its progress. Properties: `zone`, `operation`. */
export const Operation = component((props) => () => {
  const { zone, operation } = props.value;
  const { id, kind, state, done, total, detail } = operation;
  const running = !ENDED.includes(state);
  const cancel = () => call({ zone, path: `/operations/${id}/cancel`, method: "POST", body: {} });
  return html`<div class="operation" role="status">
    <span>${kind} ${STATES[state]}${detail ? `: ${detail}` : ""}</span>
    ${running
      ? html` <progress aria-label=${`Progress of ${kind}`} value=${total ? done : undefined}
            max=${total ?? 1}></progress>
          <span class="quiet">${total ? `${done.toLocaleString("en")} of ` : ""}${count(total ?? done, "record")}</span>
          <button type="button" onClick=${cancel}>Cancel</button>`
      : null}
  </div>`;
});
