// What is new: while the page is looked at, the service sends the zone's status whenever it changes.
// Nothing moves under the reader's eyes: a button shows the memory as it is now.

import { component, follow, html, signal } from "./component.js";
import { changes, listen, token } from "./service.js";

// So long after the events have broken off, they are asked for again.
const AGAIN_MS = 4_000;
// Not the position in the ledger, which moves with every recall that is counted.
const COUNTED = ["events", "facts", "entities", "episodes", "observations"];

/** The status of the zone on display, as last sent; null before that. */
export const zoneStatus = signal(null);
/** Why it is not sent: a problem of the service; null otherwise. */
export const statusProblem = signal(null);

async function receive(request) {
  while (!request.signal.aborted) {
    try {
      await listen(request, (name, data) => {
        if (name === "status") zoneStatus.value = data;
        statusProblem.value = name === "status" ? null : data;
      });
    } catch (problem) {
      if (!request.signal.aborted) statusProblem.value = problem;
    }
    // A token that is not valid never becomes valid again.
    if (statusProblem.peek()?.status === 401) return;
    await new Promise((resume) => setTimeout(resume, AGAIN_MS));
  }
}

/** Receive the status of `zone()`, anew after each command, while the page is visible: a browser
 * opens few connections. */
function followStatus(own, zone) {
  const visible = signal(!document.hidden);
  const look = () => (visible.value = !document.hidden);
  document.addEventListener("visibilitychange", look);
  own(() => document.removeEventListener("visibilitychange", look));

  let running;
  let last;
  follow(own, () => {
    running?.abort();
    void changes.value;
    const asked = zone();
    const key = `${asked} ${token.value}`;
    if (key !== last) zoneStatus.value = statusProblem.value = null;
    last = key;
    if (!visible.value) return;
    running = new AbortController();
    receive({ zone: asked, path: "/status/stream", signal: running.signal });
  });
  own(() => running?.abort());
}

/** A button once something has changed. Property: `zone`. */
export const News = component((props, own) => {
  const fresh = signal(false);
  let known = null;

  followStatus(own, () => props.value.zone);
  // A command of the reader's own is no news, and neither is another zone. The status is sent anew
  // after both.
  follow(own, () => {
    void props.value.zone;
    void changes.value;
    known = null;
    fresh.value = false;
  });
  follow(own, () => {
    if (zoneStatus.value === null) return;
    const numbers = COUNTED.map((name) => zoneStatus.value[name]).join(" ");
    if (known !== null && known !== numbers) fresh.value = true;
    known = numbers;
  });

  return () => html`<div class="news" role="status">${fresh.value
    ? html`<button type="button" onClick=${() => (changes.value += 1)}>
        The memory has changed: show the current state</button>`
    : null}</div>`;
});
