// Mental models: text with cited facts, versions, and refresh.

import { component, follow, html, signal } from "../shell/component.js";
import { sameAs } from "../shell/same_answer.js";
import { call, command, load, may } from "../shell/service.js";
import { ModelCorrections } from "../parts/corrections.js";
import { UnifiedLines, WordChanges } from "../parts/difference.js";
import { Corrected } from "../parts/givers.js";
import { Evidence, Fold, memoryHref } from "../parts/memories.js";
import { inWords, moment, otherMoment, versionAt } from "../parts/moments.js";
import { Pages } from "../parts/pages.js";
import { Report } from "../parts/report.js";
import { Refused, answered } from "../parts/states.js";
import { Name, Text } from "../parts/texts.js";
import { count, time } from "../parts/times.js";

const AXES = ["known_at"];
const TRIGGERS = {
  profile: "kept as a profile",
  after_changes: "refreshed after changes",
  schedule: "refreshed on a schedule",
  by_hand: "refreshed by hand",
};

const View = component((props) => () =>
  props.value.id
    ? html`<${Model} zone=${props.value.zone} id=${props.value.id} />`
    : html`<${List} zone=${props.value.zone} />`,
);

export const models = {
  name: "models",
  title: "Mental models",
  group: "Conclusions",
  moments: (id) => (id ? AXES : []),
  View,
};

const List = component((props, own) => {
  const request = () => ({
    zone: props.value.zone,
    path: "/mental-models",
    query: { limit: 50 },
  });
  follow(own, () => sameAs(["models"], request()));
  return () => html`<${Pages} request=${request()} entries=${(page) => page.mental_models}
    label="Mental models" empty="There are no mental models yet." row=${(each) => html`<li key=${each.id}>
      <a href=${memoryHref("mental_model", each.id)}><${Name} text=${each.name} /></a>
      <div class="about"><span>${each.refresh ? TRIGGERS[each.refresh] : "written by hand"}</span>
        <span>${time(each.updated_at)}</span>
        <span>${count(each.access_count, "recall")}</span>
        ${each.tags.includes("pinned") ? html`<span>pinned</span>` : null}
        ${each.is_stale ? html`<span class="flag">out of date</span>` : null}</div></li>`} />`;
});

const Model = component((props, own) => {
  const path = () => `/mental-models/${encodeURIComponent(props.value.id)}`;
  const found = load(own, () => ({ zone: props.value.zone, path: path() }));
  const past = load(own, () => ({ zone: props.value.zone, path: `${path()}/history` }));
  follow(own, () =>
    sameAs(["models", "show", props.value.id], { zone: props.value.zone, path: path() }),
  );
  return () =>
    answered(past, ({ versions }) => {
      const { known_at } = moment(AXES);
      const other = otherMoment(AXES);
      const version = known_at && latest(versions, known_at);
      const shown = version ? version.id : props.value.id;
      return html`${other
        ? html`<p class="quiet">From ${inWords(other)} to ${inWords(moment(AXES))}:</p>
            <${Between} zone=${props.value.zone} before=${latest(versions, other.known_at)?.id}
              after=${latest(versions, known_at)?.id} />`
        : known_at && !version
          ? html`<p class="quiet">It was not written then.</p>`
          : shown !== props.value.id
            ? html`<${Earlier} key=${shown} zone=${props.value.zone} id=${shown} />`
            : answered(found, (model) => html`<${Current} zone=${props.value.zone} model=${model} />`)}
        <${ModelCorrections} zone=${props.value.zone} id=${versions.at(-1).id} />
        <${Corrected} zone=${props.value.zone} ids=${versions.map((each) => each.id)}
          kinds=${["update_mental_model", "refresh_mental_model"]} />
        <section aria-labelledby="versions"><h2 id="versions">Versions
          ${" "}<span class="quiet">${versions.length}</span></h2>
          <ol class="versions" reversed>${versions.map((each, number) => ({ ...each, number })).reverse()
            .map(({ id, updated_at: at, diff, number }) => html`<li key=${id}>
              <${Fold} summary=${`Version ${number + 1} of ${versions.length}, ${time(at)}`}>${() =>
                html`<${UnifiedLines} lines=${diff} />`}</${Fold}></li>`)}</ol></section>`;
    });
});

