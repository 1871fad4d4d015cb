/** Keys of well-known providers, and whatever follows the words that announce one. */
const KNOWN_SECRETS = [
  /\b(?:sk|pk|rk)-[A-Za-z0-9_*-]{8,}/g,
  /\b(?:gsk|xai|hf|r8|nvapi|ghp|gho|ghs|glpat|xoxb|xoxp)[_-][A-Za-z0-9_-]{8,}/g,
  /\bAIza[A-Za-z0-9_-]{20,}/g,
  /\b(?:Bearer|Basic)\s+[A-Za-z0-9._~+/=-]{8,}/gi,
  /\beyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]+/g,
];

const SHORTEST_SECRET = 4;

/** A text for people and logs in which no key is left: neither those given nor what looks like one. */
export function redact(text: string, secrets: readonly string[]): string {
  const given = secrets.filter((secret) => secret.length >= SHORTEST_SECRET);
  const withoutGiven = given.reduce((rest, secret) => rest.replaceAll(secret, "[key]"), text);
  return KNOWN_SECRETS.reduce((rest, pattern) => rest.replace(pattern, "[key]"), withoutGiven);
}
