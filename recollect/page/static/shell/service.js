// Requests to the service, with the user's token.
//
// The token is kept for this tab only, and sent in a header. A cookie would be sent to every port
// of this host, and with requests from other sites.

import { batch, effect, signal } from "../vendor/signals-core.mjs";
import { unpressed } from "./pressing.js";

const TOKEN = "recollect.token";
const TIMED_OUT = "urn:recollect:problem:timed-out";
const MAX_ATTEMPTS = 20;

export const token = signal(sessionStorage.getItem(TOKEN) ?? "");
/** The rights of the token: {authentication, token, user, zones}; null until they are known. */
export const access = signal(null);
/** The problem that prevents requests; null if there is none. */
export const refusal = signal(null);
/** Incremented by every command; queries that read it are sent again. */
export const changes = signal(0);

/** An error response: problem details (RFC 9457). */
export class Problem extends Error {
  constructor({ title = "The service cannot be reached", detail = "", status = 0, ...rest }) {
    super(detail || title);
    Object.assign(this, { title, detail, status, ...rest });
  }
}

/** Store a token, or remove it (""), and load its rights. */
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

/** Return the URL of a request, with its query; `path` begins with a slash. */
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
 * Send a request, and return its response.
 *
 * `zone`: `path` is relative to it. `query`, `body`: parameters and JSON body. `accept`: the media
 * type of the response. Throws a Problem for any status but success.
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
 * Call `tell(name, data)` with each server-sent event of a request, while nothing is pressed,
 * until the stream ends or breaks off. (An EventSource cannot send the token in a header.)
 */
export async function listen(request, tell) {
  const response = await send({ ...request, accept: "text/event-stream" });
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let text = "";
  for (;;) {
    const { value, done } = await reader.read().catch(() => ({ done: true }));
    if (done) return;
    await unpressed();
    text += value.replaceAll("\r\n", "\n");
    for (let end; (end = text.indexOf("\n\n")) >= 0; text = text.slice(end + 2)) {
      const lines = text.slice(0, end).split("\n");
      const named = (name) =>
        lines.filter((line) => line.startsWith(`${name}:`)).map((line) => line.slice(name.length + 1).trim());
      if (named("event").length) tell(named("event")[0], JSON.parse(named("data").join("\n")));
    }
  }
}

/** Send a request like `send`, and return the parsed answer, while nothing is pressed. */
export async function call(request) {
  try {
    return await content(await send(request));
  } finally {
    await unpressed();
  }
}

async function content(response) {
  const type = response.headers.get("content-type") ?? "";
  return type.includes("json") ? response.json() : {};
}

/** The number of the user's own commands that are running. */
export const commanding = signal(0);

/** Send a command like `call`, then refresh the queries on display. */
export async function command(request) {
  commanding.value += 1;
  try {
    const answer = await call(request);
    changes.value += 1;
    return answer;
  } finally {
    commanding.value -= 1;
  }
}

/**
 * Return a signal with the answer to a request: {data, problem, loading}.
 *
 * `request()` returns a request, or null for none. It is sent again when a signal that it has read
 * changes; until the new answer arrives, the previous one stays.
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

/**
 * Call a query; ask again while it times out, if it is about what was known at an earlier time.
 *
 * The service projects that state once and keeps it, so a later call goes on from there.
 */
export async function query(wanted) {
  for (let attempts = 1; ; attempts += 1) {
    try {
      return await call(wanted);
    } catch (problem) {
      if (problem.type !== TIMED_OUT || !wanted.query?.known_at || attempts === MAX_ATTEMPTS) throw problem;
    }
  }
}

async function ask(found, wanted, stop) {
  const before = found.peek();
  // Outside of the effect, which would otherwise depend on the signal that it sets.
  await Promise.resolve();
  if (stop.aborted) return;
  // A problem is about the request before this one.
  found.value = { data: before.data, problem: null, loading: true };
  try {
    const data = await query({ ...wanted, signal: stop });
    if (!stop.aborted) found.value = { data, problem: null, loading: false };
  } catch (problem) {
    if (!stop.aborted) found.value = { data: null, problem, loading: false };
  }
}
