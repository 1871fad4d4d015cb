import { isRecord, type Vocabulary } from "@flint/protocol";
import type { CheckGroup } from "./check.ts";
import { at, Failed, formatValue } from "./wire/pattern.ts";
import type { Entry, Message } from "./wire/wire.ts";

type Schema = { safeParse(value: unknown): { success: boolean; error?: unknown } };

/** The check that all messages of a run are as the tables of a protocol say. */
export function vocabularyChecks(vocabulary: Vocabulary): CheckGroup {
  return {
    about: "Messages",
    checks: [
      {
        name: "every message in this run matches the documented protocol",
        run: async (trial) => {
          const problems = problemsIn(vocabulary, trial.everything());
          if (problems.length > 0) throw new Failed(problems.join("\n"));
        },
      },
    ],
  };
}

/** Returns the problems, each fault once. */
export function problemsIn(vocabulary: Vocabulary, entries: readonly Entry[]): string[] {
  const asked = new Map<unknown, string>();
  const problems = new Set<string>();
  for (const { direction, message, text } of entries) {
    if (direction === "sent" && message !== undefined) asked.set(message.id, String(message.method));
    if (direction === "sent") continue;
    const problem =
      message === undefined ? `no object: ${formatValue(text)}` : faultOf(vocabulary, message, asked);
    if (problem !== undefined) problems.add(problem);
  }
  return [...problems];
}

function faultOf(
  vocabulary: Vocabulary,
  message: Message,
  asked: ReadonlyMap<unknown, string>,
): string | undefined {
  if ((message.jsonrpc === "2.0") !== vocabulary.header)
    return `the jsonrpc field of ${formatValue(message)}`;
  if (typeof message.method === "string") return statusFault(vocabulary, message.method, message);
  if ("error" in message) return errorFault(vocabulary, message);
  const method = asked.get(message.id) ?? "";
  return against(`the result of ${method}`, vocabulary.requests[method]?.result, message.result);
}

function statusFault(vocabulary: Vocabulary, method: string, message: Message): string | undefined {
  const rows = "id" in message ? vocabulary.serverRequests : vocabulary.serverNotifications;
  // Extension notifications of agents are not checked.
  const row = rows[method];
  return row === undefined ? undefined : against(method, row.params, message.params);
}

function errorFault({ errorCodes }: Vocabulary, { error }: Message): string | undefined {
  const reason = at(error, "data", "reason");
  const codes: Readonly<Record<string, number>> = errorCodes;
  const known = typeof reason === "string" && codes[reason] === at(error, "code");
  return known && isRecord(error) && typeof error.message === "string"
    ? undefined
    : `an error ${formatValue(error)}`;
}

function against(what: string, schema: Schema | undefined, value: unknown): string | undefined {
  if (schema === undefined) return undefined;
  const { success, error } = schema.safeParse(value);
  return success ? undefined : `${what}: ${formatValue(at(error, "issues", 0))}`;
}
