// How often the topic of an observation is mentioned, as of the latest message.

export const TRENDS = {
  new: "first mentioned in the last 30 days",
  strengthening: "mentioned more often lately",
  stable: "mentioned as often as before",
  weakening: "mentioned less often lately",
  stale: "not mentioned for 90 days",
};
