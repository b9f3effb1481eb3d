// The moments of a view and those to compare it with, parameters of the address: known_at, valid_at
// and, with compare, then_known_at, then_valid_at.

import { address, setParams } from "../shell/address.js";
import { component, html, signal } from "../shell/component.js";
import { option } from "../shell/same_answer.js";
import { load } from "../shell/service.js";
import { time } from "./times.js";

const AXES = {
  known_at: ["Known at", "what was stored by then"],
  valid_at: ["Valid at", "what was true then"],
};
const DAY = 86_400_000;
// Debounce of a slider, in ms.
const REST_MS = 200;

/** Return the moments in a view's address: {known_at, valid_at}; defaults: now, any time. */
export function moment(axes, prefix = "") {
  const { params } = address.value;
  const given = axes.map((axis) => [axis, params[prefix + axis]]);
  return Object.fromEntries(given.filter(([, value]) => value));
}

/** Return the moments to compare with; null if nothing is compared. */
export function otherMoment(axes) {
  return address.value.params.compare ? moment(axes, "then_") : null;
}

/** Return the moments of a comparison, the earlier first. */
export function comparedMoments(axes) {
  const pair = [otherMoment(axes) ?? {}, moment(axes)];
  const first = axes.find((axis) => pair[0][axis] !== pair[1][axis]);
  const [one, other] = pair.map((each) => Date.parse(each[first] ?? "") || Infinity);
  return one > other ? pair.reverse() : pair;
}

/** Return moments as options of a command. */
export function momentOptions({ known_at, valid_at }) {
  return [...option("--known-at", known_at), ...option("--valid-at", valid_at)];
}

/** Return moments as text. */
export function inWords({ known_at, valid_at }) {
  const parts = [
    ...(known_at ? [`known at ${time(known_at)}`] : []),
    ...(valid_at ? [`valid at ${time(valid_at)}`] : []),
  ];
  return parts.join(", ") || "known now";
}

/** Return the version current at a time, by default the latest. `at`: a version's time. */
export function versionAt(versions, known_at, at) {
  const known = Date.parse(known_at ?? "9999-12-31");
  return versions.filter((version) => Date.parse(at(version)) <= known).at(-1);
}

const NARROW = matchMedia("(max-width: 720px)");

/** The sliders, collapsed to a line on small screens. Properties: `axes`, `zone`. */
export const Moments = component((props, own) => {
  const open = signal(!NARROW.matches);
  const widened = () => NARROW.matches || (open.value = true);
  NARROW.addEventListener("change", widened);
  own(() => NARROW.removeEventListener("change", widened));
  const span = load(own, () => ({
    zone: props.value.zone,
    path: "/timeline/counts",
    // Only the times of the first and the latest message are needed, no counts.
    query: { last: "0001-01-01" },
  }));

  return () => {
    const { axes } = props.value;
    const { params } = address.value;
    const compare = Boolean(params.compare);
    const first = Date.parse(span.value.data?.first_said ?? "") || Date.now() - 365 * DAY;
    const from = first - (first % DAY);
    const until = Date.now();
    const sliders = (prefix) =>
      axes.map(
        (axis) =>
          html`<${Slider} key=${prefix + axis} name=${prefix + axis} from=${from} until=${until}
            label=${prefix ? `Compared: ${AXES[axis][0].toLowerCase()}` : AXES[axis][0]} />`,
      );
    const other = otherMoment(axes);
    return html`<details class="moments" open=${open.value}
      onToggle=${({ currentTarget }) => (open.value = currentTarget.open)}>
      <summary>As ${inWords(moment(axes))}${other ? `, compared with ${inWords(other)}` : ""}</summary>
      <div role="group" aria-label="Moments">
      ${sliders("")}
      ${compare ? sliders("then_") : null}
      <p class="flag" role="status">${other && inWords(other) === inWords(moment(axes))
        ? "Both times are the same. Set one of the compared times to see what differs." : null}</p>
      <p class="quiet">${axes.map((axis) => AXES[axis].join(": ")).join(". ")}.</p>
      <button type="button" class="plain compare" aria-pressed=${compare ? "true" : "false"}
        onClick=${() =>
          setParams({ compare: compare ? "" : "1", then_known_at: "", then_valid_at: "" })}>
        ${compare ? "End the comparison" : "Compare with another time"}
      </button></div>
    </details>`;
  };
});

const Slider = component((props) => {
  let waiting;

  function set(value) {
    clearTimeout(waiting);
    waiting = setTimeout(() => setParams({ [props.value.name]: value }, { replace: true }), REST_MS);
  }

  return () => {
    const { name, from, until, label } = props.value;
    const unset = name.endsWith("valid_at") ? "any time" : "now";
    const given = address.value.params[name] ?? "";
    const at = given ? Date.parse(given) : until;
    const last = Math.floor((until - from) / DAY) + 1;
    const position = given ? Math.min(Math.round((at - from) / DAY), last) : last;
    return html`<div class="slider">
      <label for=${`range-${name}`}>${label}</label>
      <input type="range" id=${`range-${name}`} min="0" max=${last} step="1" value=${position}
        aria-valuetext=${given ? time(given) : unset}
        onInput=${({ target }) =>
          set(Number(target.value) >= last ? "" : iso(from + Number(target.value) * DAY))} />
      <input type="datetime-local" aria-label=${`${label}, date and time in UTC`}
        value=${given ? new Date(at).toISOString().slice(0, 16) : ""}
        onChange=${({ target }) => set(target.value ? `${target.value}:00Z` : "")} />
      <span class="at">${given
        ? html`<button type="button" class="plain" aria-label=${`${label}: back to ${unset}`}
            onClick=${() => set("")}>${unset}</button>`
        : html`<span class="quiet">${unset}</span>`}</span>
    </div>`;
  };
});

function iso(ms) {
  return new Date(ms).toISOString().replace(/\.000Z$/, "Z");
}
