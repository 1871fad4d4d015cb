/** Text without half characters, which many models and parsers choke on. */
export function toWellFormed(text: string): string {
  // The ES2023 library types do not know these methods of Node 20 yet.
  const string = text as string & { isWellFormed(): boolean; toWellFormed(): string };
  return string.isWellFormed() ? text : string.toWellFormed();
}

/** A JSON value with all its text well-formed, however deep. The very same value if it was so already. */
export function wellFormed<Value>(value: Value): Value {
  // The shape stays as it is; only the content of strings may change.
  return mended(value) as Value;
}

function mended(value: unknown): unknown {
  if (typeof value === "string") return toWellFormed(value);
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) {
    const items = value.map(mended);
    return items.some((item, at) => item !== value[at]) ? items : value;
  }
  const entries = Object.entries(value).map(([key, field]) => [toWellFormed(key), mended(field)] as const);
  const isSame = Object.entries(value).every(
    ([key, field], at) => entries[at]?.[0] === key && Object.is(entries[at]?.[1], field),
  );
  return isSame ? value : Object.fromEntries(entries);
}
