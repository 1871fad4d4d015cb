import { FLINT, type NotificationRow, type RequestRow, type Vocabulary } from "@flint/protocol";
import type { WireMessage } from "@flint/testkit";

const VOCABULARY: Vocabulary = FLINT;
const LONGEST_SHOWN = 200;

/** The problem with the lines that a server wrote: each must be a message of the Flint wire. Empty if nothing is. */
export function faultsIn(lines: readonly string[]): string[] {
  return lines.flatMap((line) => {
    const fault = faultOf(line);
    return fault === undefined ? [] : [`${fault}: ${line.slice(0, LONGEST_SHOWN)}`];
  });
}

function faultOf(line: string): string | undefined {
  let message: unknown;
  try {
    message = JSON.parse(line);
  } catch {
    // That is what is looked for.
    return "not JSON";
  }
  if (typeof message !== "object" || message === null || Array.isArray(message)) return "not an object";
  const members: WireMessage = { ...message };
  if (typeof members.method === "string") return faultOfCall(members, members.method);
  return faultOfAnswer(members);
}

function faultOfCall(message: WireMessage, method: string): string | undefined {
  const table: Readonly<Record<string, RequestRow | NotificationRow>> =
    "id" in message ? VOCABULARY.serverRequests : VOCABULARY.serverNotifications;
  const row = Object.hasOwn(table, method) ? table[method] : undefined;
  if (row === undefined) return `not a method of this wire (${method})`;
  const parsed = row.params.safeParse(message.params);
  return parsed.success ? undefined : `${method} with wrong params (${parsed.error.issues[0]?.message})`;
}

function faultOfAnswer(message: WireMessage): string | undefined {
  if (!("id" in message)) return "neither a call nor an answer";
  if ("result" in message === "error" in message) return "not exactly one of result and error";
  if (!("error" in message)) return undefined;
  const { error } = message;
  if (typeof error !== "object" || error === null) return "an error that is no object";
  const code: unknown = Reflect.get(error, "code");
  const isKnown = Object.values(VOCABULARY.errorCodes).some((known) => known === code);
  return isKnown ? undefined : `an error with the unknown code ${String(code)}`;
}
