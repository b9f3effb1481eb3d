// Merges, decided and proposed: two entities, the reasons, and the facts of both.

import { address, hrefOf, setParams } from "../shell/address.js";
import { component, follow, html, signal } from "../shell/component.js";
import { sameAs } from "../shell/same_answer.js";
import { call, load, may } from "../shell/service.js";
import { commands, lacking } from "../parts/commands.js";
import { Chosen, EntityProblem, accountsOf, typeInWords } from "../parts/entities.js";
import { Given, commandsAbout } from "../parts/givers.js";
import { Fold, isId, memoryHref } from "../parts/memories.js";
import { EntityFilter } from "../parts/entity_filter.js";
import { EntityNames } from "../parts/entity_names.js";
import { Pages } from "../parts/pages.js";
import { Refused, answered, nothing } from "../parts/states.js";
import { Name, Text, names } from "../parts/texts.js";
import { time } from "../parts/times.js";

const TABS = [
  ["pending", "Pending"],
  ["merged", "Merged"],
  ["rejected", "Rejected"],
  ["undone", "Undone"],
];
// Maximum number of facts shown as evidence, for each entity.
const EVIDENCE = 5;

const View = component((props, own) => {
  const given = commands();
  // The commands about the merges on display; null if the token may not read them.
  const records = signal(null);
  const status = () => address.value.params.status ?? "pending";
  const request = () => ({
    zone: props.value.zone,
    path: "/merges",
    query: { status: status(), entity: address.value.params.entity, limit: 50 },
  });
  follow(own, () => sameAs(["merges"], request()));

  function entries({ merges }) {
    commandsOf(props.value.zone, merges).then((found) => {
      if (found === null) return;
      const before = records.value ?? [];
      const known = new Set(before.map((each) => each.number));
      records.value = [...before, ...found.filter((each) => !known.has(each.number))];
    });
    return merges;
  }

  function decide(merge, to, said) {
    const { zone } = props.value;
    const path = `/merges/${encodeURIComponent(merge.id)}`;
    const undo =
      to === "merged"
        ? { zone, path, method: "PATCH", body: { status: "undone" } }
        : null;
    given.run({ zone, path, method: "PATCH", body: { status: to } }, said, undo);
  }

  return () => {
    const { zone } = props.value;
    const { entity } = address.value.params;
    return html`<${Compare} zone=${zone} />
      <section aria-labelledby="found"><h2 id="found">Proposed and decided merges</h2>
      <nav class="tabs" aria-label="State">${TABS.map(
        ([name, title]) => html`<a href=${hrefOf({ view: "merges", params: { status: name, entity } })}
          aria-current=${name === status() ? "true" : undefined}>${title}</a>`,
      )}</nav>
      <${EntityFilter} zone=${zone} />
      ${entity
        ? html`<p><a href=${hrefOf({ view: "merges", params: { status: status() } })}>Merges of everybody and everything</a></p>`
        : null}
      ${lacking("write", zone)}
      ${given.outcome()}
      <${Pages} key=${status()} request=${request()} entries=${entries} label="Merges"
        empty=${status() === "pending" ? "No merge is pending." : "There are none."}
        row=${(merge) => html`<${Row} key=${merge.id} zone=${zone} merge=${merge} decide=${decide}
          busy=${given.busy.value} records=${records.value} />`} /></section>`;
  };
});

export const merges = { name: "merges", title: "Merges", group: "Change", View };

const COMMANDS = ["propose_merge", "decide_merge", "undo_merge"];

/** Return the commands about merges; null if the token, being for a user, may not read them. */
async function commandsOf(zone, merges) {
  const ids = merges.flatMap((each) => [each.id, each.merge_id, each.a_id, each.b_id].filter(Boolean));
  if (!ids.length) return [];
  const found = await call(commandsAbout(zone, ids, COMMANDS)).catch(() => null);
  return found && found.records;
}

/** Return whether a command is about a merge. A proposal names its two entities. */
function isAbout({ about }, merge) {
  return about.includes(merge.id) || about.includes(merge.merge_id)
    || (about.includes(merge.a_id) && about.includes(merge.b_id));
}

/** Return the type and the accounts of one of two entities, which may have the same name. */
function kindOf({ of, a, b }, type, handles) {
  if (of !== "entities") return null;
  const accounts = handles.length || a !== b ? accountsOf(handles) : ["no account"];
  return html`<span class="quiet"> (${names([typeInWords(type), ...accounts])})</span>`;
}

const Row = component((props) => () => {
  const { zone, merge, decide, busy, records } = props.value;
  const given = records && records.filter((each) => isAbout(each, merge));
  const disabled = busy || !may("write", zone);
  const pair = (verb) => `${verb} ${merge.a} and ${merge.b}`;
  const view = merge.of === "facts" ? "memory" : "people";
  return html`<li class="merge">
    <p><a href=${hrefOf({ view, id: merge.a_id })}><${Name} text=${merge.a} /></a>${kindOf(merge, merge.a_type, merge.a_handles)}
      <span class="quiet"> and </span>
      <a href=${hrefOf({ view, id: merge.b_id })}><${Name} text=${merge.b} /></a>${kindOf(merge, merge.b_type, merge.b_handles)}</p>
    <ul class="steps">${merge.reasons.map((reason) => html`<li><${Text} text=${reason} /></li>`)}</ul>
    <div class="about"><span>confidence ${merge.confidence.toFixed(2)}</span>
      <span>${time(merge.at)}</span>
      ${given === null ? null : given.length
        ? given.map((record) => html`<${Given} key=${record.number} record=${record} />`)
        : html`<span>found by recollect</span>`}
      ${merge.status === "merged" && merge.merge_id === null
        ? html`<span>one through other merges; undo those</span>` : null}</div>
    <div class="field">${merge.status === "pending"
      ? html`<button type="button" disabled=${disabled} aria-label=${pair("Merge")}
            onClick=${() => decide(merge, "merged", `Merged: ${merge.a} and ${merge.b}.`)}>Merge</button>
          <button type="button" disabled=${disabled} aria-label=${pair("Reject the merge of")}
            onClick=${() => decide(merge, "rejected", "Rejected: the two stay separate. To decide again, propose the merge again.")}>
            Reject</button>`
      : merge.status === "merged"
        ? html`<button type="button" disabled=${disabled || merge.merge_id === null}
            aria-label=${pair("Undo the merge of")}
            onClick=${() => decide(merge, "undone", `Separate again: ${merge.a} and ${merge.b}.`)}>Undo the merge</button>`
        : null}</div>
    ${merge.of === "facts" ? null : html`<${Fold} summary=${merge.status === "merged" ? "Facts of the merged entity" : "Facts about both"}>${
      () => html`<div class="sides">${sidesOf(merge).map((side) => html`<${Side} key=${side.id}
        zone=${zone} ...${side} />`)}</div>`}</${Fold}>`}
  </li>`;
});

