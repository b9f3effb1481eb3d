// Commands of a view: the requests that change memory, their outcome, undo, and required right.

import { component, html, signal } from "../shell/component.js";
import { command, may } from "../shell/service.js";
import { Refused } from "./states.js";

/** A line that names the right which the token lacks; null if it has it. */
export function lacking(right, zone) {
  return may(right, zone)
    ? null
    : html`<span class="quiet">This token has no right to ${right} in this zone.</span>`;
}

/**
 * Return the commands of a view: {busy, run, outcome}.
 *
 * `run(requests, said, undo)` sends one request, or several in order, and returns the first answer,
 * or null if one was refused. `said`: the message on success; `undo`: the requests that undo it;
 * both may be functions of the answer. `outcome()` renders the last outcome, where the view places
 * it. A control that is disabled meanwhile, or removed, loses the keyboard focus, which then goes to
 * the outcome.
 */
export function commands() {
  const busy = signal(false);
  const problem = signal(null);
  const done = signal(null);
  let place = null;

  async function run(requests, said, undo = null) {
    busy.value = true;
    problem.value = null;
    done.value = null;
    let answer = null;
    try {
      for (const request of [requests].flat()) {
        const found = await command(request);
        answer ??= found;
      }
      done.value = { said: of(said, answer), undo: of(undo, answer) };
    } catch (error) {
      problem.value = error;
      answer = null;
    }
    busy.value = false;
    requestAnimationFrame(() => {
      if (document.activeElement === document.body) place?.focus();
    });
    return answer;
  }

  const outcome = () => html`<div class="outcome" tabindex="-1" ref=${(found) => (place = found)}>
    <div role="status">${done.value
      ? html`<p class="done">${done.value.said}${done.value.undo
          ? html` <button type="button" disabled=${busy.value}
              onClick=${() => run(done.value.undo, "Undone.")}>Undo</button>`
          : null}</p>`
      : null}</div>
    ${problem.value ? html`<${Refused} problem=${problem.value} />` : null}
  </div>`;

  return { busy, run, outcome };
}

const of = (given, answer) => (typeof given === "function" ? given(answer) : given);

/**
 * A text field with a submit button. Properties: `label`, `button`, `zone`, `right`, `value`: the
 * initial text, `busy`, `send(text)`: returns whether it succeeded.
 */
export const Say = component((props) => {
  const typed = signal(props.value.value ?? "");
  const id = `say-${(counter += 1)}`;

  async function submit(event) {
    event.preventDefault();
    if (typed.value.trim() && (await props.value.send(typed.value.trim()))) typed.value = "";
  }

  return () => {
    const { label, button, zone, right = "write", busy, hint } = props.value;
    const allowed = may(right, zone);
    return html`<form class="ask" onSubmit=${submit}>
      <label for=${id}>${label}</label>
      <input id=${id} autocomplete="off" value=${typed.value} placeholder=${hint ?? ""}
        disabled=${!allowed} onInput=${({ target }) => (typed.value = target.value)} />
      <button disabled=${!allowed || busy}>${button}</button>
      ${lacking(right, zone)}
    </form>`;
  };
});
let counter = 0;
