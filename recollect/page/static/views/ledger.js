// The ledger: records by number, time and kind; one record and its decisions.

import { address, hrefOf, setParams } from "../shell/address.js";
import { component, follow, html, signal } from "../shell/component.js";
import { option, sameAs } from "../shell/same_answer.js";
import { load } from "../shell/service.js";
import { DONE, Giver, done } from "../parts/givers.js";
import { memoryHref } from "../parts/memories.js";
import { Pages } from "../parts/pages.js";
import { Decided, Json, decided, firstWords } from "../parts/records.js";
import { answered, nothing } from "../parts/states.js";
import { Subjects } from "../parts/subjects.js";
import { Name, Text } from "../parts/texts.js";
import { count, time } from "../parts/times.js";

// Suggestions; any kind can be entered.
const KINDS = [
  ..."message edit deletion reaction notice turn_completed remember retract forget certify".split(" "),
  ..."propose_merge decide_merge undo_merge create_mental_model update_mental_model".split(" "),
  ..."refresh_mental_model consolidate analyse tick recalled park retry drop switch".split(" "),
];

const View = component((props) => () =>
  props.value.id
    ? html`<${Record} zone=${props.value.zone} number=${props.value.id} />`
    : html`<${List} zone=${props.value.zone} />`,
);

export const ledger = { name: "ledger", title: "Ledger", group: "Operation", View };

const List = component((props, own) => {
  const downwards = () => {
    const { first, at, order } = address.value.params;
    return order ? order === "newest" : !first && !at;
  };
  const kinds = () => (address.value.params.kinds ?? "").split(/[\s,]+/).filter(Boolean);
  const request = () => {
    const { first, at } = address.value.params;
    return {
      zone: props.value.zone,
      path: "/records",
      query: { first, at, kinds: kinds(), newest_first: downwards() ? "true" : "", limit: 100 },
    };
  };
  follow(own, () => {
    const { first, at } = address.value.params;
    sameAs(
      ["records", ...option("--from", first), ...option("--at", at),
        ...kinds().flatMap((kind) => ["--kind", kind]), ...(downwards() ? ["--newest"] : [])],
      request(),
    );
  });
  return () => html`<${Seek} downwards=${downwards()} />
    <${Pages} request=${request()} entries=${(page) => page.records} label="Records"
      empty="There is no such record." row=${Row} />`;
});

const Seek = component((props, own) => {
  const typed = signal({});
  follow(own, () => {
    const { first = "", at = "", kinds = "" } = address.value.params;
    typed.value = { first, at: at.replace(/:00Z$/, ""), kinds };
  });
  const set = (name) => ({ target }) => (typed.value = { ...typed.value, [name]: target.value });

  function submit(event) {
    event.preventDefault();
    const { first, at, kinds } = typed.value;
    // A number takes precedence over a time.
    setParams({ first, at: at && !first ? `${at}:00Z` : "", kinds: kinds.trim(), order: "" });
  }

  return () => html`<form class="choice" role="search" onSubmit=${submit}>
    <div><label for="first">Number</label>
      <input id="first" type="number" min="1" value=${typed.value.first} onInput=${set("first")} /></div>
    <div><label for="at">Known after (UTC)</label>
      <input id="at" type="datetime-local" value=${typed.value.at} onInput=${set("at")} /></div>
    <div><label for="kinds">Kinds</label>
      <input id="kinds" list="kinds-there-are" autocomplete="off" value=${typed.value.kinds}
        placeholder="all" onInput=${set("kinds")} />
      <datalist id="kinds-there-are">${KINDS.map((kind) => html`<option value=${kind}></option>`)}</datalist></div>
    <p class="field"><button>Seek</button>
      <button type="button" class="plain"
        onClick=${() => setParams({ order: props.value.downwards ? "oldest" : "newest" })}>
        ${props.value.downwards ? "Newest first; reverse" : "Oldest first; reverse"}</button></p>
  </form>`;
});

function Row(record) {
  return html`<li key=${record.number} class="record">
    <a href=${hrefOf({ view: "ledger", id: String(record.number) })}
      aria-label=${`Record ${record.number}, ${record.kind}`}>${record.number}</a>
    <span class="kind">${record.kind.replaceAll("_", " ")}</span>
    <div class="what">${record.readable
      ? html`<${Said} record=${record} />`
      : html`<span class="flag">cannot be read: forgotten, or of an unknown kind</span>`}
      <div class="about">${record.sender ? html`<${Name} text=${record.sender} />` : null}
        ${record.given_by && !(record.kind in DONE)
          ? html`<span>given by <${Giver} by=${record.given_by} /></span>` : null}
        <span>${record.platform}</span><time datetime=${record.ingested_at}>${time(record.ingested_at)}</time></div>
      <${Decided} zone=${address.value.zone} number=${record.number} /></div>
  </li>`;
}

