// Changes: the commands of users, newest first, with their reasons and an undo.

import { hrefOf } from "../shell/address.js";
import { component, follow, html } from "../shell/component.js";
import { sameAs } from "../shell/same_answer.js";
import { load, may } from "../shell/service.js";
import { commands, lacking } from "../parts/commands.js";
import { DONE, Giver, done } from "../parts/givers.js";
import { Fold, retraction } from "../parts/memories.js";
import { Pages } from "../parts/pages.js";
import { Json, decided, firstWords } from "../parts/records.js";
import { answered } from "../parts/states.js";
import { Subjects, retracted } from "../parts/subjects.js";
import { Name, Text } from "../parts/texts.js";
import { time } from "../parts/times.js";

const View = component((props, own) => {
  const given = commands();
  const request = () => ({
    zone: props.value.zone,
    path: "/records",
    query: { kinds: Object.keys(DONE), newest_first: "true", limit: 50 },
  });
  follow(own, () =>
    sameAs(["records", ...Object.keys(DONE).flatMap((kind) => ["--kind", kind]), "--newest"], request()),
  );
  const row = (record) => html`<li key=${record.number}>
    <p class="given"><${Giver} by=${record.given_by} />${" "}${done(record)}
      ${record.readable ? null : html` <span class="flag">(forgotten since)</span>`}</p>
    <div class="about"><time datetime=${record.ingested_at}>${time(record.ingested_at)}</time>
      ${record.sender ? html`<span>said by <${Name} text=${record.sender} /></span>` : null}
      <a href=${hrefOf({ view: "ledger", id: String(record.number) })}>record ${record.number}</a></div>
    <${Subjects} zone=${props.value.zone} record=${record} />
    ${!["remember", "retract"].includes(record.kind) && firstWords(record)
      ? html`<p class="quiet"><${Text} text=${firstWords(record)} /></p>` : null}
    ${record.readable
      ? html`<${Fold} summary="Details and undo">${() => html`<${Change} zone=${props.value.zone}
          record=${record} given=${given} />`}</${Fold}>`
      : null}</li>`;
  return () => html`<p class="quiet">Each is a command in the ledger, with the holder of the access token that gave it;
      the owner is whoever uses this home without one. Commands of earlier versions do not name
      anybody.</p>
    ${lacking("write", props.value.zone)}
    ${given.outcome()}
    <${Pages} request=${request()} entries=${(page) => page.records} label="Changes"
      empty="Nobody has changed anything." row=${row} />`;
});

export const changed = { name: "changes", title: "Changes", group: "Change", View };

/** The undo of a change, the decision on it, and its JSON. Properties: `zone`, `record`, `given`. */
const Change = component((props, own) => {
  const found = load(own, () => ({
    zone: props.value.zone,
    path: `/records/${props.value.record.number}`,
  }));
  const target = retracted(own, () => {
    const { zone, record } = props.value;
    return record.kind === "retract" ? { zone, id: record.about[0] } : null;
  });
  return () =>
    answered(found, (details) => {
      const { record, payload, decision } = details;
      const { zone, given } = props.value;
      const undo = undoOf(zone, record, payload, target());
      return html`<p class="field">${undo
          ? html`<button type="button" disabled=${given.busy.value || !may("write", zone)}
              onClick=${() => given.run(undo, "Undone.")}>Undo it</button>`
          : html`<span class="quiet">It cannot be undone here.</span>`}</p>
        <p>${decided(decision)}</p>
        <${Json} value=${details} />`;
    });
});

/** Return the request that undoes a change; null if there is none. `target`: what it retracted. */
function undoOf(zone, { kind, id }, payload, target) {
  if (kind === "remember") return retraction(zone, id, false);
  if (kind === "retract" && target?.directive) {
    return { zone, path: "/directives", method: "POST", body: { text: target.directive.text } };
  }
  if (kind === "retract") return target && retraction(zone, payload.target, !payload.restore);
  if (kind === "decide_merge" && payload.approve) {
    const path = `/merges/${encodeURIComponent(payload.candidate_id)}`;
    return { zone, path, method: "PATCH", body: { status: "undone" } };
  }
  return null;
}
