// Entities: a list with search, and the page of each, with its facts by attribute.

import { address, hrefOf, setParams } from "../shell/address.js";
import { component, follow, html, signal } from "../shell/component.js";
import { option, sameAs } from "../shell/same_answer.js";
import { load } from "../shell/service.js";
import { dayFacts, itemsOf } from "../parts/days.js";
import { Tell } from "../parts/corrections.js";
import { Compared } from "../parts/compared.js";
import { EntityProblem, entityRow, others, typeInWords } from "../parts/entities.js";
import { Graph } from "../parts/graph.js";
import { ending, memoryHref } from "../parts/memories.js";
import { moment, momentOptions, otherMoment } from "../parts/moments.js";
import { Pages } from "../parts/pages.js";
import { Report } from "../parts/report.js";
import { answered, nothing } from "../parts/states.js";
import { Name, Text } from "../parts/texts.js";
import { count, day } from "../parts/times.js";
import { TRENDS } from "../parts/trends.js";

const AXES = ["known_at", "valid_at"];
// Number of the newest facts from which the slots are taken.
const SLOT_FACTS = 1000;

const View = component((props) => () =>
  props.value.id
    ? html`<${Entity} zone=${props.value.zone} id=${props.value.id} />`
    : html`<${List} zone=${props.value.zone} />`,
);

export const people = {
  name: "people",
  title: "People and things",
  group: "Memory",
  moments: (id) => (id ? AXES : []),
  View,
};

const List = component((props, own) => {
  const typed = signal("");
  follow(own, () => (typed.value = address.value.params.query ?? ""));
  const request = () => ({
    zone: props.value.zone,
    path: "/entities",
    query: { query: address.value.params.query, limit: 100 },
  });
  follow(own, () =>
    sameAs(["entities", ...option("--query", address.value.params.query)], request()),
  );
  return () => html`<form class="ask" role="search" onSubmit=${(event) => {
      event.preventDefault();
      setParams({ query: typed.value.trim() });
    }}>
      <label for="name">Name or account</label>
      <input id="name" type="search" autocomplete="off" value=${typed.value}
        onInput=${({ target }) => (typed.value = target.value)} />
      <button>Search</button>
    </form>
    <${Pages} request=${request()} entries=${(page) => page.entities} label="People and things"
      empty="No entity has such a name." row=${(each) => entityRow(each)} />`;
});

const Entity = component((props, own) => {
  const path = () => `/entities/${encodeURIComponent(props.value.id)}`;
  const found = load(own, () => ({ zone: props.value.zone, path: path() }));
  follow(own, () => {
    const { zone, id } = props.value;
    sameAs(["timeline", "--entity", id, ...momentOptions(moment(AXES))], factsOf(zone, id));
  });
  return () => {
    const { zone, id } = props.value;
    const { problem } = found.value;
    if (problem) {
      return html`<${EntityProblem} zone=${zone} problem=${problem}
          href=${(one) => hrefOf({ view: "people", id: one, params: address.value.params })} />
        <p><a href=${hrefOf({ view: "people", params: { query: id } })}>Search for
          ${" "}<${Name} text=${id} /></a></p>`;
    }
    return answered(found, (entity) => {
      const part = (View, more = {}) =>
        html`<${View} zone=${zone} id=${entity.id} name=${entity.name} ...${more} />`;
      return html`<h2 class="title"><${Name} text=${entity.name} /></h2>
        <p class="quiet">${typeInWords(entity.type)}, ${count(entity.mentions, "mention")},
          ${" "}${count(entity.facts, "fact")}${
            entity.aliases.length + entity.handles.length ? ". Also " : ""
          }${others(entity)}.</p>
        <p class="field"><a href=${hrefOf({ view: "merges", params: { status: "merged", entity: entity.id } })}>Merges</a>
          <a href=${hrefOf({ view: "forget", params: { entity: entity.id } })}>Forget
          ${" "}<${Name} text=${entity.name} /></a></p>
        ${otherMoment(AXES)
          ? html`<${Compared} axes=${AXES} request=${(at) => factsOf(zone, entity.id, at)} items=${itemsOf} />`
          : html`
          ${validAt() ? null : part(Slots)}
          ${past() ? null : part(Tell)}
          ${past() ? null : part(Profile)}
          ${validAt() ? null : part(Observations)}
          ${past() ? null : part(Related)}
          ${knownAt() && !validAt()
            ? html`<p class="quiet">This is what was stored by then. From all that is stored now,
                ${" "}<button type="button" class="plain"
                  onClick=${() => setParams({ known_at: "", valid_at: knownAt() })}>
                  show what was valid then</button>.</p>`
            : null}
          ${past()
            ? html`<p class="quiet">The profile and the names that occur with it are shown for the
                present only${validAt() ? ", as are attributes and observations" : ""}.</p>`
            : null}
          <section aria-labelledby="facts"><h2 id="facts">Facts</h2>
            <${Pages} request=${factsOf(zone, entity.id)} entries=${(page) => page.days}
              label="Facts" empty=${past() ? "No facts as of then." : "No fact."} row=${Facts} /></section>`}`;
    });
  };
});

