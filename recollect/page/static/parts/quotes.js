// The words of a message that a fact repeats, to mark them in the message.

const MIN_WORDS = 3;

/** Return the parts of `message` that `text` repeats: quotations and runs of common words. */
export function quotesOf(text, message) {
  const exact = [...text.matchAll(/[“"]([^”"]+)[”"]/g)]
    .map(([, quote]) => quote)
    .filter((quote) => message.includes(quote));
  return [...exact, ...commonRuns(text, message)];
}

/** Return the longest common runs of three words or more, as written in `message`. */
function commonRuns(text, message) {
  const told = wordsOf(text).map(({ word }) => word);
  const said = wordsOf(message);
  const places = new Map();
  told.forEach((word, at) => places.set(word, [...(places.get(word) ?? []), at]));
  const runs = [];
  for (let at = 0; at < said.length; at += 1) {
    let longest = 0;
    for (const place of places.get(said[at].word) ?? []) {
      let length = 0;
      while (at + length < said.length && said[at + length].word === told[place + length]) length += 1;
      longest = Math.max(longest, length);
    }
    if (longest === 0 || (longest < MIN_WORDS && longest < told.length)) continue;
    runs.push(message.slice(said[at].from, said[at + longest - 1].to));
    at += longest - 1;
  }
  return runs;
}

function wordsOf(text) {
  return [...text.matchAll(/[\p{L}\p{N}\p{M}'’]+/gu)].map((found) => ({
    word: found[0].toLowerCase(),
    from: found.index,
    to: found.index + found[0].length,
  }));
}
