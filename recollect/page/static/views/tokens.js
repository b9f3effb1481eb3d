// Zones and access tokens, with their rights.

import { hrefOf } from "../shell/address.js";
import { component, follow, html, signal } from "../shell/component.js";
import { sameAs } from "../shell/same_answer.js";
import { access, load, may, signIn } from "../shell/service.js";
import { commands } from "../parts/commands.js";
import { answered, nothing } from "../parts/states.js";
import { Name } from "../parts/texts.js";
import { time } from "../parts/times.js";

const RIGHTS = {
  read: "recall and browse",
  write: "remember and correct",
  forget: "erase",
  admin: "operate, and manage tokens",
};
const EVERY_ZONE = "*";

const View = component((props, own) => {
  const zones = load(own, () => ({ path: "/v1/zones" }));
  const tokens = load(own, () => ({ path: "/v1/tokens" }));
  const given = commands();
  follow(own, () => sameAs(["token", "list"], { path: "/v1/tokens" }));

  return () => html`<section aria-labelledby="zones"><h2 id="zones">Zones</h2>
      ${answered(zones, (found) => html`<table><thead><tr><th scope="col">Zone</th>
        <th scope="col" class="number">Records</th><th scope="col">Your rights</th></tr></thead>
        <tbody>${found.zones.map((each) => html`<tr key=${each.zone}>
          <th scope="row"><a href=${hrefOf({ zone: each.zone, view: "health" })}>${each.zone}</a>
            ${each.stalled ? html` <span class="flag">stalled${each.problem ? `: ${each.problem}` : ""}</span>` : null}</th>
          <td class="number">${each.events.toLocaleString("en")}</td>
          <td>${Object.keys(RIGHTS).filter((right) => may(right, each.zone)).join(", ")}</td></tr>`)}</tbody></table>`)}
    </section>
    <${Create} zone=${props.value.zone} />
    <section aria-labelledby="tokens"><h2 id="tokens">Access tokens</h2>
      ${access.value.authentication
        ? null
        : html`<p class="quiet">This service requires no token. The tokens below take effect once it is started without
            --no-auth.</p>`}
      ${given.outcome()}
      ${answered(tokens, (found) => found.tokens.length
        ? html`<ul class="rows" aria-label="Access tokens">${found.tokens.map((each) => html`<${Token}
            key=${each.id} token=${each} given=${given} />`)}</ul>`
        : nothing("There is no token for the zones that you administer."))}</section>`;
});

export const tokens = { name: "tokens", title: "Zones and tokens", group: "Operation", right: "admin", View };

const Token = component((props) => {
  const sure = signal(false);

  async function revoke() {
    const { id } = props.value.token;
    const request = { path: `/v1/tokens/${encodeURIComponent(id)}`, method: "DELETE" };
    const said = `Token ${id} is revoked.`;
    const done = await props.value.given.run(request, said);
    if (done !== null && id === access.value?.token) signIn("");
  }

  return () => {
    const { token, given } = props.value;
    const own = token.id === access.value.token;
    const holder = [token.user, token.agent].filter(Boolean);
    return html`<li><p><code>${token.id}</code>${holder.map((name) => html` <${Name} text=${name} />`)}
        ${own ? html` <span class="flag">the current token</span>` : null}</p>
      <div class="about"><span>${token.rights.join(", ")}</span>
        <span>${token.zones.map((zone) => (zone === EVERY_ZONE ? "all zones" : zone)).join(", ")}</span>
        <span>made ${time(token.created_at)}</span>
        <span>${token.used_at ? `last used ${time(token.used_at)}` : "never used"}</span>
        ${token.expires_at ? html`<span>until ${time(token.expires_at)}</span>` : null}</div>
      <div class="field">${sure.value
        ? html`<button type="button" class="danger" disabled=${given.busy.value}
              aria-label=${`Revoke ${token.id} for good`} onClick=${revoke}>
              Revoke it${own ? ", and sign out" : ""}</button>
            <button type="button" onClick=${() => (sure.value = false)}>Keep it</button>`
        : html`<button type="button" aria-label=${`Revoke ${token.id}`}
            onClick=${() => (sure.value = true)}>Revoke</button>`}</div></li>`;
  };
});

/** Create a token, and show it once. Property: `zone`. */
const Create = component((props) => {
  const made = signal(null);
  const rights = signal(["read"]);
  const zones = signal(null);
  const user = signal("");
  const expires = signal("");
  const given = commands();

  const toggle = (list, value, on) =>
    (list.value = on ? [...(list.value ?? []), value] : list.value.filter((each) => each !== value));

  async function submit(event) {
    event.preventDefault();
    const body = { zones: chosen(), rights: rights.value };
    if (user.value.trim()) body.user = user.value.trim();
    if (expires.value) body.expires_at = `${expires.value}:00Z`;
    made.value = null;
    made.value = await given.run({ path: "/v1/tokens", method: "POST", body },
      "Token created. It is shown only once; store it now.");
  }

  // The current zone, until others are selected.
  const chosen = () => zones.value ?? [props.value.zone.split("@")[0]];

  return () => {
    const names = access.value.zones.map((each) => each.zone).filter((name) => may("admin", name));
    return html`<section aria-labelledby="create"><h2 id="create">New token</h2>
      <form onSubmit=${submit}>
        <fieldset><legend>Zones</legend>${names.map((name) => html`<label key=${name}>
          <input type="checkbox" checked=${chosen().includes(name)}
            onChange=${({ target }) => {
              zones.value = chosen();
              toggle(zones, name, target.checked);
            }} /> ${name}</label>`)}</fieldset>
        <fieldset><legend>Rights</legend>${Object.entries(RIGHTS).map(([name, words]) => html`<label key=${name}>
          <input type="checkbox" checked=${rights.value.includes(name)}
            disabled=${!chosen().every((zone) => may(name, zone))}
            onChange=${({ target }) => toggle(rights, name, target.checked)} /> ${name}
          <span class="quiet"> ${words}</span></label>`)}</fieldset>
        <p class="field"><label for="holder">For whom</label>
          <input id="holder" autocomplete="off" value=${user.value}
            onInput=${({ target }) => (user.value = target.value)} />
          <label for="expires">Until (UTC)</label>
          <input id="expires" type="datetime-local" value=${expires.value}
            onInput=${({ target }) => (expires.value = target.value)} />
          <button class="primary" disabled=${given.busy.value || !chosen().length || !rights.value.length}>
            Create</button></p>
      </form>
      ${given.outcome()}
      ${made.value
        ? html`<p class="field"><label for="made">Access token</label>
            <input id="made" class="secret" readonly value=${made.value.token}
              onFocus=${({ target }) => target.select()} />
            <button type="button" onClick=${() => (made.value = null)}>Hide it</button></p>`
        : null}</section>`;
  };
});
