// Ask: recall and its explanation, why a memory was not returned, and the context for an agent.

import { address, hrefOf, setParams } from "../shell/address.js";
import { component, follow, html, signal } from "../shell/component.js";
import { option, sameAs } from "../shell/same_answer.js";
import { load } from "../shell/service.js";
import { Difference } from "../parts/difference.js";
import {
  Fold,
  KINDS,
  Sources,
  attribution,
  isId,
  memoryHref,
  memoryPath,
} from "../parts/memories.js";
import { comparedMoments, inWords, moment, momentOptions, otherMoment } from "../parts/moments.js";
import { answered, nothing } from "../parts/states.js";
import { Text } from "../parts/texts.js";
import { count } from "../parts/times.js";

const AXES = ["known_at", "valid_at"];
const PANELS = [
  ["", "Results"],
  ["why-not", "Why not"],
  ["context", "For an agent"],
];
const MAX_RESULTS = 20;
// The criterion of each arm of recall.
const SEARCHES = {
  semantic: "meaning of the whole message",
  sentence: "meaning of a fact",
  keyword: "words of the message",
  statement: "words of a fact",
  entity: "people and things that the question names",
  late: "meaning, word by word",
  temporal: "times that the question names",
  source: "sources that the question names",
  shared: "rare people and things in the best results",
  day: "days of the best results",
  causal: "causes and effects",
  graph: "relationships",
};

// The step of recall that dropped a memory.
const STEPS = {
  arms: "the searches",
  diversity: "the removal of repetitions",
  filter: "the filters",
  max_results: "the number of results",
  min_score: "the lowest score allowed",
  pool: "the choice of candidates",
  scope: "the scope of the question",
  stands_for: "another memory that stands for it",
  unreadable: "its erasure",
};

const View = component((props, own) => {
  const typed = signal(address.value.params.query ?? "");
  follow(own, () => (typed.value = address.value.params.query ?? ""));

  function submit(event) {
    event.preventDefault();
    setParams({ query: typed.value.trim() });
  }

  return () => {
    const { query, show = "" } = address.value.params;
    const { zone } = props.value;
    const panel = { "": Results, "why-not": WhyNot, context: Context }[show] ?? Results;
    return html`<form class="ask" role="search" onSubmit=${submit}>
        <label for="question">Question</label>
        <input id="question" type="search" autocomplete="off" value=${typed.value}
          placeholder="Where does Ada live?"
          onInput=${({ target }) => (typed.value = target.value)} />
        <button class="primary">Ask</button>
      </form>
      ${query
        ? html`<nav class="tabs" aria-label="Views of the answer">${PANELS.map(
            ([name, title]) => html`<a
              href=${hrefOf({ view: "ask", params: { ...address.value.params, show: name } })}
              aria-current=${name === show ? "true" : undefined}>${title}</a>`,
          )}</nav>
          <${panel} key=${show} zone=${zone} query=${query} />`
        : html`<p class="quiet">Ask in plain words. Each result shows how it was found.</p>`}`;
  };
});

export const ask = { name: "ask", title: "Ask", group: "Memory", moments: () => AXES, View };

function question(zone, query, at) {
  const body = { query, explain: true, max_results: MAX_RESULTS, ...at };
  return { zone, path: "/memories/recall", method: "POST", body };
}

