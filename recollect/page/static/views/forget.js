// Forget: selection, preview, confirmation by typing, and the certificate.

import { address, hrefOf, setParams } from "../shell/address.js";
import { component, follow, html, signal } from "../shell/component.js";
import { option, sameAs } from "../shell/same_answer.js";
import { call, load, may } from "../shell/service.js";
import { commands, lacking } from "../parts/commands.js";
import { Chosen, EntityProblem } from "../parts/entities.js";
import { EntityNames } from "../parts/entity_names.js";
import { Giver } from "../parts/givers.js";
import { longOperation } from "../parts/long_operations.js";
import { attribution, memoryHref, memoryPath } from "../parts/memories.js";
import { firstWords } from "../parts/records.js";
import { answered, Refused } from "../parts/states.js";
import { Name, Text } from "../parts/texts.js";
import { count, time } from "../parts/times.js";

// Number of messages in the preview, and how many are added at a time.
const SHOWN = 10;
const MORE = 50;
const FIELDS = [
  ["entity", "Person or thing", "a name or an id: everything that it wrote or that mentions it"],
  ["sender_id", "Sender", "an id on a platform; includes the other ids of the same person"],
  ["thread_id", "Thread", "the id of a thread on its platform"],
  ["platform", "Platform", "such as slack"],
  ["time_after", "After (UTC)", "said after this time"],
  ["time_before", "Before (UTC)", "said before this time"],
  ["ids", "Ids", "of messages, facts, observations, models; #17 for record 17"],
];
const TIMES = ["time_after", "time_before"];
const PARAMS = [...FIELDS.map(([name]) => name), "also"];

const View = component((props) => {
  // The report of the erasure; the selection is removed from the address.
  const forgotten = signal(null);
  return () => {
    const { zone } = props.value;
    return html`<${Choice} zone=${zone} />
      <${Chosen} zone=${zone} id=${address.value.params.entity} />
      ${forgotten.value ? html`<${Forgotten} zone=${zone} report=${forgotten.value} />` : null}
      <${Plan} zone=${zone} tell=${(report) => (forgotten.value = report)} />
      <${Certificates} zone=${zone} />`;
  };
});

export const forget = { name: "forget", title: "Forget", group: "Change", right: "forget", View };

/** Return the selection in the address as fields of a request; null if there is none. */
function targets() {
  const { params } = address.value;
  const found = {};
  for (const [name] of FIELDS) if (params[name] && name !== "ids") found[name] = params[name];
  const ids = listed(params.ids);
  if (ids.length) found.ids = ids;
  if (!Object.keys(found).some((name) => name !== "platform")) return null;
  const also = listed(params.also);
  return also.length ? { ...found, also } : found;
}

const listed = (text) => (text ?? "").split(/[\s,]+/).filter(Boolean);

/** Return a time as the value of a field for times in UTC; "" for none. */
function local(given) {
  const at = Date.parse(given ?? "");
  return Number.isNaN(at) ? "" : new Date(at).toISOString().slice(0, 19);
}

/** Return the value of such a field as a time; without seconds if they are zero. */
function inUtc(value) {
  return value && `${value}${value.length === 16 ? ":00" : ""}Z`;
}

const Choice = component((props, own) => {
  const typed = signal({});
  follow(own, () => {
    const { params } = address.value;
    typed.value = { ...params, ...Object.fromEntries(TIMES.map((name) => [name, local(params[name])])) };
  });

  function submit(event) {
    event.preventDefault();
    const value = (name) => (typed.value[name] ?? "").trim();
    const given = FIELDS.map(([name]) => [name, TIMES.includes(name) ? inUtc(value(name)) : value(name)]);
    setParams({ ...Object.fromEntries(given), also: "" }, { replace: true });
  }

  return () => html`<form class="choice" onSubmit=${submit}>
    ${FIELDS.map(
      ([name, label, hint]) => html`<div><label for=${`choose-${name}`}>${label}</label>
        <input id=${`choose-${name}`} autocomplete="off" value=${typed.value[name] ?? ""}
          type=${TIMES.includes(name) ? "datetime-local" : "text"} step=${TIMES.includes(name) ? 1 : undefined}
          list=${name === "entity" ? "names-there-are" : undefined}
          aria-describedby=${`hint-${name}`}
          onInput=${({ target }) => (typed.value = { ...typed.value, [name]: target.value })} />
        <span class="quiet" id=${`hint-${name}`}>${hint}</span></div>`,
    )}
    <${EntityNames} id="names-there-are" zone=${props.value.zone} typed=${typed.value.entity ?? ""} />
    <p class="quiet">A message is chosen if it matches every field that is filled in. Nothing is
      erased before you confirm it.</p>
    <button class="primary">Show what would be erased</button>
  </form>`;
});

