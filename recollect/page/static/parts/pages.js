// A virtual list: pages are fetched as they come near the viewport, and replaced by empty space of
// their height once they are far away. After a change, the same pages are fetched again; until they
// are all there, the previous ones stay, and rows that are in both keep their elements.

import { component, html, signal } from "../shell/component.js";
import { effect, untracked } from "../vendor/signals-core.mjs";
import { changes, query, token } from "../shell/service.js";
import { Refused, nothing } from "./states.js";

const NEAR = "1200px 0px";

/**
 * Properties: `request`: the request for the first page; `entries(answer)`: the entries of an
 * answer; `row(entry)`: an entry's <li>; `empty`: the line for an empty list; `label`: the list's
 * name.
 */
export const Pages = component((props, own) => {
  const pages = signal([]);
  const cursor = signal("");
  const problem = signal(null);
  const loading = signal(false);
  let round = 0;
  let fetches = 0;
  let shown = "";
  let version = "";

  /** Fetch pages from `at` on and append them to `before`, until there are as many as `wanted`. */
  async function fetchPages(before, at, wanted) {
    const mine = round;
    loading.value = true;
    const { request, entries } = props.value;
    let found = before;
    try {
      while (found.length < wanted && at !== null) {
        const asked = { ...request.query, ...(at ? { cursor: at } : {}) };
        const answer = await query({ ...request, query: asked });
        if (mine !== round) return;
        // An empty page need not be the last.
        const next = entries(answer);
        if (next.length) found = [...found, { at: found.length, found: next }];
        at = answer.cursor ?? null;
      }
      fetches += 1;
      pages.value = found;
      cursor.value = at;
    } catch (error) {
      if (mine !== round) return;
      problem.value = error;
    }
    loading.value = false;
  }

  function more() {
    if (!loading.value && !problem.value) fetchPages(pages.value, cursor.value, pages.value.length + 1);
  }

  own(
    effect(() => {
      const asked = JSON.stringify([props.value.request, token.value]);
      const wanted = `${changes.value} ${asked}`;
      if (wanted === version) return;
      version = wanted;
      untracked(() => {
        round += 1;
        if (asked !== shown) {
          shown = asked;
          pages.value = [];
          cursor.value = "";
        }
        problem.value = null;
        fetchPages([], "", Math.max(pages.value.length, 1));
      });
    }),
  );
  own(() => (round += 1));

  return () => {
    const { row, empty, label } = props.value;
    if (problem.value) return html`<${Refused} problem=${problem.value} />`;
    if (!pages.value.length && cursor.value === null) return nothing(empty);
    return html`<div class="pages" aria-busy=${loading.value ? "true" : "false"}>
      ${pages.value.map(
        (page) => html`<${Chunk} key=${page.at} page=${page} row=${row}
          label=${page.at ? `${label}, continued` : label} />`,
      )}
      ${cursor.value === null
        ? null
        : html`<${Near} key=${`end ${fetches}`} near=${more}>
            <button type="button" class="plain" onClick=${more}>
              ${loading.value ? "Loading…" : "More"}</button></${Near}>`}
    </div>`;
  };
});

const Chunk = component((props, own) => {
  const near = signal(true);
  let height = 0;
  let element = null;
  const watch = watcher(own, (visible) => {
    // A page that contains the focus is kept.
    if (!visible && element.contains(document.activeElement)) return;
    if (!visible) height = element.offsetHeight;
    near.value = visible;
  });

  return () => {
    const { page, row, label } = props.value;
    return html`<div ref=${(found) => watch((element = found))}
      style=${near.value ? { height: "" } : { height: `${height}px` }}>
      ${near.value ? html`<ul class="rows" aria-label=${label}>${page.found.map(row)}</ul>` : null}
    </div>`;
  };
});

const Near = component((props, own) => {
  const watch = watcher(own, (visible) => visible && props.value.near());
  return () => html`<div class="end" ref=${watch}>${props.value.children}</div>`;
});

/** Return a function that observes an element, and reports when it comes near and leaves. */
function watcher(own, tell) {
  const observer = new IntersectionObserver(
    (entries) => tell(entries.at(-1).isIntersecting),
    { rootMargin: NEAR },
  );
  own(() => observer.disconnect());
  let watched = null;
  return (element) => {
    if (element === null || element === watched) return;
    watched = element;
    observer.disconnect();
    observer.observe(element);
  };
}
