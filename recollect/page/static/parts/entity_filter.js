// The entity filter of a list: the parameter `entity` of its address.

import { address, setParams } from "../shell/address.js";
import { component, follow, html, signal } from "../shell/component.js";

export const EntityFilter = component((_, own) => {
  const typed = signal("");
  follow(own, () => (typed.value = address.value.params.entity ?? ""));
  return () => html`<form class="field" role="search" onSubmit=${(event) => {
      event.preventDefault();
      setParams({ entity: typed.value.trim() });
    }}>
    <label for="about">Only about</label>
    <input id="about" value=${typed.value} placeholder="everybody and everything"
      onInput=${({ target }) => (typed.value = target.value)} />
    <button>Apply</button>
  </form>`;
});
