// Presses of a button or a link. The click is lost if the element is moved or replaced before the
// pointer is released, so nothing that the service sends is shown until then.

const PRESSED = "button, a, summary";
// A tap becomes a click only some time after its release, in ms.
const TAP_MS = 50;

let released = Promise.resolve();
let release = () => {};

addEventListener("pointerdown", ({ target, button }) => {
  if (button !== 0 || !target.closest(PRESSED)) return;
  release();
  released = new Promise((resume) => (release = resume));
}, true);
for (const end of ["pointerup", "pointercancel", "blur"]) {
  addEventListener(end, () => setTimeout(release, TAP_MS));
}

/** Wait until no button or link is pressed. */
export const unpressed = () => released;
