// Observations: what several facts say about one topic, with their messages.

import { address } from "../shell/address.js";
import { component, follow, html } from "../shell/component.js";
import { option, sameAs } from "../shell/same_answer.js";
import { load } from "../shell/service.js";
import { Compared } from "../parts/compared.js";
import { WordChanges } from "../parts/difference.js";
import { EntityFilter } from "../parts/entity_filter.js";
import { Evidence, memoryHref } from "../parts/memories.js";
import { inWords, moment, momentOptions, otherMoment, versionAt } from "../parts/moments.js";
import { Pages } from "../parts/pages.js";
import { answered } from "../parts/states.js";
import { Text } from "../parts/texts.js";
import { count, time } from "../parts/times.js";
import { TRENDS } from "../parts/trends.js";

const AXES = ["known_at"];

const View = component((props) => () =>
  props.value.id
    ? html`<${Observation} zone=${props.value.zone} id=${props.value.id} />`
    : html`<${List} zone=${props.value.zone} />`,
);

export const observations = {
  name: "observations",
  title: "Observations",
  group: "Conclusions",
  moments: () => AXES,
  View,
};

const NONE = "There are no observations. They are made by the agent consolidation, which " +
  "recollect init --agents own,consolidation enables.";

const List = component((props, own) => {
  const request = (at = moment(AXES)) => ({
    zone: props.value.zone,
    path: "/observations",
    query: { entity: address.value.params.entity, ...at, limit: 50 },
  });
  follow(own, () =>
    sameAs(
      ["observations", ...option("--entity", address.value.params.entity),
        ...momentOptions(moment(AXES))],
      request(),
    ),
  );
  return () => html`<${EntityFilter} zone=${props.value.zone} />
    ${otherMoment(AXES)
      ? html`<${Compared} axes=${AXES} request=${request} items=${itemsOf} />`
      : html`
    <${Pages} request=${request()} entries=${(page) => page.observations} label="Observations"
      empty=${address.value.params.entity || moment(AXES).known_at ? "There is no such observation." : NONE}
      row=${(each) => html`<li key=${each.id}>
        <a href=${memoryHref("observation", each.id)}><${Text} text=${each.text} limit=${400} /></a>
        <div class="about"><span>${summary(each)}</span>
          ${each.is_stale ? html`<span class="flag">out of date</span>` : null}</div></li>`} />`}`;
});

function itemsOf({ observations: found }) {
  return found.map(({ id, text }) => ({ id, text, href: memoryHref("observation", id), state: "" }));
}

function summary({ sources, days, speakers, confidence, trend }) {
  return `${count(sources, "source")} on ${count(days, "day")} of ${count(speakers, "speaker")}, ` +
    `confidence ${confidence}, ${TRENDS[trend]}`;
}

const Observation = component((props, own) => {
  const path = () => `/observations/${encodeURIComponent(props.value.id)}`;
  const found = load(own, () => ({ zone: props.value.zone, path: path() }));
  const past = load(own, () => ({ zone: props.value.zone, path: `${path()}/history` }));
  follow(own, () =>
    sameAs(["observations", "show", props.value.id], { zone: props.value.zone, path: path() }),
  );
  return () =>
    answered(past, ({ versions }) => {
      const { known_at } = moment(AXES);
      const other = otherMoment(AXES);
      const version = latest(versions, known_at);
      return html`${other
        ? html`<p class="quiet">From ${inWords(other)} to ${inWords(moment(AXES))}:</p>
            <${WordChanges} before=${latest(versions, other.known_at)?.text ?? ""}
              after=${version?.text ?? ""} />`
        : known_at
          ? version?.text
            ? html`<p class="report"><${Text} text=${version.text} /></p>
                <p class="quiet">As written on ${time(version.at)}.</p>`
            : html`<p class="quiet">It was not known then.</p>`
          : answered(found, (each) => html`<${Current} zone=${props.value.zone} observation=${each} />`)}
        <section aria-labelledby="versions"><h2 id="versions">Versions
          ${" "}<span class="quiet">${versions.length}</span></h2>
          <ol class="versions" reversed>${versions.map((each, number) => ({ ...each, number }))
            .reverse()
            .map(({ id, at, text, reason, number }) => html`<li key=${id}>
              <h3>Version ${number + 1} of ${versions.length}
                ${" "}<span class="quiet"><time datetime=${at}>${time(at)}</time></span></h3>
              ${text === null
                ? html`<p class="flag">It ended: ${reason}.</p>`
                : number === 0
                  ? html`<p class="words"><${Text} text=${text} /></p>`
                  : html`<${WordChanges} before=${versions[number - 1].text ?? ""} after=${text} />`}
            </li>`)}</ol></section>`;
    });
});

const latest = (versions, known_at) => versionAt(versions, known_at, ({ at }) => at);

const Current = component((props) => () => {
  const { zone, observation: each } = props.value;
  return html`<p class="report"><${Text} text=${each.text} limit=${4000} /></p>
    <p class="quiet">${summary(each)}. Said ${time(each.first_said)} to ${time(each.last_said)};
      written ${time(each.updated_at)}.
      ${each.current ? null : html` <span class="flag">A later version exists.</span>`}
      ${each.current && each.is_stale
        ? html` <span class="flag">It does not include newer facts yet.</span>`
        : null}</p>
    <section aria-labelledby="items"><h2 id="items">Sources</h2>
      <ol class="steps">${each.items.map((item) => html`<li key=${item.start}>
        <a href=${memoryHref("fact", item.fact_id)}><${Text} text=${item.text} /></a>
        <${Evidence} zone=${zone} id=${item.fact_id} text=${item.text} /></li>`)}</ol></section>`;
});
