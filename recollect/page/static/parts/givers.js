// Who gave a command, and when.

import { hrefOf } from "../shell/address.js";
import { component, html } from "../shell/component.js";
import { load } from "../shell/service.js";
import { Name } from "./texts.js";
import { time } from "./times.js";

/** The kinds of commands that users give, as what they did. */
export const DONE = {
  remember: "remembered",
  retract: "retracted a memory",
  propose_merge: "proposed to merge",
  decide_merge: "decided on a merge",
  undo_merge: "undid a merge",
  create_mental_model: "wrote a mental model",
  update_mental_model: "rewrote or tagged a mental model",
  refresh_mental_model: "refreshed a mental model",
  set_memory_state: "approved, deactivated or deleted memories",
  archive_memories: "archived or restored memories",
  forget: "forgot",
  certify: "certified an erasure",
  retry: "retried a dead letter",
  drop: "dropped a dead letter",
  writer_text: "changed the language model's instructions",
  decide_writer_text: "accepted or rejected proposed instructions",
};

/** Return what the giver of a command did. The payload tells retractions and restorations, and
 * the two decisions on a merge, apart. */
export function done({ kind, text }) {
  if (kind === "retract" && /\brestore true\b/.test(text ?? "")) return "restored a memory";
  if (kind === "decide_merge" && text !== null) {
    return /\bapprove true\b/.test(text) ? "merged them" : "rejected a merge";
  }
  return DONE[kind];
}

/** The giver of a command. Property: `by`. */
export const Giver = component((props) => () => {
  const { by } = props.value;
  if (by === null) return html`<span class="quiet">recollect itself</span>`;
  return by === "owner" ? "the owner" : html`<${Name} text=${by} />`;
});

/** A command on one line: who, what, when. Property: `record`. */
export const Given = component((props) => () => {
  const { number, given_by: by, ingested_at: at } = props.value.record;
  return html`<span class="given"><${Giver} by=${by} /> ${done(props.value.record)},
    ${" "}<a href=${hrefOf({ view: "ledger", id: String(number) })}><time datetime=${at}>${time(at)}</time></a></span>`;
});

/**
 * Return the request for the commands of some kinds about memories.
 *
 * A token for a user may not read the ledger; then there is none to show.
 */
export function commandsAbout(zone, ids, kinds) {
  return { zone, path: "/records", query: { about: ids, kinds, limit: 200 } };
}

/** The commands about a memory, oldest first. Properties: `zone`, `ids`, `kinds`. */
export const Corrected = component((props, own) => {
  const found = load(own, () => {
    const { zone, ids, kinds } = props.value;
    return ids.length ? commandsAbout(zone, ids, kinds) : null;
  });
  return () => {
    const records = found.value.data?.records ?? [];
    return records.length
      ? html`<section aria-labelledby="corrected"><h2 id="corrected">Who changed it</h2>
          <ul class="steps" aria-label="Who changed it">${records.map(
            (record) => html`<li key=${record.number}><${Given} record=${record} /></li>`)}</ul></section>`
      : null;
  };
});
