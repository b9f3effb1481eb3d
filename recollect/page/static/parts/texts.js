// Safe display of remembered texts: a text node in a <bdi>, with the code points of invisible and
// bidirectional control characters in place of the characters, and the number of combining marks in
// place of those that would cover other lines.

import { component, html, signal } from "../shell/component.js";

// Control characters except tab and line feed, soft hyphens, bidirectional controls, zero-width
// characters, invisible operators, fillers, byte order marks, and tags outside of emoji; combining
// marks after the fourth in a row, more than any script writes.
const HIDDEN =
  /(?<=\p{M}{4})\p{M}+|[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\u3164\ufeff\uffa0\ufff9-\ufffb]|\u{e0001}|[\u{e0020}-\u{e007f}]/gu;
// Characters after which a joiner, or a tag, belongs to an emoji.
const BEFORE_JOINER = /^[\p{Extended_Pictographic}\p{Emoji_Modifier}\ufe0f\p{M}]/u;
const SCRIPT_THAT_JOINS = /^[\p{Script=Arabic}\p{Script=Syriac}\p{Script=Mongolian}\p{M}]/u;
const BEFORE_TAG = /^[\u{1f3f4}\u{e0020}-\u{e007e}]/u;
const MARK = /^(?!\u034f)\p{M}/u;
const NAMES = {
  "\u00ad": "soft hyphen",
  "\u061c": "Arabic letter mark",
  "\u200b": "zero-width space",
  "\u200c": "zero-width non-joiner",
  "\u200d": "zero-width joiner",
  "\u200e": "left-to-right mark",
  "\u200f": "right-to-left mark",
  "\u202a": "left-to-right embedding",
  "\u202b": "right-to-left embedding",
  "\u202c": "pop directional formatting",
  "\u202d": "left-to-right override",
  "\u202e": "right-to-left override",
  "\u2060": "word joiner",
  "\u2066": "left-to-right isolate",
  "\u2067": "right-to-left isolate",
  "\u2068": "first strong isolate",
  "\u2069": "pop directional isolate",
  "\ufeff": "byte order mark",
};

/** Return a text as strings and marks: hidden characters become their code points. */
export function visible(text) {
  const parts = [];
  let done = 0;
  for (const found of text.matchAll(HIDDEN)) {
    const [character] = found;
    if (belongs(text, found.index, character)) continue;
    if (found.index > done) parts.push(text.slice(done, found.index));
    const isMark = MARK.test(character);
    const code = isMark
      ? `+${[...character].length}`
      : `U+${character.codePointAt(0).toString(16).toUpperCase().padStart(4, "0")}`;
    const name = isMark ? "combining marks" : NAMES[character] ?? "control character";
    parts.push(html`<span class="hidden-mark" title=${name}>${code}</span>`);
    done = found.index + character.length;
  }
  parts.push(text.slice(done));
  return parts;
}

function belongs(text, at, character) {
  const before = [...text.slice(Math.max(0, at - 2), at)].at(-1) ?? "";
  if (character === "\u200d") return BEFORE_JOINER.test(before) || joins(before);
  if (character === "\u200c") return joins(before);
  return character > "\u{e0001}" && BEFORE_TAG.test(before);
}

const joins = (before) => SCRIPT_THAT_JOINS.test(before);

/** A remembered text on one or several lines. `limit`: characters before "Show all". */
export const Text = component((props) => {
  const whole = signal(false);
  return () => {
    const { text, limit = 700, marks } = props.value;
    if (marks?.length) return html`<bdi class="text">${marked(text, marks)}</bdi>`;
    const short = !whole.value && text.length > limit * 1.3;
    return html`<bdi class="text">${visible(short ? `${cut(text, limit)}…` : text)}</bdi>${short
        ? html` <button type="button" class="plain" onClick=${() => (whole.value = true)}>
            Show all ${text.length.toLocaleString("en")} characters
          </button>`
        : null}`;
  };
});

/** A name or other short text, on one line. */
export const Name = component(
  (props) => () => html`<bdi class="text">${visible(cut(props.value.text ?? "", 120))}</bdi>`,
);

/** Return names, separated by commas. */
export function names(texts) {
  return texts.map((text, at) => html`${at ? ", " : ""}<${Name} text=${text} />`);
}

/** Return a text with its quoted parts marked. */
export function marked(text, quotes) {
  const spans = [];
  for (const quote of quotes) {
    const at = quote ? text.toLowerCase().indexOf(quote.toLowerCase()) : -1;
    if (at >= 0 && !spans.some(([from, to]) => at < to && from < at + quote.length)) {
      spans.push([at, at + quote.length]);
    }
  }
  spans.sort((a, b) => a[0] - b[0]);
  const parts = [];
  let done = 0;
  for (const [from, to] of spans) {
    parts.push(visible(text.slice(done, from)));
    parts.push(html`<mark>${visible(text.slice(from, to))}</mark>`);
    done = to;
  }
  return [...parts, visible(text.slice(done))];
}

// Never split a surrogate pair.
function cut(text, limit) {
  if (text.length <= limit) return text;
  const high = text.charCodeAt(limit - 1);
  return text.slice(0, high >= 0xd800 && high < 0xdc00 ? limit - 1 : limit);
}
