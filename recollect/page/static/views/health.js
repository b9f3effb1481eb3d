// Health: progress and lag of the zone, dead letters, and maintenance.

import { hrefOf } from "../shell/address.js";
import { component, follow, html, signal } from "../shell/component.js";
import { statusProblem, zoneStatus } from "../shell/live.js";
import { sameAs } from "../shell/same_answer.js";
import { load, may } from "../shell/service.js";
import { commands, lacking } from "../parts/commands.js";
import { GenerationDifference } from "../parts/generations.js";
import { Operation, longOperation } from "../parts/long_operations.js";
import { Refused, answered, nothing } from "../parts/states.js";
import { Name, Text } from "../parts/texts.js";
import { count, time } from "../parts/times.js";

// At least half an hour: the status is sent every ten seconds, and at most once a second.
const MAX_SAMPLES = 900;

const View = component((props) => () => html`<${State} zone=${props.value.zone} />
  <${DeadLetters} zone=${props.value.zone} />
  <${Upkeep} zone=${props.value.zone} />
  <${Operations} zone=${props.value.zone} />`);

export const health = { name: "health", title: "Health", group: "Operation", View };

const State = component((props, own) => {
  const samples = signal([]);
  const request = () => ({ zone: props.value.zone, path: "/status" });
  follow(own, () => {
    const status = zoneStatus.value;
    if (status === null) return;
    samples.value = [...samples.peek().slice(-MAX_SAMPLES + 1), { at: Date.now(), status }];
  });
  follow(own, () => sameAs(["status"], request()));

  return () => {
    const last = samples.value.at(-1);
    const problem = statusProblem.value;
    const refused = problem ? html`<${Refused} problem=${problem} />` : null;
    if (last === undefined) return refused ?? html`<p class="quiet" role="status">Loading…</p>`;
    const { status } = last;
    return html`${refused}
      <${Movement} status=${status} />
      <dl class="counts" aria-label="Numbers">${[
        ["Messages", status.events],
        ["Facts", status.facts],
        ["People and things", status.entities],
        ["Episodes", status.episodes],
        ["Observations", status.observations],
        ["Waiting records", status.lag],
        ["Dead letters", status.dead_letters],
      ].map(([name, value]) => html`<div><dt>${name}</dt><dd>${value.toLocaleString("en")}</dd></div>`)}</dl>
      <${Trend} samples=${samples.value} />
      <dl class="pairs"><dt>Generation</dt><dd>${status.generation}</dd>
        <dt>Encoder</dt><dd>${status.encoder ?? "none: recall uses keywords"}</dd>
        <dt>Agents</dt><dd>${status.agents.join(", ")}</dd>
        <dt>Head</dt><dd><code>${status.head}</code></dd>
        <dt>Files</dt><dd>${status.models.map((each) => `${each.model} up to record ${each.watermark}`).join(", ")}</dd></dl>`;
  };
});

/** Whether the zone makes progress, as a sentence. Property: `status`. */
const Movement = component((props) => () => {
  const { lag, lag_seconds: age, seconds_since_progress: idle, stalled, problem } = props.value.status;
  if (!lag && !problem) return html`<p role="status">Every record is processed.</p>`;
  const waiting = `${count(lag, "record")} ${lag === 1 ? "waits" : "wait"}${
    age === null ? "" : `, the first for ${duration(age)}`}`;
  if (stalled) {
    return html`<p class="problem" role="alert"><strong>Stalled.</strong> ${waiting}; ${idle === null
      ? "none was ever processed"
      : `no progress for ${duration(idle)}, since ${time(new Date(Date.now() - 1000 * idle).toISOString())}`}.
      ${" "}${problem
        ? html`Why: <${Text} text=${problem} />.`
        : html`Check that a worker runs (recollect worker), and its log; recollect doctor says what is
            wrong with the home.`}</p>`;
  }
  if (problem) {
    return html`<p class="problem" role="alert"><strong>Records cannot be processed.</strong>
      ${" "}Why: <${Text} text=${problem} />.</p>`;
  }
  return html`<p role="status">Not stalled: ${waiting}${
    idle === null ? "" : `; the files last moved ${duration(idle)} ago`}.</p>`;
});

