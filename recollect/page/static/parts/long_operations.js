// Long-running operations: started by a command, and followed to their end.

import { component, html, signal } from "../shell/component.js";
import { call, changes, listen } from "../shell/service.js";
import { Refused } from "./states.js";
import { count } from "./times.js";

const ENDED = ["succeeded", "failed", "cancelled", "interrupted"];
// Delay before an operation is followed again after its event stream broke off, in ms.
const AGAIN_MS = 1_000;

/** Return the operation of a view: {start, outcome, busy}. It is followed to its end. */
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
      // The event stream may break off before the operation ends.
      for (;;) {
        const request = { zone, path: `/operations/${id}/progress`, signal: stopping.signal };
        await listen(request, (name, found) => {
          if (name === "operation") now.value = found;
        });
        now.value = await call({ zone, path: `/operations/${id}`, signal: stopping.signal });
        if (ENDED.includes(now.value.state)) break;
        await new Promise((resume) => setTimeout(resume, AGAIN_MS));
      }
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

  const busy = () =>
    problem.value === null && now.value !== null && !ENDED.includes(now.value.state);

  return { start, outcome, busy };
}

const KINDS = { verify: "verification", rebuild: "rebuild", rollback: "rollback" };
const STATES = {
  queued: "waits for the one before it",
  running: "runs",
  succeeded: "has succeeded",
  failed: "has failed",
  cancelled: "was cancelled",
  interrupted: "was interrupted",
};

/** The state and progress of an operation. Properties: `zone`, `operation`. */
export const Operation = component((props) => () => {
  const { zone, operation } = props.value;
  const { id, kind, state, done, total, detail } = operation;
  const running = !ENDED.includes(state);
  const cancel = () => call({ zone, path: `/operations/${id}/cancel`, method: "POST", body: {} });
  const name = KINDS[kind] ?? kind.replaceAll("_", " ");
  // Only the state is announced; the numbers change several times a second.
  return html`<div class="operation">
    <span role="status">The ${name} ${STATES[state]}${detail ? `: ${detail}` : ""}.</span>
    ${running
      ? html` <progress aria-label=${`Progress of the ${name}`} value=${total ? done : undefined}
            max=${total ?? 1}></progress>
          <span class="quiet">${total ? `${done.toLocaleString("en")} of ` : ""}${count(total ?? done, "record")}</span>
          <button type="button" onClick=${cancel}>Cancel</button>`
      : null}
  </div>`;
});
