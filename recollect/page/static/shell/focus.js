// The keyboard focus. If the control that has it is removed, as when a button is replaced by what it
// did, the nearest element around it that is still there gets the focus: Tab goes on from there.

// The element that last had the focus, and its ancestors, the nearest first.
let path = [];

addEventListener("focusin", ({ target }) => {
  path = [];
  for (let each = target; each; each = each.parentElement) path.push(each);
});

function restore() {
  if (document.activeElement !== document.body || !path.length || path[0].isConnected) return;
  const near = path.find((each) => each.isConnected);
  if (near === document.body || near === document.documentElement) return;
  if (!near.hasAttribute("tabindex")) {
    near.tabIndex = -1;
    near.addEventListener("blur", () => near.removeAttribute("tabindex"), { once: true });
  }
  near.focus({ preventScroll: true });
}

/** Keep the focus within an element. What moves it on purpose does so in the next frame. */
export function keepFocus(element) {
  const later = () => requestAnimationFrame(() => requestAnimationFrame(restore));
  new MutationObserver(later).observe(element, { childList: true, subtree: true });
}