const Results = component((props, own) => {
  const now = load(own, () => question(props.value.zone, props.value.query, moment(AXES)));
  const then = load(own, () => {
    const other = otherMoment(AXES);
    return other && question(props.value.zone, props.value.query, other);
  });
  follow(own, () => {
    const { zone, query } = props.value;
    const at = moment(AXES);
    sameAs(["recall", query, "--explain", ...momentOptions(at)], question(zone, query, at));
  });

  return () => {
    const { zone, query } = props.value;
    const other = otherMoment(AXES);
    if (other && then.value.data) {
      const [first, last] = comparedMoments(AXES);
      return answered(now, (answer) => {
        const pair = [then.value.data, answer];
        if (inWords(first) !== inWords(other)) pair.reverse();
        const [before, after] = pair.map(asItems);
        return html`<${Difference} before=${before} after=${after}
          then=${inWords(first)} now=${inWords(last)} />`;
      });
    }
    return answered(now, (answer) => {
      if (!answer.results.length) return nothing("No memory answers this.");
      const arms = armsOf(answer.results);
      return html`<p class="quiet" role="status">
          ${count(answer.results.length, "result")} in ${Math.round(answer.ms)} ms.
          Probability that the memory has an answer: ${percent(answer.relevant)}.</p>
        <p class="quiet">The searches choose the candidates: below each is its rank in every search, or – if
          that did not find it. The score on the right, from 0 to 1, orders them.</p>
        <${Fold} summary="What each search compares">${() => html`<dl class="pairs">${arms.map(
          (arm) => html`<dt>${arm}</dt><dd>${SEARCHES[arm] ?? "another search"}</dd>`)}</dl>`}</${Fold}>
        <ol class="results">${answer.results.map(
          (result, at) => html`<${Result} key=${result.id} rank=${at + 1} result=${result}
            arms=${arms} zone=${zone} query=${query} />`,
        )}</ol>`;
    });
  };
});

const Result = component((props) => () => {
  const { result, rank, arms, zone, query } = props.value;
  return html`<li class="result">
    <div class="line">
      <span class="rank" aria-label=${`Rank ${rank}`}>${rank}</span>
      <div class="what">
        <a href=${memoryHref(result.type, result.id)}><${Text} text=${result.text} /></a>
        <div class="about">
          <span class="kind">${KINDS[result.type]}</span>
          ${attribution(result)}
          ${result.is_stale || result.superseded_by?.length
            ? html`<span class="flag">out of date</span>`
            : null}
          ${result.uncertain ? html`<span class="flag">uncertain</span>` : null}
        </div>
      </div>
      <${Score} score=${result.score} />
    </div>
    <dl class="arms" aria-label="Rank in each search">${arms.map(
      (arm) => html`<div><dt title=${SEARCHES[arm]}>${arm}</dt><dd>${result.arms?.[arm] ?? "–"}</dd></div>`,
    )}${result.similarity == null
      ? null
      : html`<div><dt>similarity</dt><dd>${result.similarity.toFixed(2)}</dd></div>`}</dl>
    <${Fold} summary="How it was found">${() => html`
      <${Explained} zone=${zone} query=${query} id=${result.id} />
      <${Sources} zone=${zone} id=${result.id} />`}</${Fold}>
  </li>`;
});

const Score = component((props) => () => {
  const { score } = props.value;
  return html`<span class="score">
    <svg viewBox="0 0 40 4" width="40" height="4" aria-hidden="true">
      <rect class="track" width="40" height="4" /><rect width=${40 * score} height="4" />
    </svg>${score.toFixed(2)}</span>`;
});

/** The ranks of a memory: in each arm of recall, after fusion, and in the answer. */
const Explained = component((props, own) => {
  const found = load(own, () => explanation(props.value.zone, props.value.query, props.value.id));
  return () =>
    answered(found, (explained) => {
      const { arms, fused_rank: fused, rank, score, dropped_by: step, reason } = explained;
      const ranks = Object.entries(arms).sort((a, b) => a[1] - b[1]);
      return html`<dl class="explained">
        <div><dt>Rank in each search</dt><dd>${ranks.length
          ? ranks.map(([arm, at]) => `${arm} (${SEARCHES[arm] ?? "another search"}) ${at}`).join(", ")
          : "no search found it"}</dd></div>
        <div><dt>Rank in all searches together</dt><dd>${fused ?? "–"}</dd></div>
        <div><dt>Rank in the answer</dt><dd>${rank === null
          ? html`not in the answer`
          : `${rank}, score ${score.toFixed(3)}`}</dd></div>
        ${step ? html`<div><dt>Dropped by</dt><dd>${STEPS[step] ?? step}</dd></div>` : null}
        ${reason ? html`<div><dt>Why</dt><dd><${Text} text=${reason} /></dd></div>` : null}
      </dl>`;
    });
});