function factsOf(zone, id, at = moment(AXES)) {
  return { zone, path: "/timeline", query: { entity: id, ...at, limit: 100 } };
}

const Profile = component((props, own) => {
  const found = load(own, () => ({
    zone: props.value.zone,
    path: "/memories",
    query: { scope: "mental_models", entity: props.value.id, limit: 5 },
  }));
  return () =>
    found.value.data?.memories.length === 0
      ? null
      : answered(found, ({ memories }) => html`<section aria-label="Mental models">${memories.map(
          (model) => html`<h2><a href=${memoryHref("mental_model", model.id)}>
            <${Name} text=${model.name} /></a> ${model.is_stale
              ? html`<span class="flag">out of date</span>`
              : null}</h2>
            <${Report} text=${model.text} />`,
        )}</section>`);
});

const knownAt = () => moment(AXES).known_at;
const validAt = () => moment(AXES).valid_at;
const past = () => knownAt() || validAt();

const Slots = component((props, own) => {
  const found = load(own, () => ({
    zone: props.value.zone,
    path: "/facts",
    query: { entity: props.value.id, superseded: true, known_at: knownAt(), limit: SLOT_FACTS },
  }));
  return () =>
    answered(found, ({ facts, cursor }) => {
      const slots = slotsOf(facts, props.value.name);
      if (!slots.length) return null;
      return html`<section aria-labelledby="slots"><h2 id="slots">Attributes</h2>
        <table><thead><tr><th scope="col">Attribute</th><th scope="col">Value</th>
          <th scope="col">Said</th></tr></thead>
        <tbody>${slots.flatMap(([attribute, values]) =>
          values.map((fact, at) => html`<tr key=${fact.id} class=${fact.current ? "" : "over"}>
            <th scope="row">${at ? "" : attribute.replaceAll("_", " ")}</th>
            <td><a href=${memoryHref("fact", fact.id)}><${Text} text=${fact.value} limit=${200} /></a>
              ${" "}${ending(fact)}</td>
            <td class="quiet">${day(fact.said.first.slice(0, 10))}${fact.said.count > 1
              ? ` and ${count(fact.said.count - 1, "more time")}`
              : ""}</td></tr>`))}</tbody></table>
        ${cursor ? html`<p class="quiet">Only the newest ${SLOT_FACTS} facts are considered.</p>` : null}</section>`;
    });
});

/** Return [attribute, facts] pairs of an entity: attributes by name, newest fact first. */
function slotsOf(facts, name) {
  const slots = new Map();
  for (const fact of facts) {
    if (fact.attribute === null || fact.subject !== name) continue;
    slots.set(fact.attribute, [...(slots.get(fact.attribute) ?? []), fact]);
  }
  return [...slots].sort(([a], [b]) => a.localeCompare(b));
}

const Observations = component((props, own) => {
  const found = load(own, () => ({
    zone: props.value.zone,
    path: "/observations",
    query: { entity: props.value.id, known_at: knownAt(), limit: 20 },
  }));
  return () =>
    found.value.data?.observations.length === 0
      ? null
      : answered(found, ({ observations, cursor }) => html`<section aria-labelledby="observed">
          <h2 id="observed">Observations</h2>
          <ul class="rows" aria-label="Observations">${observations.map(
            (each) => html`<li key=${each.id}>
              <a href=${memoryHref("observation", each.id)}><${Text} text=${each.text} /></a>
              <div class="about"><span>${count(each.sources, "source")}, confidence
                ${" "}${each.confidence}, ${TRENDS[each.trend]}</span></div></li>`,
          )}</ul>
          ${cursor ? html`<p class="quiet">The newest 20.</p>` : null}</section>`);
});

function Facts({ day: date, items }) {
  return html`<li class="day" key=${date}>
    <h3>${day(date)}</h3>
    ${dayFacts(items)}</li>`;
}

const Related = component((props, own) => {
  const found = load(own, () => ({
    zone: props.value.zone,
    path: `/entities/${encodeURIComponent(props.value.id)}/related`,
    query: { max_results: 16 },
  }));
  return () =>
    answered(found, (answer) => html`<section aria-labelledby="related">
      <h2 id="related">Named together with</h2>
      ${answer.related.length
        ? html`<${Graph} name=${props.value.name} found=${answer} />`
        : nothing("No fact names it together with another entity.")}</section>`);
});