function duration(seconds) {
  if (seconds < 120) return count(Math.round(seconds), "second");
  return seconds < 7200 ? count(Math.round(seconds / 60), "minute") : count(Math.round(seconds / 3600), "hour");
}

/** The lag since the page was opened. Property: `samples`. */
const Trend = component((props) => () => {
  const { samples } = props.value;
  const lags = samples.map(({ status }) => status.lag);
  const top = Math.max(...lags, 1);
  const [first, last] = [samples[0].at, samples.at(-1).at];
  const place = ({ at, status }) =>
    `${last === first ? 0 : (600 * (at - first)) / (last - first)},${40 - (38 * status.lag) / top}`;
  const change = lags.at(-1) - lags[0];
  const words = change === 0 ? "unchanged" : change > 0 ? `up by ${change}` : `down by ${-change}`;
  return html`<figure class="trend">
    <svg viewBox="0 0 600 42" preserveAspectRatio="none" role="img"
      aria-label=${`Waiting records: at most ${Math.max(...lags)}, ${words} since this page was opened`}>
      <polyline points=${samples.map(place).join(" ")} /></svg>
    <figcaption class="quiet">Waiting records since this page was opened: ${words}${
      last - first >= 1000 ? ` in ${duration((last - first) / 1000)}` : ""}</figcaption></figure>`;
});

const DeadLetters = component((props, own) => {
  const given = commands();
  const edited = signal(null);
  const found = load(own, () =>
    may("admin", props.value.zone) ? { zone: props.value.zone, path: "/dead-letters" } : null,
  );
  const act = (number, name, body = {}) => ({
    zone: props.value.zone,
    path: `/dead-letters/${number}/${name}`,
    method: "POST",
    body,
  });
  const retry = (number) =>
    given.run(act(number, "retry"), ({ parked }) =>
      parked
        ? `Record ${number} still cannot be processed; edit it, or drop it.`
        : `Record ${number} is processed.`);
  const correct = async (number, events) => {
    const publish = {
      zone: props.value.zone,
      path: "/events",
      query: { wait: "true" },
      method: "POST",
      body: { events },
    };
    if (await given.run([publish, act(number, "drop")], `A corrected record will be processed in place of ${number}.`)) {
      edited.value = null;
    }
  };

  return () => {
    const { zone } = props.value;
    const row = (letter) => html`<li key=${letter.number}>
      <p><a href=${hrefOf({ view: "ledger", id: String(letter.number) })}>Record ${letter.number}</a>,
        ${" "}${letter.kind === "park" ? "unreadable input" : letter.kind.replaceAll("_", " ")}:
        ${" "}<${Text} text=${letter.reason} limit=${500} /></p>
      <${Words} zone=${zone} number=${letter.number} />
      <div class="about"><time>${time(new Date(letter.parked_at).toISOString())}</time></div>
      <div class="field">
        <button type="button" disabled=${given.busy.value} aria-label=${`Retry record ${letter.number}`}
          onClick=${() => retry(letter.number)}>Retry</button>
        <button type="button" disabled=${given.busy.value} aria-label=${`Edit record ${letter.number}`}
          onClick=${() => (edited.value = edited.value === letter.number ? null : letter.number)}>Edit and retry</button>
        <button type="button" disabled=${given.busy.value} aria-label=${`Drop record ${letter.number}`}
          onClick=${() => given.run(act(letter.number, "drop"),
            `Record ${letter.number} was removed from the queue; it stays in the ledger.`)}>Drop</button></div>
      ${edited.value === letter.number
        ? html`<${Edit} zone=${zone} number=${letter.number} busy=${given.busy.value} send=${correct} />`
        : null}</li>`;
    return html`<section aria-labelledby="letters"><h2 id="letters">Dead letters</h2>
      ${lacking("admin", zone)}${given.outcome()}
      ${may("admin", zone)
        ? answered(found, ({ dead_letters: letters }) => letters.length
            ? html`<p class="quiet">Records that could not be processed. Each waits until it is retried, corrected
                  or dropped; the zone continues without it.</p>
                <ul class="rows" aria-label="Dead letters">${letters.map(row)}</ul>`
            : nothing("There are none."))
        : null}</section>`;
  };
});

