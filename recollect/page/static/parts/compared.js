// The difference of one list between two moments.

import { component, html } from "../shell/component.js";
import { load } from "../shell/service.js";
import { Difference } from "./difference.js";
import { comparedMoments, inWords, otherMoment } from "./moments.js";
import { answered } from "./states.js";

// Maximum number of entries that are compared, for each moment.
const COMPARED = 1000;

/**
 * Properties: `axes`; `request(at)`: the request for the list at a moment; `items(answer)`: the
 * entries of its answer as items of a `Difference`.
 */
export const Compared = component((props, own) => {
  const asked = (at) =>
    load(own, () => {
      const { axes, request } = props.value;
      if (!otherMoment(axes)) return null;
      const list = request(comparedMoments(axes)[at]);
      return { ...list, query: { ...list.query, limit: COMPARED } };
    });
  const then = asked(0);
  const now = asked(1);
  return () => {
    const { axes, items } = props.value;
    const [first, last] = comparedMoments(axes);
    return answered(then, (before) =>
      answered(now, (after) => html`<${Difference} before=${items(before)} after=${items(after)}
        then=${inWords(first)} now=${inWords(last)}
        limit=${before.cursor || after.cursor ? COMPARED : 0} />`));
  };
});
