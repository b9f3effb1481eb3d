// One memory of any kind by its id: text, versions, sources, and the facts of a message.

import { hrefOf } from "../shell/address.js";
import { component, follow, html } from "../shell/component.js";
import { sameAs } from "../shell/same_answer.js";
import { load } from "../shell/service.js";
import {
  Evidence,
  KINDS,
  Sources,
  attribution,
  ending,
  factsFrom,
  memoryHref,
  memoryPath,
} from "../parts/memories.js";
import { Corrections } from "../parts/corrections.js";
import { Corrected } from "../parts/givers.js";
import { WordChanges } from "../parts/difference.js";
import { answered, nothing } from "../parts/states.js";
import { Name, Text } from "../parts/texts.js";
import { time } from "../parts/times.js";
import { quotesOf } from "../parts/quotes.js";

const View = component((props, own) => {
  const path = () => memoryPath(props.value.id);
  const found = load(own, () => ({ zone: props.value.zone, path: path() }));
  const past = load(own, () => ({ zone: props.value.zone, path: `${path()}/history` }));
  follow(own, () => sameAs(["why", props.value.id], { zone: props.value.zone, path: `${path()}/why` }));

  return () =>
    answered(found, (memory) => {
      const { zone, id } = props.value;
      const { entities, superseded_by: after, supersedes: before } = memory;
      return html`<p class="quiet">${KINDS[memory.type]}, ${attribution(memory)}${memory.thread_id
          ? html`, in the thread <${Name} text=${memory.thread_id} />` : null}
          ${" "}${ending(memory)}
          ${memory.decided === false ? html` <span class="flag">not processed yet</span>` : null}</p>
        ${memory.type === "event"
          ? html`<${Message} zone=${zone} memory=${memory} />`
          : html`<p class="report"><${Text} text=${memory.text} limit=${4000} /></p>`}
        ${entities?.length
          ? html`<p class="tags"><span class="quiet">About</span> ${entities.map(
              (name) => html` <a key=${name} href=${hrefOf({ view: "people", id: name })}><${Name} text=${name} /></a>`,
            )}</p>`
          : null}
        ${revisions("Replaced by", after)}
        ${revisions("Replaces", before)}
        <${Corrections} zone=${zone} memory=${memory} />
        <${Corrected} zone=${zone} ids=${[memory.id]}
          kinds=${["retract", "set_memory_state", "archive_memories"]} />
        ${memory.type === "fact"
          ? html`<section aria-labelledby="quoted"><h2 id="quoted">Where it was said</h2>
              <${Evidence} zone=${zone} id=${memory.id} text=${memory.text} /></section>`
          : null}
        <section aria-labelledby="steps"><h2 id="steps">How it was derived</h2>
          <${Sources} zone=${zone} id=${id} /></section>
        ${past.value.data?.versions.length > 1
          ? html`<section aria-labelledby="versions"><h2 id="versions">Versions</h2>
              <ol class="versions">${past.value.data.versions.map((version, at, all) => html`<li key=${version.id}>
                <h3><a href=${memoryHref(memory.type, version.id)}>${time(version.at)}</a></h3>
                ${at ? html`<${WordChanges} before=${all[at - 1].text} after=${version.text} />`
                  : html`<p><${Text} text=${version.text} /></p>`}</li>`)}</ol></section>`
          : null}`;
    });
});

export const memory = { name: "memory", title: "Memory", group: null, View };

function revisions(title, found) {
  if (!found?.length) return null;
  return html`<section aria-label=${title}><h2>${title}</h2>
    <ul class="steps">${found.map((each) => html`<li key=${each.id}>
      <a href=${memoryHref("fact", each.id)}><${Text} text=${each.text} /></a>
      <span class="quiet"> ${time(each.at)}</span></li>`)}</ul></section>`;
}

const Message = component((props, own) => {
  const given = load(own, () =>
    factsFrom(props.value.zone, props.value.memory.source_event_ids, 200),
  );
  return () => {
    const facts = given.value.data?.memories ?? [];
    const { text } = props.value.memory;
    return html`<p class="report"><${Text} text=${text} limit=${8000}
        marks=${facts.flatMap((fact) => quotesOf(fact.text, text))} /></p>
      <section aria-labelledby="gave"><h2 id="gave">Derived facts</h2>
        ${answered(given, () => facts.length
          ? html`<ul class="rows" aria-label="Derived facts">${facts.map((fact) => html`<li key=${fact.id}
              class=${fact.current ? "" : "over"}>
              <a href=${memoryHref("fact", fact.id)}><${Text} text=${fact.text} /></a>
              ${" "}${ending(fact)}</li>`)}</ul>`
          : nothing("No fact was derived from it."))}</section>`;
  };
});
