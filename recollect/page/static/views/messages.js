// Messages: threads and episodes, and the facts of each message.

import { address, hrefOf, setParams } from "../shell/address.js";
import { component, follow, html } from "../shell/component.js";
import { option, sameAs } from "../shell/same_answer.js";
import { load } from "../shell/service.js";
import { ending, factsFrom, memoryHref } from "../parts/memories.js";
import { Pages } from "../parts/pages.js";
import { answered } from "../parts/states.js";
import { Name, Text, names } from "../parts/texts.js";
import { count, time } from "../parts/times.js";
import { quotesOf } from "../parts/quotes.js";

const STRATEGIES = [
  ["thread", "Thread"],
  ["session", "Session"],
  ["time_window", "Messages without a long pause"],
  ["day", "Day"],
  ["topic", "Topic"],
];

const View = component((props) => () =>
  props.value.id
    ? html`<${Thread} zone=${props.value.zone} id=${props.value.id} />`
    : html`<${List} zone=${props.value.zone} />`,
);

export const messages = { name: "messages", title: "Messages", group: "Memory", View };

const List = component((props, own) => {
  const strategy = () => address.value.params.by ?? "time_window";
  const request = () => ({
    zone: props.value.zone,
    path: "/episodes",
    query: { strategy: strategy(), entity: address.value.params.entity, limit: 50 },
  });
  follow(own, () =>
    sameAs(
      ["episodes", "--strategy", strategy(), ...option("--entity", address.value.params.entity)],
      request(),
    ),
  );
  return () => html`<p class="field"><label for="by">Group by</label>
      <select id="by" value=${strategy()} onChange=${({ target }) => setParams({ by: target.value })}>
        ${STRATEGIES.map(([name, title]) => html`<option value=${name}>${title}</option>`)}
      </select></p>
    <${Pages} request=${request()} entries=${(page) => page.episodes} label="Threads"
      empty="There are no such groups of messages." row=${(each) => html`<li key=${each.id}>
        <a href=${hrefOf({ view: "messages", id: each.id })}><${Text} text=${each.title || "Untitled"} limit=${160} /></a>
        <div class="about"><span>${each.platform ?? "all platforms"}</span>
          <span>${count(each.message_count, "message")}</span>
          <span>${during(each)}</span>
          <span>${names(each.participants)}</span>
        </div></li>`} />`;
});

/** Return the time of an episode: a moment, a part of a day, or a period. */
function during({ start, end }) {
  if (time(start) === time(end)) return time(start);
  return `${time(start)} – ${start.slice(0, 10) === end.slice(0, 10) ? end.slice(11, 16) : time(end)}`;
}

const Thread = component((props, own) => {
  const path = () => `/episodes/${encodeURIComponent(props.value.id)}`;
  const found = load(own, () => ({ zone: props.value.zone, path: path(), query: { limit: 1 } }));
  follow(own, () =>
    sameAs(["episodes", "show", props.value.id], {
      zone: props.value.zone, path: path(), query: { limit: 50 },
    }),
  );
  return () =>
    answered(found, ({ episode }) => html`<h2 class="title"><${Text} text=${episode.title} limit=${160} /></h2>
      <p class="quiet">${count(episode.message_count, "message")},
        ${" "}${during(episode)}${episode.platform ? `, ${episode.platform}` : ""}</p>
      <${Pages} request=${{ zone: props.value.zone, path: path(), query: { limit: 50 } }}
        entries=${(page) => page.messages.length ? [page.messages] : []} label="Messages" empty="It has no messages left."
        row=${(page) => html`<${Batch} key=${page[0].id} zone=${props.value.zone} messages=${page} />`} />`);
});

/** The messages of a page, with their facts, fetched in one request. */
const Batch = component((props, own) => {
  const given = load(own, () => {
    const { zone, messages: page } = props.value;
    return factsFrom(zone, page.map((each) => each.source_event_id), 500);
  });
  return () => {
    const facts = given.value.data?.memories ?? [];
    return html`<li class="batch"><ol>${props.value.messages.map((each) => {
      const gave = facts.filter(({ source_event_ids: ids }) => ids.includes(each.source_event_id));
      const marks = gave.flatMap(({ text }) => quotesOf(text, each.text));
      return html`<li key=${each.id} class="message">
        <div class="said">
          <div class="about"><strong><${Name} text=${each.sender} /></strong>
            <a class="quiet" href=${memoryHref("event", each.id)}><time datetime=${each.at}>${time(each.at)}</time></a></div>
          <${Text} text=${each.text} marks=${marks} limit=${1500} />
        </div>
        <ul class="gave" aria-label="Derived facts">${gave.map(
          (fact) => html`<li key=${fact.id} class=${fact.current ? "" : "over"}>
            <a href=${memoryHref("fact", fact.id)}><${Text} text=${fact.text} limit=${240} /></a>
            ${" "}${ending(fact)}</li>`,
        )}</ul>
      </li>`;
    })}</ol></li>`;
  };
});