/** Who did what, for a command, and a record's first words. Property: `record`. */
const Said = component((props) => () => {
  const { record } = props.value;
  const words = firstWords(record);
  return html`${record.kind in DONE
    ? html`<span class="given"><${Giver} by=${record.given_by} />${" "}${done(record)}${words ? ": " : ""}</span>`
    : null}${words ? html`<${Text} text=${words} />` : null}`;
});

const to = (number, words) =>
  html`<a href=${hrefOf({ view: "ledger", id: String(number) })}>${words ?? number}</a>`;

const Record = component((props, own) => {
  const request = () => ({ zone: props.value.zone, path: `/records/${encodeURIComponent(props.value.number)}` });
  const found = load(own, request);
  follow(own, () => sameAs(["records", props.value.number], request()));
  return () =>
    answered(found, (details) => {
      const { record, hash, previous, offset, last, payload, decision } = details;
      const { number } = record;
      return html`<nav class="crumbs" aria-label="Step">
          ${number > 1 ? to(number - 1, "← Previous record") : html`<span class="quiet">The first record</span>`}
          ${number < last ? to(number + 1, "Next record →") : html`<span class="quiet">The last record</span>`}
          <a href=${hrefOf({ view: "ledger", params: { first: number } })}>In the list</a></nav>
        <h2 class="title">Record ${number}: ${record.kind.replaceAll("_", " ")}</h2>
        <p class="quiet">${record.platform}, happened ${time(record.occurred_at)}, came in
          ${" "}${time(record.ingested_at)}${record.sender
            ? html`, from <${Name} text=${record.sender} />` : null}${record.given_by
            ? html`, given by <${Giver} by=${record.given_by} />` : null}</p>
        <section aria-labelledby="content"><h2 id="content">Content</h2>
          ${payload === null
            ? html`<p class="flag">It cannot be read: its key was destroyed when it was forgotten, or this
                version does not know its kind.</p>`
            : html`<${Values} values=${payload} />
                ${record.text !== null && "content" in payload
                  ? html`<p><a href=${memoryHref("event", record.id)}>The message and what was derived from it</a></p>`
                  : html`<${Subjects} zone=${props.value.zone} record=${record} />`}`}</section>
        <section aria-labelledby="chain"><h2 id="chain">Chain</h2>
          <dl class="pairs"><dt>SHA-256</dt><dd><code>${hash}</code></dd>
            <dt>Previous</dt><dd>${number > 1 ? to(number - 1, html`<code>${previous}</code>`) : html`<code>${previous}</code>`}</dd>
            <dt>Place</dt><dd>offset ${offset} of the partition</dd></dl></section>
        <${Decision} decision=${decision} />
        <${Json} value=${details} />`;
    });
});

const Values = component((props) => () => html`<dl class="pairs">${Object.entries(props.value.values)
  .filter(([name, value]) => name !== "kind" && value !== null && JSON.stringify(value) !== "{}")
  .map(([name, value]) => html`<dt>${name.replaceAll("_", " ")}</dt>
    <dd><${Text} text=${typeof value === "string" ? value : JSON.stringify(value)} limit=${4000} /></dd>`)}</dl>`);

/** The decision on a record: its agents, files and rows. Property: `decision`. */
const Decision = component((props) => () => {
  const { decision } = props.value;
  if (decision === null) {
    return html`<section aria-labelledby="decided"><h2 id="decided">Decision</h2>
      ${nothing(decided(null))}</section>`;
  }
  const { agents, rows, commands, erased, chain, hash, previous, offset } = decision;
  return html`<section aria-labelledby="decided"><h2 id="decided">Decision</h2>
    <p class=${decision.parked ? "flag" : ""}>${decided(decision)}</p>
    <dl class="pairs"><dt>Agents</dt><dd>${agents.length ? agents.join(", ") : "none handles this kind"}</dd>
      ${commands.length ? html`<dt>Asked for</dt><dd>${commands.join(", ")}</dd>` : null}
      ${erased.length ? html`<dt>Erased</dt><dd>${erased.map((each, at) => html`${at ? ", " : ""}${to(each)}`)}</dd>` : null}
      <dt>Chain</dt><dd>${chain}, offset ${offset}</dd>
      <dt>SHA-256</dt><dd><code>${hash}</code></dd>
      <dt>Previous</dt><dd><code>${previous}</code></dd></dl>
    ${rows.length
      ? html`<table><thead><tr><th scope="col">File</th><th scope="col">Table</th>
          <th scope="col" class="number">Rows</th><th scope="col" class="number">Deleted</th>
          <th scope="col">From records</th></tr></thead>
        <tbody>${rows.map((each) => html`<tr key=${`${each.model} ${each.table}`}><th scope="row">${each.model}</th>
          <td>${each.table.replaceAll("_", " ")}</td><td class="number">${each.written}</td>
          <td class="number">${each.deleted || ""}</td>
          <td>${each.sources.slice(0, 20).map((source, at) => html`${at ? ", " : ""}${to(source)}`)}${
            each.sources.length > 20 ? `, and ${count(each.sources.length - 20, "more", "more")}` : ""}</td></tr>`)}</tbody></table>`
      : null}</section>`;
});
