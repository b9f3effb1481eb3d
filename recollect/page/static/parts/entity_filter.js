// The entity filter of a list: the parameter `entity` of its address, a name or an id.

import { address, setParams } from "../shell/address.js";
import { component, follow, html, signal } from "../shell/component.js";
import { Chosen } from "./entities.js";
import { EntityNames } from "./entity_names.js";
import { isId } from "./memories.js";

/** Property: `zone`. */
export const EntityFilter = component((props, own) => {
  const typed = signal("");
  follow(own, () => {
    const { entity = "" } = address.value.params;
    typed.value = isId(entity) ? "" : entity;
  });
  return () => html`<form class="field" role="search" onSubmit=${(event) => {
      event.preventDefault();
      setParams({ entity: typed.value.trim() });
    }}>
    <label for="about">Only about</label>
    <input id="about" autocomplete="off" list="names-about" value=${typed.value}
      placeholder="everybody and everything"
      onInput=${({ target }) => (typed.value = target.value)} />
    <${EntityNames} id="names-about" zone=${props.value.zone} typed=${typed.value} />
    <button>Apply</button>
  </form>
  <${Chosen} zone=${props.value.zone} id=${address.value.params.entity} />`;
});
