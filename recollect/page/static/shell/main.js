// The frame: sign-in, zones, menu, sliders, and the view named in the address.

import { render } from "../vendor/preact.mjs";
import { Moments } from "../parts/moments.js";
import { Refused } from "../parts/states.js";
import { address, go, hrefOf } from "./address.js";
import { component, follow, html, signal } from "./component.js";
import { keepFocus } from "./focus.js";
import { News, followZones } from "./live.js";
import { SameAnswer, shown } from "./same_answer.js";
import { access, may, refusal, signIn, token } from "./service.js";
import { VIEWS } from "./views.js";

const SignIn = component(() => {
  const given = signal("");
  const busy = signal(false);

  async function submit(event) {
    event.preventDefault();
    busy.value = true;
    await signIn(given.value.trim());
    busy.value = false;
  }

  return () => html`<main class="sign-in">
    <h1>recollect</h1>
    <form onSubmit=${submit}>
      <label for="token">Access token</label>
      <input
        id="token"
        type="password"
        ref=${(field) => field?.focus()}
        autocomplete="off"
        spellcheck="false"
        required
        value=${given.value}
        onInput=${(event) => (given.value = event.target.value)}
      />
      <button class="primary" disabled=${busy.value}>Sign in</button>
      <p class="quiet">Create one with <code>recollect token create</code>; it only reads unless given
        ${" "}<code>--rights read,write,forget,admin</code>. The token is kept in this tab only.</p>
      ${token.value && refusal.value
        ? html`<p class="problem" role="alert">${refusal.value.title}.</p>`
        : null}
    </form>
  </main>`;
});

/** The zones that are stalled, wherever the reader is. Property: `zones`. */
const Stalled = component((props) => () => {
  const stalled = props.value.zones.filter((each) => each.stalled);
  const { zone, view } = address.value;
  const elsewhere = stalled.filter((each) => each.zone !== zone || view !== "health");
  const shown = elsewhere.slice(0, MAX_STALLED);
  return html`<p class="stalled flag" role="status">${shown.length
    ? html`Stalled: ${shown.map((each, at) => html`${at ? ", " : ""}<a
        href=${hrefOf({ zone: each.zone, view: "health" })}>${each.zone}</a>`)}${
        elsewhere.length > shown.length
          ? html` and <a href=${hrefOf({ view: "tokens" })}>${elsewhere.length - shown.length} more</a>`
          : null}`
    : null}</p>`;
});

// Maximum number of stalled zones that are named.
const MAX_STALLED = 3;

const Menu = component((_, own) => {
  const open = signal(false);
  followZones(own);

  function closed(event) {
    if (event.key !== "Escape" || !open.value) return;
    open.value = false;
    document.getElementById("menu-button").focus();
  }

  return () => {
    const { zone, view } = address.value;
    const { zones, authentication, user, token: id } = access.value;
    const rights = zones.find((each) => each.zone === zone.split("@")[0])?.rights ?? [];
    const listed = zones.some((each) => each.zone === zone) || !zone ? zones : [...zones, { zone }];
    return html`<header class="menu" onKeyDown=${closed}>
      <div class="brand">
        <a class="name" href=${hrefOf({ view: VIEWS[0].name })}>recollect</a>
        <button
          type="button"
          id="menu-button"
          aria-expanded=${open.value ? "true" : "false"}
          aria-controls="menu"
          onClick=${() => (open.value = !open.value)}
        >
          Menu
        </button>
      </div>
      <${Stalled} zones=${zones} />
      <nav id="menu" aria-label="Views" class=${open.value ? "open" : ""}>
        <label class="zone">
          <span>Zone</span>
          <select value=${zone} onChange=${(event) => go({ zone: event.target.value, view })}>
            ${listed.map((each) => html`<option value=${each.zone}>${each.zone}${
              each.stalled ? " (stalled)" : ""}</option>`)}
          </select>
        </label>
        ${GROUPS.map(
          ([group, views]) => html`<div class="group" role="group" aria-label=${group}>
            <span class="heading" aria-hidden="true">${group}</span>
            ${views.map(
              (each) => html`<a
                href=${hrefOf({ view: each.name })}
                aria-current=${each.name === view ? "page" : undefined}
                onClick=${() => (open.value = false)}
                >${each.title}</a
              >`,
            )}
          </div>`,
        )}
        <div class="reader">
          ${authentication
            ? html`<span class="quiet">${user ?? id}</span>
                <span class="quiet">${rights.join(", ")}</span>
                <button type="button" class="plain" onClick=${() => signIn("")}>Sign out</button>`
            : html`<span class="quiet">No sign-in on this machine</span>`}
        </div>
      </nav>
    </header>`;
  };
});

