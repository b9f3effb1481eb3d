// Corrections of a memory. Each is a command in the ledger, and can be undone.

import { hrefOf } from "../shell/address.js";
import { component, html, signal } from "../shell/component.js";
import { load, may } from "../shell/service.js";
import { Say, commands, lacking } from "./commands.js";
import { memoryPath, retraction } from "./memories.js";
import { Name } from "./texts.js";

/** Retract or restore a fact, or all facts of a message; correct a fact. Properties: `zone`,
 * `memory`. */
export const Corrections = component((props) => {
  const given = commands();

  const retract = (restore, said) => {
    const { zone, memory } = props.value;
    given.run(retraction(zone, memory.id, restore), said, retraction(zone, memory.id, !restore));
  };
  const takeBack = () => retract(false, "Retracted.");
  const restore = () => retract(true, "Restored.");
  const sayBetter = async (text) => {
    const { zone, memory } = props.value;
    const request = { zone, path: memoryPath(memory.id), method: "PATCH", body: { text } };
    return (
      (await given.run(request, "Replaced by your text.", (report) => [
        retraction(zone, report.id, false),
        retraction(zone, memory.id, true),
      ])) !== null
    );
  };

  return () => {
    const { zone, memory } = props.value;
    if (!["event", "fact"].includes(memory.type)) return null;
    const disabled = !may("write", zone) || given.busy.value;
    const fact = memory.type === "fact";
    const better = fact && !memory.retracted && memory.current;
    return html`<section aria-labelledby="correct"><h2 id="correct">Correct it</h2>
      <p class="field">
        ${memory.retracted
          ? html`<button type="button" disabled=${disabled} onClick=${restore}>Restore</button>`
          : html`<button type="button" disabled=${disabled} onClick=${takeBack}>${fact
              ? "Retract" : "Retract everything derived from it"}</button>`}
        <span class="quiet">${fact ? "The message stays." : "Its text stays."} To erase text
          permanently, <a href=${hrefOf({ view: "forget", params: { ids: memory.id } })}>forget it</a>.</span>
        ${better ? null : lacking("write", zone)}</p>
      ${better
        ? html`<${Say} key=${memory.id} label="Reword it" button="Replace" value=${memory.text}
            zone=${zone} busy=${given.busy.value} send=${sayBetter} />`
        : null}
      ${given.outcome()}</section>`;
  };
});

/** Add a statement about an entity. Properties: `zone`, `name`. */
export const Tell = component((props) => {
  const given = commands();
  const send = async (content) => {
    const { zone } = props.value;
    const request = { zone, path: "/memories", method: "POST", body: { content } };
    return (
      (await given.run(request, "Remembered.", (receipt) =>
        retraction(zone, receipt.event_id, false),
      )) !== null
    );
  };
  return () => {
    const { zone, name } = props.value;
    return html`<section aria-labelledby="tell"><h2 id="tell">State what is true now</h2>
      <${Say} label=${html`A sentence about <${Name} text=${name} />; it replaces what it contradicts`}
        button="Remember" zone=${zone} busy=${given.busy.value} send=${send} />
      ${given.outcome()}</section>`;
  };
});

const PINNED = "pinned";
// Tags that name the sources of a model. The service keeps them.
const isLabel = (tag) => !tag.startsWith("from:");

/** Pin, tag and edit a mental model. Properties: `zone`, `id`: the id of its latest version. */
export const ModelCorrections = component((props, own) => {
  const found = load(own, () => ({
    zone: props.value.zone,
    path: `/mental-models/${encodeURIComponent(props.value.id)}`,
  }));
  const given = commands();
  const text = signal(null);

  const version = (id, { description, tags }) => ({
    zone: props.value.zone,
    path: `/mental-models/${encodeURIComponent(id)}`,
    method: "PATCH",
    body: { description, tags: tags.filter(isLabel) },
  });
  const write = (changed, said) => {
    const model = found.value.data;
    const wanted = { description: model.description, tags: model.tags, ...changed };
    const shown = (made) => html`${said} <a href=${hrefOf({ view: "models", id: made.id })}>Show the
      new version</a>`;
    return given.run(version(model.id, wanted), shown, (made) => version(made.id, model));
  };

  async function rewrite(event) {
    event.preventDefault();
    if ((await write({ description: text.value }, "Saved as a new version.")) !== null) {
      text.value = null;
    }
  }

  return () => {
    const { zone } = props.value;
    const model = found.value.data;
    if (model === null) return null;
    const labels = model.tags.filter(isLabel);
    const disabled = !may("write", zone) || given.busy.value;
    const pinned = labels.includes(PINNED);
    return html`<section aria-labelledby="correct"><h2 id="correct">Correct it</h2>
      <p class="field">
        <button type="button" disabled=${disabled} aria-pressed=${pinned ? "true" : "false"}
          onClick=${() => write(
            { tags: pinned ? labels.filter((tag) => tag !== PINNED) : [...labels, PINNED] },
            pinned ? "Unpinned." : "Pinned.",
          )}>${pinned ? "Unpin" : "Pin"}</button>
        <button type="button" disabled=${disabled}
          onClick=${() => (text.value = text.value === null ? model.description : null)}>
          ${text.value === null ? "Rewrite" : "Cancel"}</button>
        ${labels.map((tag) => html`<span class="tag" key=${tag}><${Name} text=${tag} />
          <button type="button" class="plain" disabled=${disabled} aria-label=${`Remove the tag ${tag}`}
            onClick=${() => write({ tags: labels.filter((each) => each !== tag) }, "Tag removed.")}>
            ×</button></span>`)}</p>
      ${text.value === null
        ? null
        : html`<form onSubmit=${rewrite}><label for="rewritten">Text of the report</label>
            <textarea id="rewritten" rows="10" value=${text.value}
              onInput=${({ target }) => (text.value = target.value)}></textarea>
            <button class="primary" disabled=${disabled}>Save as a new version</button></form>`}
      <${Say} label="Add a tag" button="Tag" zone=${zone} busy=${given.busy.value}
        send=${async (tag) =>
          (await write({ tags: [...new Set([...labels, tag])] }, "Tagged.")) !== null} />
      ${given.outcome()}</section>`;
  };
});
