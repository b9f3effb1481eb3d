// The timeline: facts and episodes by day, with the counts of years and months.

import { address, hrefOf } from "../shell/address.js";
import { component, follow, html } from "../shell/component.js";
import { option, sameAs } from "../shell/same_answer.js";
import { load } from "../shell/service.js";
import { Compared } from "../parts/compared.js";
import { dayFacts, itemsOf } from "../parts/days.js";
import { EntityFilter } from "../parts/entity_filter.js";
import { moment, momentOptions, otherMoment } from "../parts/moments.js";
import { Pages } from "../parts/pages.js";
import { answered, nothing } from "../parts/states.js";
import { Text, names } from "../parts/texts.js";
import { count, day, month, time } from "../parts/times.js";

const AXES = ["known_at", "valid_at"];
const DAY_MS = 86_400_000;

const View = component((props, own) => {
  const about = (at) => ({ entity: address.value.params.entity, ...at, ...span() });
  const counted = load(own, () => {
    const by = zoom();
    return {
      zone: props.value.zone,
      path: "/timeline/counts",
      query: { ...about(moment(AXES)), by },
    };
  });
  const request = (at = moment(AXES)) => ({
    zone: props.value.zone,
    path: "/timeline",
    query: { ...about(at), limit: 100 },
  });
  follow(own, () => {
    const { first, last } = span();
    sameAs(
      ["timeline", ...option("--entity", address.value.params.entity), ...option("--from", first),
        ...option("--to", last), ...momentOptions(moment(AXES))],
      request(),
    );
  });

  return () => html`<${EntityFilter} zone=${props.value.zone} />
      <${Crumbs} />
      <${AsKnownThen} />
      ${answered(counted, ({ periods }) => html`<${Bars} periods=${periods} />`)}
      ${otherMoment(AXES)
        ? html`<${Compared} axes=${AXES} request=${request} items=${itemsOf} />`
        : zoom() === "year"
          ? html`<p class="quiet">Choose a year to read it.</p>`
          : html`<${Pages} request=${request()} entries=${(page) => page.days} label="Days"
              empty="There is nothing from this time." row=${Day} />`}`;
});

export const timeline = { name: "timeline", title: "Timeline", group: "Memory", moments: () => AXES, View };

/** Return the range of days selected by `at`: a year, a month or a day. */
function span() {
  const { at = "" } = address.value.params;
  if (/^\d{4}$/.test(at)) return { first: `${at}-01-01`, last: `${at}-12-31` };
  if (/^\d{4}-\d\d$/.test(at)) {
    const [year, number] = at.split("-").map(Number);
    const last = new Date(Date.UTC(year, number, 0)).getUTCDate();
    return { first: `${at}-01`, last: `${at}-${last}` };
  }
  return /^\d{4}-\d\d-\d\d$/.test(at) ? { first: at, last: at } : {};
}

function zoom() {
  return { 4: "month", 7: "day", 10: "day" }[(address.value.params.at ?? "").length] ?? "year";
}

const titled = (period) =>
  ({ 4: (year) => year, 7: month, 10: day })[period.length](period);

const to = (at) => hrefOf({ view: "timeline", params: { ...address.value.params, at } });

const Crumbs = component(() => () => {
  const { at = "" } = address.value.params;
  const steps = [4, 7, 10].filter((length) => length <= at.length).map((length) => at.slice(0, length));
  return html`<nav class="crumbs" aria-label="Zoom">
    <a href=${to("")} aria-current=${at ? undefined : "true"}>All years</a>
    ${steps.map((step) => html`<a href=${to(step)}
      aria-current=${step === at ? "true" : undefined}>${titled(step)}</a>`)}
  </nav>`;
});

/** Leads from what is known now of a period to what was known at its end. */
const AsKnownThen = component(() => () => {
  const { at, known_at } = address.value.params;
  const { last } = span();
  if (!last || known_at) return null;
  const end = new Date(Date.parse(last) + DAY_MS).toISOString().replace(".000Z", "Z");
  return html`<p class="quiet">What is known now about this time. <a href=${hrefOf({
    view: "timeline",
    params: { ...address.value.params, known_at: end },
  })}>Show what was known at the end of ${titled(at)}</a></p>`;
});

/** The counts of periods, as a bar chart with links. */
const Bars = component((props) => () => {
  const { periods } = props.value;
  if (!periods.length) return nothing("There is nothing from this time.");
  const most = Math.max(...periods.map((each) => each.facts));
  const { at = "" } = address.value.params;
  return html`<ol class="bars" aria-label="Facts by time">${periods.map(
    ({ period, facts, episodes }) => html`<li key=${period}>
      <a href=${to(period)} aria-current=${period === at ? "true" : undefined}>
        <span class="period">${titled(period)}</span>
        <svg viewBox="0 0 100 8" preserveAspectRatio="none" aria-hidden="true">
          <rect width=${most ? (100 * facts) / most : 0} height="8" /></svg>
        <span class="number">${facts.toLocaleString("en")}<span class="unseen">
          ${" "}${facts === 1 ? "fact" : "facts"}, ${count(episodes, "episode")}</span></span>
      </a></li>`,
  )}</ol>`;
});

function Day({ day: date, items, episodes = [] }) {
  return html`<li class="day" key=${date}>
    <h2><a href=${to(date)}>${day(date)}</a></h2>
    ${episodes.map(
      (each) => html`<p class="episode" key=${each.id}>
        <a href=${hrefOf({ view: "messages", id: each.id })}><${Text} text=${each.title} limit=${120} /></a>
        <span class="quiet"> ${count(each.message_count, "message")}, ${time(each.start).split(", ")[1]}–${
          time(each.end).split(", ")[1]}, ${names(each.participants)}</span></p>`,
    )}
    ${dayFacts(items)}
  </li>`;
}