/** What a dead letter says, and who said it. Properties: `zone`, `number`. */
const Words = component((props, own) => {
  const found = load(own, () => ({ zone: props.value.zone, path: `/records/${props.value.number}` }));
  return () => {
    const { record, payload } = found.value.data ?? {};
    const words = payload?.content ?? payload?.body;
    return words
      ? html`<blockquote>${record.sender ? html`<${Name} text=${record.sender} />: ` : null}<${Text}
          text=${words} limit=${240} /></blockquote>`
      : null;
  };
});

/** A form to correct a dead letter. Properties: `zone`, `number`, `busy`, `send`. */
const Edit = component((props, own) => {
  const found = load(own, () => ({ zone: props.value.zone, path: `/records/${props.value.number}` }));
  const typed = signal(null);
  const wrong = signal("");

  function submit(event) {
    event.preventDefault();
    const { number, send } = props.value;
    wrong.value = "";
    try {
      send(number, [corrected(found.value.data, typed.value ?? startOf(found.value.data))]);
    } catch (error) {
      wrong.value = `This is not JSON: ${error.message}`;
    }
  }

  return () =>
    answered(found, (details) => details.payload === null
      ? html`<p class="flag">Its content cannot be read. Drop it or forget it.</p>`
      : !("content" in details.payload) && !("body" in details.payload)
        ? html`<p class="quiet">A ${details.record.kind} has no text to edit; retry it, or drop it.</p>`
        : html`<form onSubmit=${submit}>
          <label for="corrected">${"body" in details.payload ? "The event as JSON" : "Its text"}</label>
          <textarea id="corrected" rows="6" spellcheck="false" value=${typed.value ?? startOf(details)}
            onInput=${({ target }) => (typed.value = target.value)}></textarea>
          ${wrong.value ? html`<p class="problem" role="alert">${wrong.value}</p>` : null}
          <button class="primary" disabled=${props.value.busy}>Publish the correction</button></form>`);
});

const startOf = ({ payload }) => payload.body ?? payload.content;

/** Return the event that replaces a dead letter: its JSON, or an edit of the message. */
function corrected({ record, payload }, text) {
  if ("body" in payload) return JSON.parse(text);
  const { sender_id, sender_name, peer_id, peer_kind, thread_id, session_id } = payload;
  return {
    platform: record.platform,
    id: `${payload.source_id}:corrected:${Date.now()}`,
    kind: "edit",
    target: payload.target ?? payload.source_id,
    said_at: record.occurred_at,
    occurred_at: new Date().toISOString(),
    content: text,
    ...{ sender_id, sender_name, peer_id, peer_kind, thread_id, session_id },
  };
}

const LEVELS = [
  ["index", "index: the search indexes"],
  ["project", "project: all files, from the recorded decisions"],
  ["derive", "derive: decide again, with the recorded vectors"],
  ["fresh", "fresh: decide and embed again"],
];

