/** A problem that a schema found in params. */
export interface Issue {
  readonly code?: string | undefined;
  readonly path: readonly PropertyKey[];
  readonly message: string;
  readonly expected?: unknown;
  readonly values?: unknown;
  readonly options?: unknown;
  readonly errors?: unknown;
}

const EXPECTED: Readonly<Record<string, string>> = {
  string: "a string",
  number: "u32",
  int: "u32",
  boolean: "a boolean",
  array: "a sequence",
  object: "a map",
  record: "a map",
};

/** What is wrong with params, in the message format of serde, as the real server reports it. Clients read the text, not the code. */
export function problemText(issue: Issue, params: unknown): string {
  const value = valueAt(params, issue.path);
  const name = issue.path.at(-1);
  if (value === undefined && name !== undefined) return `missing field \`${String(name)}\``;
  if (issue.code === "invalid_type") return wrongType(value, issue.expected);
  if (issue.code === "too_small" && typeof value === "number")
    return `invalid value: ${described(value)}, expected u32`;
  const variants =
    issue.code === "invalid_union"
      ? (strings(issue.options) ?? nestedVariants(issue))
      : strings(issue.values);
  if (variants !== undefined && typeof value === "string") return unknownVariant(value, variants);
  if (issue.code === "invalid_union") return nestedText(issue, value);
  return issue.message;
}

/** The message for a name that is not one of the known ones. */
export function unknownVariant(name: string, known: readonly string[]): string {
  const [first = "", second = ""] = known.map(quoted);
  if (known.length === 1) return `unknown variant \`${name}\`, expected ${first}`;
  if (known.length === 2) return `unknown variant \`${name}\`, expected ${first} or ${second}`;
  return `unknown variant \`${name}\`, expected one of ${known.map(quoted).join(", ")}`;
}

function quoted(name: string): string {
  return `\`${name}\``;
}

function wrongType(value: unknown, expected: unknown): string {
  const type = EXPECTED[String(expected)] ?? String(expected);
  return `invalid type: ${described(value)}, expected ${type}`;
}

/** A value as serde names it. */
export function described(value: unknown): string {
  if (value === null) return "null";
  if (Array.isArray(value)) return "sequence";
  switch (typeof value) {
    case "string":
      return `string ${JSON.stringify(value)}`;
    case "number":
      return Number.isInteger(value) ? `integer \`${value}\`` : `floating point \`${value}\``;
    case "boolean":
      return `boolean \`${value}\``;
    default:
      return "map";
  }
}

function valueAt(params: unknown, path: readonly PropertyKey[]): unknown {
  return path.reduce(
    (value: unknown, key) => (value === null ? value : Reflect.get(Object(value), key)),
    params,
  );
}

function strings(values: unknown): readonly string[] | undefined {
  return Array.isArray(values) && values.length > 0 ? values.map(String) : undefined;
}

/** What each variant of a union found wrong. */
function variantsOf({ errors }: Issue): readonly (readonly Issue[])[] {
  // Unions report a list of problems for each of their variants.
  return Array.isArray(errors) ? (errors as readonly (readonly Issue[])[]) : [];
}

/** The names that the first variant of a union takes, if it takes names. */
function nestedVariants(issue: Issue): readonly string[] | undefined {
  const plain = variantsOf(issue).find((variant) => variant[0]?.path.length === 0);
  return strings(plain?.[0]?.values);
}

/** The message of the variant that comes nearest. */
function nestedText(issue: Issue, value: unknown): string {
  const [nearest] = [...variantsOf(issue)].sort((left, right) => left.length - right.length);
  return nearest?.[0] === undefined ? issue.message : problemText(nearest[0], value);
}
