// Components from functions: `setup` runs once for each instance and returns its render function,
// which runs again when the properties, or a signal that it has read, change.

import { Component, h } from "../vendor/preact.mjs";
import htm from "../vendor/htm.mjs";
import { effect, signal, untracked } from "../vendor/signals-core.mjs";

export { computed, signal } from "../vendor/signals-core.mjs";

/** Markup as a tagged template. Every value becomes a text node or an attribute. */
export const html = htm.bind(h);

/**
 * Return a component. `setup(props, own)` gets its properties as a signal; `own(stop)` registers a
 * function to call when the component is unmounted.
 */
export function component(setup) {
  return class extends Component {
    constructor(props) {
      super(props);
      this.given = signal(props);
      this.owned = [];
      this.draw = untracked(() => setup(this.given, (stop) => this.owned.push(stop)));
    }

    render(props) {
      this.given.value = props;
      this.stop?.();
      let drawn;
      let first = true;
      // The second run is a change. It reads no signal, so there is no third.
      this.stop = effect(() => {
        if (first) drawn = this.draw();
        else this.setState({});
        first = false;
      });
      return drawn;
    }

    componentWillUnmount() {
      this.stop?.();
      for (const stop of this.owned) stop();
    }
  };
}

/** Run `work` as an effect until the component is unmounted. */
export function follow(own, work) {
  own(effect(work));
}
