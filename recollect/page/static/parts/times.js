// Formats of times, in UTC like those of commands and answers.

const MONTHS = "Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec".split(" ");

/** Return a day (YYYY-MM-DD) as 8 May 2026. */
export function day(iso) {
  const [year, month, date] = iso.split("-");
  return `${Number(date)} ${MONTHS[month - 1]} ${year}`;
}

/** Return a time (ISO 8601) as 8 May 2026, 13:56. */
export function time(iso) {
  return iso ? `${day(iso.slice(0, 10))}, ${iso.slice(11, 16)}` : "";
}

/** Return a month (YYYY-MM) as May 2026. */
export function month(iso) {
  const [year, number] = iso.split("-");
  return `${MONTHS[number - 1]} ${year}`;
}

/** Return a number with its noun: 1 fact, 2 facts. */
export function count(number, noun, plural = `${noun}s`) {
  return `${number.toLocaleString("en")} ${number === 1 ? noun : plural}`;
}