/** The vectors of an erasure, if the home has an encoder. */
const vectorsOf = ({ vectors }) => (vectors ? `, ${count(vectors, "vector")} of their meaning` : "");

const Plan = component((props, own) => {
  const chosen = () => targets();
  const request = (given) => ({
    zone: props.value.zone,
    path: "/forget",
    method: "POST",
    body: { ...given, dry_run: true },
  });
  const found = load(own, () => {
    const given = chosen();
    return given && request(given);
  });
  follow(own, () => {
    const given = chosen();
    if (given === null) {
      sameAs(["certificates"], { zone: props.value.zone, path: "/certificates" });
      return;
    }
    sameAs(
      [
        "forget",
        ...(given.ids ?? []),
        ...FIELDS.filter(([name]) => name !== "ids").flatMap(([name]) =>
          option(`--${name.replace("time_", "")}`, given[name]),
        ),
        ...(given.also ?? []).flatMap((each) => ["--also", each]),
        "--dry-run",
      ],
      request(given),
    );
  });

  return () => {
    const given = chosen();
    if (given === null) return null;
    return answered(found, (plan) => html`<section aria-labelledby="goes">
        <h2 id="goes">What would be erased</h2>
        <p>${count(plan.events, "record")} of the ledger, ${count(plan.facts, "fact")},
          ${" "}${count(plan.entities, "person or thing", "people and things")}${vectorsOf(plan)}. A fact that another message states too stays,
          with that message as its source.</p>
        ${plan.already_forgotten.length
          ? html`<p class="quiet">Forgotten before: ${plan.already_forgotten.map(
              (id) => html`<${Name} text=${id} /> `)}</p>`
          : null}
        <${Words} zone=${props.value.zone} ids=${plan.forgotten} />
      </section>
      <${Stays} plan=${plan} />
      ${plan.events
        ? html`<${Confirm} zone=${props.value.zone} given=${given} plan=${plan}
            fresh=${!found.value.loading} tell=${props.value.tell} />`
        : html`<p class="quiet">There is nothing to erase.</p>`}`,
      (problem) => html`<${EntityProblem} zone=${props.value.zone} problem=${problem}
        href=${(id) => hrefOf({ view: "forget", params: { ...address.value.params, entity: id } })} />`);
  };
});

/** The texts of the events to erase. Properties: `zone`, `ids`. */
const Words = component((props) => {
  const limit = signal(SHOWN);
  return () => {
    const { zone, ids } = props.value;
    const left = ids.length - limit.value;
    return html`<ul class="rows" aria-label="What would be erased">${ids.slice(0, limit.value).map(
        (id) => html`<${Word} key=${id} zone=${zone} id=${id} />`,
      )}</ul>
      ${left > 0
        ? html`<p class="field quiet">And ${count(left, "more", "more")}.
            <button type="button" class="plain" onClick=${() => (limit.value += MORE)}>
              Show ${left > MORE ? `${MORE} more` : left === 1 ? "it" : `all ${ids.length}`}</button></p>`
        : null}`;
  };
});

const Word = component((props, own) => {
  const isRecord = () => props.value.id.startsWith("#");
  const found = load(own, () => {
    const { zone, id } = props.value;
    return { zone, path: isRecord() ? `/records/${id.slice(1)}` : memoryPath(id) };
  });
  return () => {
    const { data } = found.value;
    if (isRecord() && data) {
      const { record } = data;
      const words = [record.kind.replaceAll("_", " "), firstWords(record)].filter(Boolean).join(": ");
      return html`<li class="gone"><a href=${hrefOf({ view: "ledger", id: String(record.number) })}>
          <${Text} text=${words} limit=${240} /></a>
        <div class="about">record ${record.number}, ${time(record.ingested_at)}</div></li>`;
    }
    return html`<li class="gone">${data
      ? html`<a href=${memoryHref(data.type, data.id)}><${Text} text=${data.text} limit=${240} /></a>
          <div class="about">${attribution(data)}</div>`
      : html`<${Name} text=${props.value.id} />`}</li>`;
  };
});

