// Calls to the service, with the reader's token.
//
// The token is kept for this tab only, and sent in a header. A cookie would be sent to every port
// of this machine, and by requests of other pages.

import { batch, effect, signal } from "../vendor/signals-core.mjs";

const TOKEN = "recollect.token";

export const token = signal(sessionStorage.getItem(TOKEN) ?? "");
/** What the token may do: {authentication, token, user, zones}; null until it is known. */
export const access = signal(null);
/** Why nothing can be asked: a problem of the service; null otherwise. */
export const refusal = signal(null);
/** Grows with every command; what is shown is then asked again. */
export const changes = signal(0);

/** An answer that is no success, as RFC 9457 describes it. */
export class Problem extends Error {
  constructor({ title = "The service cannot be reached", detail = "", status = 0, ...rest }) {
    super(detail || title);
    Object.assign(this, { title, detail, status, ...rest });
  }
}

/** Keep a token, or forget it ("" ), and find out what it may do. */
export async function signIn(given) {
  if (given) sessionStorage.setItem(TOKEN, given);
  else sessionStorage.removeItem(TOKEN);
  token.value = given;
  try {
    const found = await call({ path: "/v1/access" });
    batch(() => {
      access.value = found;
      refusal.value = null;
    });
  } catch (problem) {
    batch(() => {
      access.value = null;
      refusal.value = problem;
    });
  }
}

/** Whether the token has a right to a zone; branches have the rights of their zone. */
export function may(right, zone) {
  const parent = zone.split("@")[0];
  const found = access.value?.zones.find((each) => each.zone === zone || each.zone === parent);
  return found !== undefined && found.rights.includes(right);
}

/** Return the address of a request, with its query; `path` begins with a slash. */
export function urlOf({ path, zone, query = {} }) {
  const parameters = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    for (const each of Array.isArray(value) ? value : [value]) {
      if (each !== null && each !== undefined && each !== "") parameters.append(name, each);
    }
  }
  const where = zone === undefined ? path : `/v1/zones/${encodeURIComponent(zone)}${path}`;
  return parameters.size ? `${where}?${parameters}` : where;
}

/**
 * Ask the service, and return the response, which is a success.
 *
 * `zone`: `path` is relative to it. `query`, `body`: the request's values. `accept`: the media type
 * to get. Raises a Problem.
 */
export async function send({ method = "GET", body, signal: stop, accept = "application/json", ...request }) {
  const headers = { accept };
  if (token.value) headers.authorization = `Bearer ${token.value}`;
  if (body !== undefined) headers["content-type"] = "application/json";
  let response;
  try {
    response = await fetch(urlOf(request), {
      method,
      headers,
      body: body === undefined ? undefined : JSON.stringify(body),
      signal: stop,
      credentials: "omit",
      cache: "no-store",
    });
  } catch (error) {
    if (stop?.aborted) throw error;
    throw new Problem({ detail: "it may have stopped; start it with recollect serve" });
  }
  if (!response.ok) throw new Problem({ status: response.status, ...(await content(response)) });
  return response;
}

/**
 * Ask as `send` does for server-sent events, and call `tell(name, data)` with each, until they end
 * or break off. (An EventSource could not send the token in a header.)
 */
export async function listen(request, tell) {
  const response = await send({ ...request, accept: "text/event-stream" });
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let text = "";
  for (;;) {
    const { value, done } = await reader.read().catch(() => ({ done: true }));
    if (done) return;
    text += value.replaceAll("\r\n", "\n");
    for (let end; (end = text.indexOf("\n\n")) >= 0; text = text.slice(end + 2)) {
      const lines = text.slice(0, end).split("\n");
      const named = (name) =>
        lines.filter((line) => line.startsWith(`${name}:`)).map((line) => line.slice(name.length + 1).trim());
      if (named("event").length) tell(named("event")[0], JSON.parse(named("data").join("\n")));
    }
  }
}

/** Ask the service as `send` does, and return its answer. */
export async function call(request) {
  return content(await send(request));
}

async function content(response) {
  const type = response.headers.get("content-type") ?? "";
  return type.includes("json") ? response.json() : {};
}

/** Give a command: as `call`; what is shown is asked again afterwards. */
export async function command(request) {
  const answer = await call(request);
  changes.value += 1;
  return answer;
}

/**
 * Return a signal with the answer to a request: {data, problem, loading}.
 *
 * `request()` returns a request, or null for none; it is asked again when a signal that it has read
 * changes. While that runs, the earlier answer stays.
 */
export function load(own, request) {
  const found = signal({ data: null, problem: null, loading: true });
  let running;
  let last;
  own(
    effect(() => {
      const wanted = request();
      const key = JSON.stringify([wanted, changes.value, token.value]);
      if (key === last) return;
      last = key;
      running?.abort();
      if (wanted === null) {
        found.value = { data: null, problem: null, loading: false };
        return;
      }
      running = new AbortController();
      ask(found, wanted, running.signal);
    }),
  );
  own(() => running?.abort());
  return found;
}

async function ask(found, wanted, stop) {
  const before = found.peek();
  // Not within the effect that asks, which would otherwise depend on what it sets.
  await Promise.resolve();
  if (stop.aborted) return;
  found.value = { ...before, loading: true };
  try {
    const data = await call({ ...wanted, signal: stop });
    if (!stop.aborted) found.value = { data, problem: null, loading: false };
  } catch (problem) {
    if (!stop.aborted) found.value = { data: null, problem, loading: false };
  }
}
