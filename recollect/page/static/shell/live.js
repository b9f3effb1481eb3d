// What is new: while the page is looked at, the service sends the zone's status whenever it changes.
// Nothing moves under the reader's eyes: a button shows the memory as it is now.

import { component, follow, html, signal } from "./component.js";
import { changes, listen, token } from "./service.js";

// So long after the events have broken off, they are asked for again.
const AGAIN_MS = 4_000;
// Not the position in the ledger, which moves with every recall that is counted.
const COUNTED = ["events", "facts", "entities", "episodes", "observations"];

/**
 * Call `tell(status)` with the status of `zone()` now, after each command, and whenever it changes,
 * and `fail(problem)` if it cannot be asked. A page that is hidden is not told: a browser opens few connections.
 */
export function followStatus(own, zone, tell, fail) {
  const visible = signal(!document.hidden);
  const look = () => (visible.value = !document.hidden);
  document.addEventListener("visibilitychange", look);
  own(() => document.removeEventListener("visibilitychange", look));

  async function run(request) {
    while (!request.signal.aborted) {
      try {
        await listen(request, (name, data) => (name === "status" ? tell(data) : fail(data)));
      } catch (problem) {
        if (!request.signal.aborted) fail(problem);
      }
      await new Promise((resume) => setTimeout(resume, AGAIN_MS));
    }
  }

  let running;
  follow(own, () => {
    running?.abort();
    void token.value;
    void changes.value;
    const asked = zone();
    if (!visible.value) return;
    running = new AbortController();
    run({ zone: asked, path: "/status/stream", signal: running.signal });
  });
  own(() => running?.abort());
}

/** A button once something has changed. Property: `zone`. */
export const News = component((props, own) => {
  const fresh = signal(false);
  let known = null;

  // A command of the reader's own is no news, and neither is another zone. The status is sent again
  // then, since this runs before it is followed.
  follow(own, () => {
    void props.value.zone;
    void changes.value;
    known = null;
    fresh.value = false;
  });
  followStatus(
    own,
    () => props.value.zone,
    (status) => {
      const numbers = COUNTED.map((name) => status[name]).join(" ");
      fresh.value ||= known !== null && known !== numbers;
      known = numbers;
    },
    // The views say what is wrong.
    () => {},
  );

  return () => html`<div class="news" role="status">${fresh.value
    ? html`<button type="button" onClick=${() => (changes.value += 1)}>
        The memory has changed: show the current state</button>`
    : null}</div>`;
});
