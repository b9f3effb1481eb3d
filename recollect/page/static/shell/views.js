// The views. To add one, write its module and add an entry here.
//
// A view is {name, title, group, View, ...}: `name` in its address, `title` in the menu, under the
// heading `group`; null keeps it out of the menu. `right`: the required right, "read" by default.
// `moments(id)`: the sliders that apply to it, of "known_at" and "valid_at". `View`: its component,
// with the properties `zone` and `id`; it reads everything else from `address`.

import { ask } from "../views/ask.js";
import { branches } from "../views/branches.js";
import { changed } from "../views/changes.js";
import { directives } from "../views/directives.js";
import { forget } from "../views/forget.js";
import { health } from "../views/health.js";
import { ledger } from "../views/ledger.js";
import { memory } from "../views/memory.js";
import { merges } from "../views/merges.js";
import { messages } from "../views/messages.js";
import { models } from "../views/models.js";
import { observations } from "../views/observations.js";
import { people } from "../views/people.js";
import { timeline } from "../views/timeline.js";
import { tokens } from "../views/tokens.js";

export const VIEWS = [
  ask,
  timeline,
  people,
  messages,
  observations,
  models,
  directives,
  merges,
  forget,
  changed,
  health,
  ledger,
  branches,
  tokens,
  memory,
];