/** Return the entities to compare: the two, or the one that they have become. */
function sidesOf(merge) {
  const { a, a_id, a_handles, b, b_id, b_handles } = merge;
  return merge.status === "merged"
    ? [{ id: a_id, name: `${a}, also ${b}`, handles: [...a_handles, ...b_handles] }]
    : [{ id: a_id, name: a, handles: a_handles }, { id: b_id, name: b, handles: b_handles }];
}

const Side = component((props, own) => {
  const found = load(own, () => ({
    zone: props.value.zone,
    path: "/facts",
    query: { entity: props.value.id, limit: EVIDENCE },
  }));
  return () => {
    const { name, handles } = props.value;
    return html`<section aria-label=${name}><h3><${Name} text=${name} /></h3>
      <p class="quiet">${handles.length
        ? names(accountsOf(handles))
        : "no account"}</p>
      ${answered(found, ({ facts }) => facts.length
        ? html`<ul class="steps">${facts.map((fact) => html`<li key=${fact.id}>
            <a href=${memoryHref("fact", fact.id)}><${Text} text=${fact.text} limit=${240} /></a></li>`)}</ul>`
        : nothing("No fact."))}</section>`;
  };
});

const DECISIONS = {
  same: "These are, or would be, merged.",
  propose: "Possibly the same; a person should decide.",
  different: "These are considered different.",
};

const Compare = component((props, own) => {
  const typed = signal({ a: "", b: "" });
  const given = commands();
  const wrong = signal(null);
  follow(own, () => {
    const { a = "", b = "" } = address.value.params;
    typed.value = { a, b };
  });
  const found = load(own, () => {
    const { a, b } = address.value.params;
    if (!a || !b) return null;
    return { zone: props.value.zone, path: "/entities/compare", method: "POST", body: { a, b } };
  });

  async function propose(comparison) {
    const { zone } = props.value;
    const { a, b } = address.value.params;
    wrong.value = null;
    try {
      const [first, second] = await Promise.all(
        [a, b].map((each) => call({ zone, path: `/entities/${encodeURIComponent(each)}` })),
      );
      const body = {
        entity_a: first.id,
        entity_b: second.id,
        confidence: comparison.confidence,
        reason: "proposed on the page",
      };
      await given.run({ zone, path: "/merges", method: "POST", body }, "Proposed. You can decide it below, among the pending merges.");
    } catch (problem) {
      wrong.value = problem;
    }
  }

  const field = (name, label) => html`<div><label for=${`compare-${name}`}>${label}</label>
    <input id=${`compare-${name}`} autocomplete="off" value=${isId(typed.value[name]) ? "" : typed.value[name]}
      list=${`names-${name}`}
      onInput=${({ target }) => (typed.value = { ...typed.value, [name]: target.value })} />
    <${EntityNames} id=${`names-${name}`} zone=${props.value.zone} typed=${typed.value[name]} /></div>`;

  // The address with an id in place of the name that several have.
  const oneOf = (id, name) => {
    const { params } = address.value;
    return hrefOf({ view: "merges", params: { ...params, [params.a === name ? "a" : "b"]: id } });
  };

  return () => html`<section aria-labelledby="compare"><h2 id="compare">Compare two</h2>
    <p class="quiet">Two people or things, whether they are the same, and why; you can then propose to merge them.</p>
    <form class="choice" onSubmit=${(event) => {
      event.preventDefault();
      setParams({ a: typed.value.a.trim(), b: typed.value.b.trim() });
    }}>${field("a", "First")}${field("b", "Second")}<button>Compare</button></form>
    ${["a", "b"].map((name) => html`<${Chosen} key=${name} zone=${props.value.zone}
      id=${address.value.params[name]} />`)}
    ${found.value.data === null && found.value.problem === null
      ? null
      : answered(found, (comparison) => html`<p role="status">${DECISIONS[comparison.decision]}
          ${" "}Confidence ${comparison.confidence.toFixed(2)}.</p>
          <ul class="steps" aria-label="Reasons">${comparison.reasons.map(
            (reason) => html`<li><${Text} text=${reason} /></li>`)}</ul>
          <p class="field"><button type="button" disabled=${!may("write", props.value.zone) || given.busy.value}
            onClick=${() => propose(comparison)}>Propose to merge them</button></p>`,
          (problem) => html`<${EntityProblem} zone=${props.value.zone} problem=${problem} href=${oneOf} />`)}
    ${wrong.value ? html`<${Refused} problem=${wrong.value} />` : null}
    ${given.outcome()}
  </section>`;
});