/** Other entities that the name may mean, erased only if ticked. Property: `plan`. */
const Stays = component((props) => () => {
  const also = listed(address.value.params.also);
  const { plan } = props.value;
  const ticked = also.filter((id) => !plan.also_possible.some((each) => each.id === id));
  if (!plan.also_possible.length && !ticked.length) return null;
  const tick = (id, on) =>
    setParams({ also: (on ? [...also, id] : also.filter((each) => each !== id)).join(" ") },
      { replace: true });
  return html`<section aria-labelledby="stays"><h2 id="stays">What stays</h2>
    <p>The name may refer to these too, but that is uncertain. They stay unless you tick them.</p>
    <ul class="rows" aria-label="What stays">
      ${ticked.map((id) => html`<li key=${id}><label><input type="checkbox" checked
        onChange=${() => tick(id, false)} /> <${Name} text=${id} /> is erased too</label></li>`)}
      ${plan.also_possible.map((each) => html`<li key=${each.id}><label>
        <input type="checkbox" checked=${also.includes(each.id)}
          onChange=${({ target }) => tick(each.id, target.checked)} />
        ${" "}<${Text} text=${each.text} limit=${240} /></label>
        <div class="about"><span class="kind">${each.type === "entity" ? "another name" : "message"}</span>
          <span>${count(each.events, "record")}</span></div></li>`)}
    </ul></section>`;
});

/** The form that erases. Properties: `zone`, `given`: the selection, `plan`, `fresh`: whether the
 * plan is about this selection, `tell`: called with the report. */
const Confirm = component((props) => {
  const typed = signal("");
  const proof = signal(true);
  const { busy, run, outcome } = commands();

  async function submit(event) {
    event.preventDefault();
    const { zone, given, tell } = props.value;
    const body = { ...given, dry_run: false, certificate: proof.value };
    const report = await run({ zone, path: "/forget", method: "POST", body }, "Forgotten.");
    if (report === null) return;
    typed.value = "";
    tell(report);
    setParams(Object.fromEntries(PARAMS.map((name) => [name, ""])), { replace: true });
  }

  return () => {
    const { zone, plan, fresh } = props.value;
    const words = `forget ${plan.events}`;
    const allowed = may("forget", zone);
    return html`<form class="confirm" onSubmit=${submit} aria-label="Confirmation">
      <p><label><input type="checkbox" checked=${proof.value}
        onChange=${({ target }) => (proof.value = target.checked)} /> Verify the erasure and issue a
        certificate (this reads the whole ledger)</label></p>
      <p class="field"><label for="confirm">Type <code>${words}</code> to erase it permanently</label>
        <input id="confirm" autocomplete="off" value=${typed.value} disabled=${!allowed}
          onInput=${({ target }) => (typed.value = target.value)} />
        <button class="danger" disabled=${!allowed || !fresh || busy.value || typed.value.trim() !== words}>
          ${busy.value ? "Erasing…" : "Forget"}</button>${lacking("forget", zone)}</p>
      <p class="quiet" role="status">${busy.value
        ? `Erasing${proof.value ? ", and reading the whole ledger for the certificate. This may take minutes" : ""}.` : null}</p>
      ${outcome()}
    </form>`;
  };
});

const focused = (element) => element?.focus();

/** The report of an erasure. Properties: `zone`, `report`. */
const Forgotten = component((props) => () => {
  const { zone, report } = props.value;
  // The form that had the focus is gone.
  return html`<section aria-labelledby="gone" class="done"><h2 id="gone" tabindex="-1"
      ref=${focused}>Forgotten</h2>
    <p role="status">${count(report.events, "record")} can no longer be read: their keys are
      destroyed. ${count(report.facts, "fact")}, ${count(report.entities, "person or thing", "people and things")}${vectorsOf(report)}
      ${" "}went with them. This cannot be undone.</p>
    ${report.certificate
      ? html`<${Certificate} zone=${zone} certificate=${report.certificate} />`
      : null}</section>`;
});

