// Branches: independent copies of a zone's memory, for experiments.

import { hrefOf } from "../shell/address.js";
import { component, follow, html, signal } from "../shell/component.js";
import { sameAs } from "../shell/same_answer.js";
import { load, may } from "../shell/service.js";
import { Say, commands, lacking } from "../parts/commands.js";
import { GenerationDifference } from "../parts/generations.js";
import { Fold } from "../parts/memories.js";
import { answered, nothing } from "../parts/states.js";
import { Name } from "../parts/texts.js";
import { count, time } from "../parts/times.js";

const View = component((props, own) => {
  const given = commands();
  const at = signal("");
  const parent = () => props.value.zone.split("@")[0];
  const request = () => ({ zone: parent(), path: "/branches" });
  const found = load(own, request);
  follow(own, () => sameAs(["branch", "list"], request()));

  const path = (name) => `/branches/${encodeURIComponent(name)}`;
  const create = async (name) => {
    const body = { name, ...(at.value.trim() ? { at: at.value.trim() } : {}) };
    const made = await given.run({ ...request(), method: "POST", body }, `Branch ${name} created.`);
    if (made !== null) at.value = "";
    return made !== null;
  };
  const promote = (name) =>
    given.run({ zone: parent(), path: `${path(name)}/promote`, method: "POST", body: {} },
      ({ published, duplicates, conflicts, outdated, left }) => `${count(published, "record")} published to
        ${" "}${parent()}; it had ${duplicates} already, ${conflicts.length} conflict with what it has, and
        ${" "}${Object.values(left).reduce((sum, each) => sum + each, 0)} stay in the branch.${outdated
          .map((name) => ` Writer prompt ${name}: the zone has a newer text, which stays in force.`).join("")}`);
  const drop = (name) =>
    given.run({ zone: parent(), path: path(name), method: "DELETE" }, `Branch ${name} deleted.`);

  return () => {
    const zone = parent();
    return html`<p class="quiet">A branch begins with what the zone knows. Nothing that happens in it changes the
        zone, unless it is promoted. What the zone forgets is forgotten in its branches too.</p>
      <${Say} label="A new branch" hint="trial" button="Create" right="admin" zone=${zone}
        busy=${given.busy.value} send=${create} />
      <p class="field"><label for="fork">Head to begin with, from Health (default: the last record)</label>
        <input id="fork" autocomplete="off" value=${at.value} disabled=${!may("admin", zone)}
          onInput=${({ target }) => (at.value = target.value)} /></p>
      ${given.outcome()}
      ${answered(found, ({ branches }) => branches.length
        ? html`<ul class="rows" aria-label="Branches">${branches.map((branch) => html`<${Branch}
            key=${branch.name} zone=${zone} branch=${branch} busy=${given.busy.value}
            promote=${promote} drop=${drop} />`)}</ul>`
        : nothing(html`The zone ${zone} has no branch.`))}`;
  };
});

export const branches = { name: "branches", title: "Branches", group: "Operation", View };

const Branch = component((props) => {
  const sure = signal(false);
  return () => {
    const { zone, branch, busy, promote, drop } = props.value;
    const { name } = branch;
    const disabled = busy || !may("admin", zone);
    return html`<li><p><a href=${hrefOf({ zone: `${zone}@${name}`, view: "ask" })}
          aria-label=${`Open the branch ${name}`}><${Name} text=${name} /></a></p>
      <div class="about"><time>${time(branch.created_at)}</time>
        <span>forked after record ${branch.forked_at.split(":")[0]}</span>
        <span>${count(branch.events, "record")} since in the branch</span>
        <span>${count(branch.zone_events, "record")} since in the zone</span></div>
      <div class="field">
        <button type="button" disabled=${disabled} aria-label=${`Promote ${name}`}
          onClick=${() => promote(name)}>Promote to ${zone}</button>
        ${sure.value
          ? html`<button type="button" class="danger" disabled=${disabled} aria-label=${`Delete ${name} for good`}
                onClick=${() => drop(name)}>Delete the branch</button>
              <button type="button" onClick=${() => (sure.value = false)}>Keep it</button>`
          : html`<button type="button" disabled=${disabled} aria-label=${`Drop ${name}`}
              onClick=${() => (sure.value = true)}>Drop</button>`}
        ${lacking("admin", zone)}</div>
      <${Fold} summary="Compare with the zone">${() => html`<${Compared} zone=${zone} name=${name} />`}</${Fold}></li>`;
  };
});

const Compared = component((props, own) => {
  const found = load(own, () => ({
    zone: props.value.zone,
    path: `/branches/${encodeURIComponent(props.value.name)}/diff`,
  }));
  return () => answered(found, (difference) => html`<${GenerationDifference} difference=${difference} />`);
});