const latest = (versions, known_at) =>
  versionAt(versions, known_at, ({ updated_at: at }) => at);

/** The difference of two versions by their ids; no id is an empty text. */
const Between = component((props, own) => {
  const version = (name) =>
    load(own, () => {
      const id = props.value[name];
      const path = `/mental-models/${encodeURIComponent(id)}`;
      return id === undefined ? null : { zone: props.value.zone, path };
    });
  const before = version("before");
  const after = version("after");
  return () => {
    if (before.value.loading || after.value.loading) return html`<p role="status">Loading…</p>`;
    return html`<${WordChanges} before=${before.value.data?.description ?? ""}
      after=${after.value.data?.description ?? ""} />`;
  };
});

const Earlier = component((props, own) => {
  const found = load(own, () => ({
    zone: props.value.zone,
    path: `/mental-models/${encodeURIComponent(props.value.id)}`,
  }));
  return () =>
    answered(found, (model) => html`<h2 class="title"><${Name} text=${model.name} /></h2>
      <p class="quiet">As written on ${time(model.updated_at)}.</p>
      <${Report} text=${model.description} />`);
});

const Current = component((props) => () => {
  const { zone, model } = props.value;
  const cited = new Map(model.blocks.map((block) => [block.text, block.facts]));
  const item = (text) => {
    const facts = cited.get(text);
    return facts && html`<${Text} text=${text} />
      ${facts.length
        ? html`<${Fold} summary=${count(facts.length, "fact")}>${() => facts.map(
            (fact) => html`<${Evidence} key=${fact} zone=${zone} id=${fact} text=${text} />`,
          )}</${Fold}>`
        : null}`;
  };
  return html`<h2 class="title"><${Name} text=${model.name} /></h2>
    <p class="quiet">${model.refresh ? TRIGGERS[model.refresh] : "written by hand"}, version of
      ${" "}${time(model.updated_at)}${model.last_refreshed
        ? `, found up to date ${time(model.last_refreshed)}` : ""}.
      ${model.current ? null : html` <span class="flag">A later version exists.</span>`}
      ${model.is_stale ? html` <span class="flag">Facts have changed since.</span>` : null}</p>
    ${model.current && model.entity_id ? html`<${Refresh} zone=${zone} id=${model.id} />` : null}
    <${Report} text=${model.description} item=${item} />`;
});

const Refresh = component((props) => {
  const tried = signal(null);
  const problem = signal(null);
  const busy = signal(false);

  async function run(dry) {
    busy.value = true;
    problem.value = null;
    const { zone, id } = props.value;
    const path = `/mental-models/${encodeURIComponent(id)}/refresh`;
    const request = { zone, path, method: "POST", body: { dry_run: dry } };
    try {
      tried.value = await (dry ? call(request) : command(request));
    } catch (error) {
      problem.value = error;
    }
    busy.value = false;
  }

  return () => {
    const allowed = may("write", props.value.zone);
    return html`<div class="field">
        <button type="button" disabled=${!allowed || busy.value} onClick=${() => run(true)}>
          See what a refresh would change</button>
        <button type="button" disabled=${!allowed || busy.value || !tried.value?.changed || !tried.value.dry_run}
          onClick=${() => run(false)}>Refresh</button>
        ${allowed ? null : html`<span class="quiet">This token has no right to write.</span>`}
      </div>
      <div role="status">${tried.value === null
        ? null
        : tried.value.changed
          ? html`<p class="quiet">${tried.value.dry_run ? "It would change:" : "Refreshed."}</p>
              <${UnifiedLines} lines=${tried.value.diff} />`
          : html`<p class="quiet">Nothing would change.</p>`}</div>
      ${problem.value ? html`<${Refused} problem=${problem.value} />` : null}`;
  };
});