const Upkeep = component((props, own) => {
  const level = signal("project");
  const compared = signal(null);
  const expected = signal("");
  const rebuilding = longOperation(own);
  const verifying = longOperation(own);

  const rebuild = (body) => {
    compared.value = body.compare ? body.level : null;
    rebuilding.start(props.value.zone, "/rebuild", body);
  };
  const verify = (event) => {
    event.preventDefault();
    const expect = expected.value.trim();
    verifying.start(props.value.zone, "/verify", expect ? { expect } : {});
  };
  const report = (found) => found.level === undefined
    ? html`<p role="status">Generation ${found.generation} is in use again.</p>`
    : html`<p role="status">${count(found.records, "record")} read${found.generation
          ? `, generation ${found.generation} ${compared.value ? "built, not active" : "in use"}` : ""}${
          found.seconds == null ? "" : `, in ${found.seconds} s`}.</p>
        ${found.difference ? html`<${GenerationDifference} difference=${found.difference} />` : null}
        ${compared.value
          ? html`<button type="button" class="primary" onClick=${() => rebuild({ level: compared.value })}>
              Cut over to it</button>`
          : null}`;

  return () => {
    const { zone } = props.value;
    const disabled = !may("admin", zone) || rebuilding.busy() || verifying.busy();
    const decides = ["derive", "fresh"].includes(level.value);
    return html`<section aria-labelledby="rebuild"><h2 id="rebuild">Generations</h2>
        ${lacking("admin", zone)}
        <p class="field"><label for="level">Rebuild</label>
          <select id="level" value=${level.value} disabled=${disabled}
            onChange=${({ target }) => (level.value = target.value)}>${LEVELS.map(
              ([name, words]) => html`<option value=${name}>${words}</option>`)}</select>
          <button type="button" disabled=${disabled || !decides}
            onClick=${() => rebuild({ level: level.value, compare: true })}>Build and compare</button>
          <button type="button" disabled=${disabled}
            onClick=${() => rebuild({ level: level.value })}>Rebuild and activate</button>
          <button type="button" disabled=${disabled}
            onClick=${() => { compared.value = null; rebuilding.start(zone, "/rollback"); }}>Roll back</button></p>
        <p class="quiet">A generation is one set of the files that are made from the ledger. The active generation is used until the new one is complete. Only derive and fresh
          decide again, so only they can be compared.</p>
        ${rebuilding.outcome(zone, report)}</section>
      <section aria-labelledby="verify"><h2 id="verify">Verify</h2>
        <form class="field" onSubmit=${verify}>
          <label for="expect">A head stored elsewhere (optional)</label>
          <input id="expect" autocomplete="off" value=${expected.value} disabled=${disabled}
            onInput=${({ target }) => (expected.value = target.value)} />
          <button disabled=${disabled}>Replay and compare</button></form>
        <p class="quiet">Reads the whole ledger again, and compares what follows from it with the files in use. The
          head identifies the last record with its hash; if you give an earlier head, the ledger must still contain it.</p>
        ${verifying.outcome(zone, (found) => html`<${Verified} found=${found} />`)}</section>`;
  };
});

const Verified = component((props) => () => {
  const { found } = props.value;
  return html`<div role="status">
    <p class=${found.ok ? "done" : "problem"}>${found.ok
      ? "The ledger is intact, and every file equals its replay."
      : found.ledger_ok
        ? "The ledger is intact, but a file differs from its replay; rebuild it."
        : "The ledger is damaged, or is not the one that was expected."}</p>
    <table><thead><tr><th scope="col">File</th><th scope="col">In use</th><th scope="col">Replayed</th>
      <th scope="col">Equal</th></tr></thead>
      <tbody>${found.models.map((each) => html`<tr key=${each.model}><th scope="row">${each.model}</th>
        <td><code>${each.hash.slice(0, 16)}</code></td><td><code>${each.replayed.slice(0, 16)}</code></td>
        <td>${each.ok ? "yes" : "no"}</td></tr>`)}</tbody></table>
    ${found.problems.map((each) => html`<p class="flag"><${Text} text=${each} /></p>`)}
    <p class="quiet">Head <code>${found.head}</code></p></div>`;
});

const Operations = component((props, own) => {
  const found = load(own, () =>
    may("admin", props.value.zone) ? { zone: props.value.zone, path: "/operations" } : null,
  );
  return () => !may("admin", props.value.zone)
    ? null
    : html`<section aria-labelledby="operations"><h2 id="operations">Earlier operations</h2>
      ${answered(found, ({ operations }) => operations.length
        ? html`<ul class="rows" aria-label="Earlier operations">${operations.slice(0, 10).map(
            (each) => html`<li key=${each.id}><${Operation} zone=${props.value.zone} operation=${each} />
              <div class="about"><time>${time(each.created_at)}</time>
                ${each.result?.generation ? html`<span>generation <${Name} text=${each.result.generation} /></span>` : null}</div></li>`)}</ul>`
        : nothing("There are none."))}</section>`;
});
