// The address is the state: #/ZONE/VIEW/ID?name=value. It never holds a token.

import { signal } from "../vendor/signals-core.mjs";

export const address = signal(parse(location.hash));

/** Parse an address: {zone, view, id, params}; missing parts are "". */
export function parse(hash) {
  const [path, query = ""] = split(hash.replace(/^#\/?/, ""), "?");
  const [zone = "", view = "", ...id] = path.split("/").map(decoded);
  return { zone, view, id: id.join("/"), params: Object.fromEntries(new URLSearchParams(query)) };
}

/** Return the address of a view; by default in the current zone. */
export function hrefOf({ zone = address.value.zone, view, id = "", params = {} }) {
  const parts = [zone, view, id].filter((part) => part !== "").map(encodeURIComponent);
  const given = Object.entries(params).filter(([, value]) => value !== "" && value != null);
  const query = new URLSearchParams(given).toString();
  return `#/${parts.join("/")}${query ? `?${query}` : ""}`;
}

/** Navigate to a view. */
export function go(place) {
  location.hash = hrefOf(place);
}

/** Change parameters of the address; "" and null remove one. `replace`: add no history entry. */
export function setParams(changes, { replace = false } = {}) {
  const { zone, view, id, params } = address.value;
  const href = hrefOf({ zone, view, id, params: { ...params, ...changes } });
  if (!replace) {
    location.hash = href;
    return;
  }
  history.replaceState(null, "", href);
  address.value = parse(href);
}

addEventListener("hashchange", () => {
  address.value = parse(location.hash);
});

function split(text, separator) {
  const at = text.indexOf(separator);
  return at < 0 ? [text] : [text.slice(0, at), text.slice(at + 1)];
}

function decoded(part) {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}
