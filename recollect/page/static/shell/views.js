// The views. One more is one more module, with an entry here.
//
// A view is {name, title, group, View, ...}: `name` in its address, `title` in the menu, under the
// heading `group`. `right`: the right that it needs, "read" by default. `moments`: the sliders that
// it heeds, of "known_at" and "valid_at". `View`: its component, which reads `address`.

import { ask } from "../views/ask.js";
import { timeline } from "../views/timeline.js";

export const VIEWS = [ask, timeline];
