// The text of a mental model, with headings and list items.

import { component, html } from "../shell/component.js";
import { Text } from "./texts.js";

/** Properties: `text`; `item(text)`: renders a line that has sources; null for others. */
export const Report = component((props) => () => {
  const { text, item } = props.value;
  return html`<div class="report">${text.split("\n").map((line, at) => {
    if (line.startsWith("## ")) return html`<h3 key=${at}><${Text} text=${line.slice(3)} /></h3>`;
    const plain = line.replace(/^- /, "");
    const drawn = item?.(plain) ?? (plain === line ? null : html`<${Text} text=${plain} />`);
    if (drawn) return html`<div class="item" key=${at}>${drawn}</div>`;
    return line.trim() ? html`<p key=${at}><${Text} text=${line} limit=${4000} /></p>` : null;
  })}</div>`;
});
