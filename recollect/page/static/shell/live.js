// What is new: while the page is looked at, the zone's numbers are asked for every few seconds.
// Nothing moves under the reader's eyes: a button shows the memory as it is now.

import { component, follow, html, signal } from "./component.js";
import { call, changes } from "./service.js";

const EVERY_MS = 4_000;
// Not the position in the ledger, which moves with every recall that is counted.
const COUNTED = ["events", "facts", "entities", "episodes", "observations"];

/** A button once something has changed. Property: `zone`. */
export const News = component((props, own) => {
  const fresh = signal(false);
  let known = null;
  let zone = null;
  let asking = false;

  async function look() {
    if (asking || document.hidden || fresh.value) return;
    asking = true;
    const asked = zone;
    try {
      const status = await call({ zone: asked, path: "/status" });
      const numbers = COUNTED.map((name) => status[name]).join(" ");
      if (asked !== zone) return;
      fresh.value = known !== null && known !== numbers;
      known = numbers;
    } catch {
      // The views say what is wrong; the next look may succeed.
    } finally {
      asking = false;
    }
  }

  // A command of the reader's own is no news, and neither is another zone.
  follow(own, () => {
    zone = props.value.zone;
    void changes.value;
    known = null;
    fresh.value = false;
  });
  const timer = setInterval(look, EVERY_MS);
  own(() => clearInterval(timer));
  look();

  return () => html`<div class="news" role="status">${fresh.value
    ? html`<button type="button" onClick=${() => (changes.value += 1)}>
        The memory has changed: show it as it is now</button>`
    : null}</div>`;
});