function explanation(zone, query, id) {
  const { body } = question(zone, query, moment(AXES));
  return { zone, path: `${memoryPath(id)}/explain`, method: "POST", body };
}

const WhyNot = component((props, own) => {
  const typed = signal(address.value.params.item ?? "");
  const found = load(own, () => {
    const { item } = address.value.params;
    if (!item || isId(item)) return null;
    const body = { query: item, max_results: 5, ...moment(AXES) };
    return { zone: props.value.zone, path: "/memories/recall", method: "POST", body };
  });
  follow(own, () => {
    const { zone, query } = props.value;
    const { item } = address.value.params;
    if (item) {
      sameAs(["why", item, "--query", query, ...momentOptions(moment(AXES))],
        explanation(zone, query, item));
    }
  });

  function submit(event) {
    event.preventDefault();
    setParams({ item: typed.value.trim() });
  }

  return () => {
    const { zone, query } = props.value;
    const { item } = address.value.params;
    return html`<form class="ask" onSubmit=${submit}>
        <label for="item">Id or text of the missing memory</label>
        <input id="item" autocomplete="off" value=${typed.value}
          onInput=${({ target }) => (typed.value = target.value)} />
        <button>Explain</button>
      </form>
      ${item && isId(item)
        ? html`<${Explained} key=${item} zone=${zone} query=${query} id=${item} />
            <${Sources} key=${`why ${item}`} zone=${zone} id=${item} />`
        : null}
      ${found.value.data === null && found.value.problem === null
        ? null
        : answered(found, ({ results }) =>
            results.length
              ? html`<p class="quiet">The memories nearest to these words, and what became of each in the
                  answer:</p>
                <ul class="rows" aria-label="Nearest memories">${results.map(
                  (each) => html`<li key=${each.id}>
                    <a href=${memoryHref(each.type, each.id)}><${Text} text=${each.text} /></a>
                    <div class="about"><span class="kind">${KINDS[each.type]}</span>
                      ${attribution(each)}</div>
                    <${Explained} zone=${zone} query=${query} id=${each.id} /></li>`,
                )}</ul>`
              : nothing("No memory resembles this text. What was retracted or forgotten is not searched."))}`;
  };
});

const MAX_TOKENS = 500;

const Context = component((props, own) => {
  const request = () => ({
    zone: props.value.zone,
    path: "/context",
    method: "POST",
    body: {
      task: props.value.query,
      max_tokens: Number(address.value.params.tokens) || MAX_TOKENS,
    },
  });
  const found = load(own, request);
  follow(own, () => {
    const { tokens } = address.value.params;
    sameAs(["context", props.value.query, ...option("--max-tokens", tokens)], request());
  });

  return () => html`<p class="field"><label for="tokens">At most</label>
      <input id="tokens" type="number" min="1" max="100000" step="50"
        value=${address.value.params.tokens ?? MAX_TOKENS}
        onChange=${({ target }) => setParams({ tokens: target.value })} /> tokens,
      as of now</p>
    ${answered(found, ({ block, tokens, items, ms }) =>
      block
        ? html`<p class="quiet" role="status">${count(tokens, "token")} for
            ${" "}${count(items.length, "memory", "memories")}, in ${Math.round(ms)} ms. An agent
            is given exactly this:</p>
          <div class="block" tabindex="0" aria-label="Context block"><${Text} text=${block}
            limit=${100000} /></div>`
        : nothing("Nothing is relevant enough, so an agent gets no context."))}`;
});

function asItems(answer) {
  return answer.results.map(({ id, type, text, superseded_by: after }) => ({
    id,
    text,
    href: memoryHref(type, id),
    state: after?.length ? "replaced" : "",
  }));
}

function armsOf(results) {
  return [...new Set(results.flatMap((result) => Object.keys(result.arms ?? {})))].sort();
}

function percent(share) {
  return `${Math.round(share * 100)}%`;
}
