// Live status: while the page is visible, the service sends the zone's status whenever it changes.
// A view is not updated by itself: a button reloads it.

import { component, follow, html, signal } from "./component.js";
import { access, call, changes, commanding, listen, token } from "./service.js";

// Delay before the event stream is reopened after it broke off, in ms.
const AGAIN_MS = 4_000;
// The interval at which the list of zones is read again, in ms.
const ZONES_MS = 30_000;
// A new number of these is a change. Other records, such as a retraction, change no number.
const COUNTED = ["events", "facts", "entities", "episodes", "observations"];

// Records that change nothing that a view shows; every recall adds one.
const UNSEEN = new Set(["recalled", "tick"]);
const MAX_RECORDS = 100;

/** The latest status of the current zone; null before the first. */
export const zoneStatus = signal(null);
/** The problem that stopped the stream; null if there is none. */
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
    // An invalid token never becomes valid again.
    if (statusProblem.peek()?.status === 401) return;
    await new Promise((resume) => setTimeout(resume, AGAIN_MS));
  }
}

/** Receive the status of `zone()` while the page is visible, since browsers limit connections.
 * Each command reopens the stream. */
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

/** Read the list of zones again after each command, and regularly while the page is visible: a zone
 * may stall, or go on. */
export function followZones(own) {
  async function read() {
    if (document.hidden || access.peek() === null) return;
    // Without an answer the last one stays; the next request of a view reports the problem.
    const found = await call({ path: "/v1/access" }).catch(() => access.peek());
    if (JSON.stringify(found) !== JSON.stringify(access.peek())) access.value = found;
  }

  const timer = setInterval(read, ZONES_MS);
  own(() => clearInterval(timer));
  const known = changes.peek();
  follow(own, () => {
    if (changes.value !== known) read();
  });
}

/** Return the number of the last record whose decision a status includes. */
function decidedIn(status) {
  return status.models.find((file) => file.model === "memory")?.watermark ?? 0;
}

/** Return whether one of the records after number `from`, up to `to`, may change a view. */
async function hasChange(zone, from, to) {
  if (to - from > MAX_RECORDS) return true;
  const query = { first: from + 1, limit: MAX_RECORDS };
  const found = await call({ zone, path: "/records", query }).catch(() => null);
  return found !== null && found.records.some((each) => each.number <= to && !UNSEEN.has(each.kind));
}

/** The reload button, shown after a change. Property: `zone`. */
export const News = component((props, own) => {
  const fresh = signal(false);
  let known = null;

  followStatus(own, () => props.value.zone);
  // The user's own commands and a change of zone do not count. The stream is reopened after both.
  follow(own, () => {
    void props.value.zone;
    void changes.value;
    known = null;
    fresh.value = false;
  });
  follow(own, () => {
    const status = zoneStatus.value;
    if (status === null) return;
    const numbers = COUNTED.map((name) => status[name]).join(" ");
    const decided = decidedIn(status);
    const before = known;
    const now = (known = { numbers, decided });
    if (before === null || fresh.peek()) return;
    if (before.numbers !== numbers) fresh.value = true;
    else if (decided > before.decided) {
      hasChange(props.peek().zone, before.decided, decided).then((changed) => {
        // A later status or a reload may have come meanwhile; only the reload makes this old.
        if (changed && known !== null && known.decided >= now.decided) fresh.value = true;
      });
    }
  });

  return () => html`<div class="news" role="status">${fresh.value && !commanding.value
    ? html`<button type="button" onClick=${() => (changes.value += 1)}>
        The memory has changed: show the current state</button>`
    : null}</div>`;
});
