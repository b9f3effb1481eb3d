// Directives: standing instructions of the user, to add, edit and remove.

import { address, hrefOf } from "../shell/address.js";
import { component, follow, html, signal } from "../shell/component.js";
import { sameAs } from "../shell/same_answer.js";
import { may } from "../shell/service.js";
import { Say, commands } from "../parts/commands.js";
import { Pages } from "../parts/pages.js";
import { Text } from "../parts/texts.js";
import { time } from "../parts/times.js";

const View = component((props, own) => {
  const given = commands();
  const edited = signal(null);
  const superseded = () => address.value.params.superseded === "1";
  const request = () => ({
    zone: props.value.zone,
    path: "/directives",
    query: { superseded: superseded() ? "true" : "", limit: 100 },
  });
  follow(own, () => sameAs(["directives", ...(superseded() ? ["--all"] : [])], request()));

  const add = (text) => ({
    zone: props.value.zone,
    path: "/directives",
    method: "POST",
    body: { text },
  });
  const remove = ({ id }) => ({
    zone: props.value.zone,
    path: `/directives/${encodeURIComponent(id)}`,
    method: "DELETE",
  });

  // A directive of another form does not replace the old one, so that is removed.
  async function reword(directive, text) {
    const done = await given.run([add(text), remove(directive)], "Reworded.", (made) => [
      add(directive.text),
      remove(made),
    ]);
    if (done !== null) edited.value = null;
    return done !== null;
  }

  const row = (directive) => {
    const { zone } = props.value;
    const disabled = given.busy.value || !may("write", zone);
    return html`<li key=${directive.id} class=${directive.obeyed ? "" : "over"}>
      <p><${Text} text=${directive.text} /></p>
      <div class="about"><span>about: ${directive.form.replaceAll("_", " ")}</span>
        <time>${time(directive.said_at)}</time>
        ${directive.obeyed ? null : html`<span class="flag">no longer in force</span>`}</div>
      ${directive.obeyed
        ? html`<div class="field">
            <button type="button" disabled=${disabled} aria-label=${`Reword: ${directive.text}`}
              onClick=${() => (edited.value = edited.value === directive.id ? null : directive.id)}>
              Reword</button>
            <button type="button" disabled=${disabled} aria-label=${`Remove: ${directive.text}`}
              onClick=${() => given.run(remove(directive), "Removed.", add(directive.text))}>
              Remove</button></div>`
        : null}
      ${edited.value === directive.id
        ? html`<${Say} label="New wording" button="Replace" value=${directive.text} zone=${zone}
            busy=${given.busy.value} send=${(text) => reword(directive, text)} />`
        : null}</li>`;
  };

  return () => {
    return html`<nav class="tabs" aria-label="Which">
      <a href=${hrefOf({ view: "directives" })} aria-current=${superseded() ? undefined : "true"}>Obeyed</a>
      <a href=${hrefOf({ view: "directives", params: { superseded: "1" } })}
        aria-current=${superseded() ? "true" : undefined}>All</a></nav>
      <p class="quiet">Every context block begins with these instructions. A new one replaces an earlier one about the same.</p>
      <${Say} label="A new instruction" button="Add" zone=${props.value.zone} busy=${given.busy.value}
        send=${async (text) => (await given.run(add(text), "Added.", remove)) !== null} />
      ${given.outcome()}
      <${Pages} request=${request()} entries=${(page) => page.directives} label="Directives"
        empty="There are no directives." row=${row} />`;
  };
});

export const directives = { name: "directives", title: "Directives", group: "Change", View };