/** A certificate: contents, download, verification. Properties: `zone`, `certificate`. */
const Certificate = component((props, own) => {
  const check = longOperation(own);
  const href = signal("");
  const made = () => new Blob([JSON.stringify(props.value.certificate, null, 2)], { type: "application/json" });
  href.value = URL.createObjectURL(made());
  own(() => URL.revokeObjectURL(href.value));

  return () => {
    const { zone, certificate } = props.value;
    const { statement } = certificate;
    const { erased, rows, replay, scan } = statement;
    const mayCheck = may("admin", zone);
    return html`<div class="certificate">
      <dl class="explained">
        <div><dt>Erasure</dt><dd>${statement.erasure}, ${time(statement.erased_at)}</dd></div>
        <div><dt>Records</dt><dd>${erased.map(({ number }) => number).join(", ")}</dd></div>
        <div><dt>Rows removed</dt><dd>${rows
          ? rows.reduce((sum, each) => sum + each.rows, 0).toLocaleString("en")
          : "not counted: issued later than the erasure"}</dd></div>
        <div><dt>Replayed</dt><dd>${replay.every(({ ok }) => ok)
          ? `${count(replay.length, "file")} equal to the ledger's replay`
          : "a file differs from the ledger's replay"}</dd></div>
        <div><dt>Searched</dt><dd>${count(scan.files, "file")} for ${count(scan.keys, "destroyed key")}</dd></div>
        <div><dt>SHA-256</dt><dd><code>${certificate.sha256}</code></dd></div>
      </dl>
      <p class="field"><a href=${href.value} download=${`erasure-${statement.erasure}.json`}>
          Download the certificate</a>
        <button type="button" disabled=${!mayCheck || check.busy()}
          onClick=${() => check.start(zone, "/verify", { certificate })}>Check it</button>
        ${lacking("admin", zone)}</p>
      ${check.outcome(zone, (found) => html`<${Checked} check=${found.certificate} />`)}
    </div>`;
  };
});

const CHECKS = {
  unchanged: "its statement matches its hash",
  issued_here: "this home issued it for this zone",
  recorded: "the ledger has its record",
  in_ledger: "the ledger has the erasure of these records",
  keys_gone: "none of the destroyed keys exists",
  hashes_agree: "every file equals its replay, then and now",
};

const Checked = component((props) => () => {
  const { check } = props.value;
  return html`<div role="status"><p>${check.ok ? "The certificate is valid:" : "The certificate is not valid:"}</p>
    <ul aria-label="Checks">${Object.entries(CHECKS).map(
      ([name, words]) => html`<li>${check[name] ? "✓" : "✗"} ${words}</li>`)}</ul>
    ${check.problems.map((each) => html`<p class="flag"><${Text} text=${each} /></p>`)}</div>`;
});

const Certificates = component((props, own) => {
  const found = load(own, () => ({ zone: props.value.zone, path: "/certificates" }));
  return () => html`<section aria-labelledby="certificates">
    <h2 id="certificates">Certificates</h2>
    ${answered(found, ({ certificates }) => certificates.length
      ? html`<ul class="rows" aria-label="Certificates">${certificates.map(
          (each) => html`<${Issued} key=${each.erasure} zone=${props.value.zone} summary=${each} />`)}</ul>`
      : html`<p class="quiet">There are none.</p>`)}</section>`;
});

const Issued = component((props, own) => {
  const shown = signal(null);
  const problem = signal(null);
  const command = load(own, () => ({
    zone: props.value.zone,
    path: `/records/${props.value.summary.erasure}`,
  }));
  async function show() {
    const { zone, summary } = props.value;
    try {
      shown.value = await call({ zone, path: `/certificates/${summary.erasure}` });
    } catch (error) {
      problem.value = error;
    }
  }
  return () => {
    const { zone, summary } = props.value;
    const { data } = command.value;
    return html`<li>Erasure <a href=${hrefOf({ view: "ledger", id: String(summary.erasure) })}>${summary.erasure}</a>,
      ${" "}${time(summary.erased_at)}${data ? html`, by <${Giver} by=${data.record.given_by} />` : null}:
      ${" "}${count(summary.records, "record")}, chosen by ${summary.selectors.join(", ").replaceAll("_", " ")}
      ${shown.value
        ? html`<${Certificate} zone=${zone} certificate=${shown.value} />`
        : html` <button type="button" class="plain" onClick=${show}>Show</button>`}
      ${problem.value ? html`<${Refused} problem=${problem.value} />` : null}</li>`;
  };
});
