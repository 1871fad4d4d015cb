import { ERROR_KINDS, type ErrorKind, FLINT, HARNESS, TURN_ERROR_INFO } from "@flint/protocol";
import { code, GENERATED, page, table } from "./markdown.ts";

const EXAMPLE = `\`\`\`json
{
  "id": 7,
  "error": {
    "code": ${FLINT.errorCodes.turnInProgress},
    "message": "The thread runs a turn already.",
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
    "A request that fails is answered with an error. `data.reason` is its stable name: rely on that. The code belongs to the protocol, and the same number means different things in different protocols. The message is for people: it names the thing and the way out.",
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
    "A turn that fails is not a failed request: `turn/start` was answered long before. It ends with `turn/completed`, the status `failed` and a [TurnError](types.md#turnerror). `errorInfo` is free text; Flint itself uses these words:",
    TURN_ERROR_INFO.map((info) => `- ${code(info)}`).join("\n"),
  ]);
}
