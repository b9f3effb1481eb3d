// Records of the ledger in words, with their JSON folded below.

import { component, html } from "../shell/component.js";
import { load } from "../shell/service.js";
import { Fold } from "./memories.js";
import { answered } from "./states.js";
import { visible } from "./texts.js";
import { count } from "./times.js";

// What a value of a command's text looks like that says nothing to a reader: ids, numbers of records,
// places of words, yes or no.
const PLAIN_VALUE = /(^|, )\w+ (?:[0-9A-HJKMNP-TV-Z]{26}|\[[\d,[\]]*\]|true|false)(?=, |$)/g;
// The rows that are named, by table; all others are only counted.
const NAMED = {
  facts: ["fact"],
  fact_supersessions: ["end of a fact", "ends of facts"],
  retracted_facts: ["retracted fact"],
  entities: ["entity", "entities"],
  merges: ["merge"],
  merge_candidates: ["proposed merge"],
  episodes: ["episode"],
  observation_versions: ["observation"],
  mental_models: ["mental model"],
  directives: ["directive"],
  memories: ["stored memory", "stored memories"],
  dead_letters: ["dead letter"],
};

// What is due at a tick, and what a step of a daily pass does, by its name.
const DUE = {
  close_turns: "close the turns that were abandoned",
  consolidate: "bring the observations up to date",
  temporal: "find routines, upcoming events and cycles",
  observation_merge: "merge the observations that say the same",
  fact_merge: "merge the facts that say the same",
  dreams: "look for dreams, which are links between distant topics",
};
// The values of some kinds of records, as text, in words.
const IN_WORDS = {
  tick: (text) => `due: ${inWords(text)}`,
  run_pass: inWords,
  forget: (text) => text.replace(/^targets \[([\d,]+)\]?/, (_, numbers) =>
    `${numbers.includes(",") ? "records" : "record"} ${numbers.replaceAll(",", ", ")}`),
  // The input that could not be read follows the reason.
  park: (text) => text.replace(/^reason /, "input that could not be read: ").replace(/, body .*/s, ""),
  refresh_models: (text) => text.replace(/^min_facts (\d+)$/, (_, least) =>
    least === "0" ? "renew the reports that are due" : `renew the reports that are due; a profile from ${least} facts on`),
  certify: (text) => text.replace(/^erasure /, "the erasure by record "),
  retry: numbered,
  drop: numbered,
  propose_merge: (text) => text.replace(/.*?\bconfidence ([\d.]+), reason (.*)$/s, "$2 (confidence $1)"),
  create_mental_model: (text) => text.replace(/^name /, "").replace(/, refresh_trigger .*/s, "")
    .replace(", description ", ": "),
};

function numbered(text) {
  return text.replace(/^number /, "record ");
}

function inWords(text) {
  const [, name] = /^name (\w+)/.exec(text) ?? [];
  return DUE[name] ?? name ?? text;
}

/** Return a record's first words; of a command's values, those that are words. */
export function firstWords({ kind, text, sender }) {
  if (text === null || sender !== null) return text ?? "";
  return (IN_WORDS[kind]?.(text) ?? text).replace(PLAIN_VALUE, "").replace(/^, /, "");
}

/** Return what was decided on a record, as a sentence. `decision`: null if there is none yet. */
export function decided(decision) {
  if (decision === null) return "Not processed yet.";
  if (decision.parked) return "It could not be processed and is in the dead-letter queue.";
  const { rows, erased, commands } = decision;
  const deleted = rows.reduce((sum, each) => sum + each.deleted, 0);
  const parts = [
    ["wrote", written(rows)],
    ["deleted", deleted ? count(deleted, "row") : ""],
    ["erased", erased.length ? count(erased.length, "record") : ""],
    ["asked for", commands.map((kind) => kind.replaceAll("_", " ")).join(", ")],
  ].filter(([, what]) => what);
  const sentence = parts.map((each) => each.join(" ")).join("; ") || "No row was written, or its text was forgotten";
  return `${sentence[0].toUpperCase()}${sentence.slice(1)}.`;
}

function written(rows) {
  const named = Object.keys(NAMED)
    .map((table) => [table, rows.find((each) => each.table === table)?.written ?? 0])
    .filter(([, number]) => number);
  const all = rows.reduce((sum, each) => sum + each.written, 0);
  const others = all - named.reduce((sum, [, number]) => sum + number, 0);
  return [
    ...named.map(([table, number]) => count(number, ...NAMED[table])),
    ...(others ? [count(others, named.length ? "other row" : "row")] : []),
  ].join(", ");
}

/** The JSON of an answer, folded. Property: `value`. */
export const Json = component((props) => () => html`<${Fold} summary="JSON">${() =>
  html`<pre class="json" tabindex="0">${visible(JSON.stringify(props.value.value, null, 2))}</pre>`}</${Fold}>`);

/** What was decided on a record, and its JSON; both are fetched when it is opened. Properties: `zone`,
 * `number`. */
export const Decided = component((props) => () => html`<${Fold} summary="What it decided">${() =>
  html`<${Details} ...${props.value} />`}</${Fold}>`);

const Details = component((props, own) => {
  const found = load(own, () => ({ zone: props.value.zone, path: `/records/${props.value.number}` }));
  return () => answered(found, (details) => html`<p>${decided(details.decision)}</p>
    <${Json} value=${details} />`);
});