const GROUPS = [...new Set(VIEWS.map((each) => each.group))]
  .filter((group) => group !== null)
  .map((group) => [group, VIEWS.filter((each) => each.group === group)]);

const Frame = component((_, own) => {
  let last = "";
  follow(own, () => {
    const { zone, view } = address.value;
    const found = VIEWS.find((each) => each.name === view);
    document.title = `${found?.title ?? "recollect"} · ${zone} · recollect`;
    const place = `${zone}/${view}/${address.value.id}`;
    if (place !== last) {
      shown.value = null;
      // Focus the new view, so that screen readers announce it.
      if (last) requestAnimationFrame(() => document.getElementById("view")?.focus({ preventScroll: true }));
      scrollTo(0, 0);
    }
    last = place;
  });

  return () => {
    const { zone, view, id } = address.value;
    const found = VIEWS.find((each) => each.name === view);
    const right = found?.right ?? "read";
    const axes = found?.moments?.(id) ?? [];
    return html`<a class="skip" href="#view" onClick=${skip}>Skip to the view</a>
      <${Menu} />
      <${News} zone=${zone} />
      <main id="view" tabindex="-1" aria-label=${found?.title ?? "Nothing"}>
        ${found === undefined
          ? html`<p>There is no view at this address.</p>`
          : !may(right, zone)
            ? html`<h1>${found.title}</h1><p>This token has no right to ${right} in this zone. Create one
                that has: <code>recollect token create --rights read,${right}</code></p>`
            : html`<h1>${found.title}</h1>
                ${axes.length ? html`<${Moments} axes=${axes} zone=${zone} />` : null}
                <${found.View} key=${`${zone} ${view} ${id}`} zone=${zone} id=${id} />
                <${SameAnswer} />`}
      </main>`;
  };
});

function skip(event) {
  event.preventDefault();
  document.getElementById("view").focus();
}

const Page = component((_, own) => {
  follow(own, () => {
    const { zone, view } = address.value;
    const zones = access.value?.zones ?? [];
    if (access.value && (!zone || !view)) {
      const first = zone || (zones[0]?.zone ?? "");
      if (first) history.replaceState(null, "", hrefOf({ zone: first, view: VIEWS[0].name }));
      if (first) dispatchEvent(new HashChangeEvent("hashchange"));
    }
  });

  return () => {
    if (access.value === null) {
      if (refusal.value === null) return html`<p class="starting" role="status">Loading…</p>`;
      if (refusal.value.status === 401) return html`<${SignIn} />`;
      return html`<main><h1>recollect</h1>
        <${Refused} problem=${refusal.value} />
        <button type="button" onClick=${() => signIn(token.value)}>Try again</button></main>`;
    }
    if (!access.value.zones.length) {
      return html`<main><h1>recollect</h1>
        <p>Nothing is remembered yet. Store something first:</p>
        <p><code>recollect remember 'Ada lives in Turin.'</code></p></main>`;
    }
    return html`<${Frame} />`;
  };
});

render(html`<${Page} />`, document.getElementById("page"));
keepFocus(document.getElementById("page"));
signIn(token.value);
