import { ERROR_KINDS, type ErrorKind, FLINT, HARNESS, TURN_ERROR_INFO } from "@flint/protocol";
import { code, GENERATED, page, table } from "../markdown.ts";

const EXAMPLE = `\`\`\`json
{
  "id": 7,
  "error": {
    "code": ${FLINT.errorCodes.turnInProgress},
    "message": "A turn is already running in this thread.",
    "data": { "reason": "turnInProgress", "activeTurnId": "0190d3a5-..." }
  }
}
\`\`\``;

/** Every way a request or a turn can fail. */
export function errorsPage(): string {
  // The keys of a table of ours; Object.keys forgets that.
  const kinds = Object.keys(ERROR_KINDS) as ErrorKind[];
  return page([
    GENERATED,
    "# Errors",
    "A failed request gets an error response. `data.reason` is stable: use it in programs. The code depends on the protocol; the same number has different meanings in different protocols. The message is for people: it says what is wrong and how to fix it.",
    EXAMPLE,
    table(
      ["Reason", "Flint", "Harness", "Meaning"],
      kinds.map((kind) => [
        code(kind),
        String(FLINT.errorCodes[kind]),
        String(HARNESS.errorCodes[kind]),
        ERROR_KINDS[kind],
      ]),
    ),
    "## When a turn fails",
    "A failed turn is not a failed request, because `turn/start` has already been answered. It ends with `turn/completed`, the status `failed` and a [TurnError](types.md#turnerror). `errorInfo` is free text; Flint itself uses these values:",
    TURN_ERROR_INFO.map((info) => `- ${code(info)}`).join("\n"),
  ]);
}
