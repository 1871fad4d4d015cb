import type { Tolerances } from "./check.ts";
import { fieldsOf, isFields, isList, mayBeNull, type Recording, type Shape } from "./recording.ts";
import { formatValue } from "./wire/pattern.ts";

/** Notifications may still be in flight when a check ends. */
const CUT_OFF = 2;
/** The answer with which a connection begins, which depends on the checks that came before. */
const GREETING = "answer to initialize";

/**
 * Returns the differences of the second recording from the first, in sentences: messages in another order, a
 * field that is missing, or one of another kind. Only checks that both have are looked at. What the second
 * has beyond the first is no difference, and neither is a field that is absent where the first was null at
 * least once.
 */
export function differences(first: Recording, second: Recording, tolerances: Tolerances): string[] {
  return [...orderDifferences(first, second, tolerances), ...shapeDifferences(first, second, tolerances)];
}

/** The same fault in many checks is reported once. */
function orderDifferences(first: Recording, second: Recording, tolerances: Tolerances): string[] {
  const faults = new Map<string, string[]>();
  for (const [check, connections] of Object.entries(first.conversations)) {
    const others = second.conversations[check] ?? [];
    for (const [place, lines] of connections.entries()) {
      const other = others[place];
      if (other === undefined) continue;
      for (const fault of faultsBetween(lines, other, tolerances)) {
        faults.set(fault, [...(faults.get(fault) ?? []), check]);
      }
    }
  }
  return [...faults].map(([fault, [check, ...more]]) => {
    const others = more.length === 0 ? "" : ` and ${more.length} more`;
    return `${fault} (in “${check}”${others})`;
  });
}

/** Answers and notifications may overtake each other; each of them has its own order. */
function faultsBetween(
  first: readonly string[],
  second: readonly string[],
  tolerances: Tolerances,
): string[] {
  const { optionalMessages, unordered, errors } = tolerances;
  const counts = (line: string): boolean =>
    line !== GREETING && !optionalMessages.some((name) => line.startsWith(name));
  const comparable = (line: string): string => (isAnswer(line) ? COMPARABLE[errors](line) : line);
  const kindOf = (line: string): string =>
    isAnswer(line) ? "answers" : (unordered.find((name) => line.startsWith(name)) ?? "notifications");
  return ["answers", "notifications", ...unordered].flatMap((kind) => {
    const ofKind = (lines: readonly string[]): string[] =>
      lines.filter((line) => counts(line) && kindOf(line) === kind).map(comparable);
    return orderFault(ofKind(first), ofKind(second)) ?? [];
  });
}

function orderFault(requested: readonly string[], came: readonly string[]): string | undefined {
  const place = requested.findIndex((line, index) => line !== came[index]);
  if (place === -1 && came.length - requested.length <= CUT_OFF) return undefined;
  const cut =
    place === came.length && requested.length - came.length <= CUT_OFF && requested.every(isNotification);
  if (cut) return undefined;
  const at = place === -1 ? requested.length : place;
  const [should, is] = [requested[at] ?? "nothing more", came[at] ?? "nothing more"];
  return `after ${requested[at - 1] ?? "nothing"} should come ${should}, but came ${is}`;
}

/** The compared part of an answer. After the first words, a refusal names things of one server or one run. */
const COMPARABLE: Readonly<Record<Tolerances["errors"], (line: string) => string>> = {
  words: (line) => line.replace(/[,(`"<].*$/s, "").trim(),
  fact: (line) => line.replace(/^(refusal of [^:]+):.*$/s, "$1"),
};

function isAnswer(line: string): boolean {
  return /^(?:answer to|refusal of) /.test(line);
}

function isNotification(line: string): boolean {
  return !isAnswer(line);
}

function shapeDifferences(
  first: Recording,
  second: Recording,
  { optionalMessages, optionalFields, errors }: Tolerances,
): string[] {
  return Object.entries(first.shapes).flatMap(([what, shape]) => {
    const own = second.shapes[what];
    if (own === undefined || optionalMessages.some((name) => what.startsWith(name))) return [];
    if (what === "refusal" && errors === "fact") return [];
    const problems = shapeProblems(what, shape, own);
    return problems.filter(({ place }) => !isOptional(what, place, optionalFields)).map(({ text }) => text);
  });
}

interface Problem {
  readonly place: string;
  readonly text: string;
}

function isOptional(what: string, place: string, optional: readonly string[]): boolean {
  const inside = place.slice(what.length);
  return optional.some(
    (name) => place.startsWith(name) || (name.startsWith("*") && inside.includes(name.slice(1))),
  );
}

function shapeProblems(place: string, first: Shape, second: Shape): Problem[] {
  if (typeof first === "string") return wordProblems(place, first, second);
  if (second === "null") return mayBeNull(first) ? [] : [problem(place, first, second)];
  if (isList(first)) {
    if (!isList(second)) return [problem(place, first, second)];
    const [requested, came] = [first[0], second[0]];
    return requested === undefined || came === undefined ? [] : shapeProblems(`${place}[]`, requested, came);
  }
  if (!isFields(second)) return [problem(place, first, second)];
  return fieldsOf(first).flatMap(([name, shape]) =>
    shapeProblems(`${place}.${name}`, shape, second[name] ?? "null"),
  );
}

function wordProblems(place: string, first: string, second: Shape): Problem[] {
  // A field that was always null in the first may be anything in the second.
  if (first === "null") return [];
  const fits = typeof second === "string" && areAlike(first.split("|"), second.split("|"));
  return fits ? [] : [problem(place, first, second)];
}

/** Kinds have to be those of the first. Of the words of the protocol, not every run brings all. */
function areAlike(first: readonly string[], second: readonly string[]): boolean {
  const isKind = (word: string): boolean => word === "null" || word.startsWith("<");
  const kinds = second.filter(isKind).every((kind) => first.includes(kind));
  const words = second.filter((word) => !isKind(word));
  return kinds && (words.length === 0 || words.some((word) => first.includes(word)));
}

function problem(place: string, first: Shape, second: Shape): Problem {
  return { place, text: `${place} should be ${formatValue(first, 120)}, but is ${formatValue(second, 120)}` };
}
