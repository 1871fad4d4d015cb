import { DELTA_FIELDS, EVENTS, type EventType, LIMITS, type Persistence } from "@flint/protocol";
import type { JsonSchema, SchemaDocument } from "@flint/protocol/schema";
import { fieldBlock } from "../fields.ts";
import { flintType } from "../links.ts";
import { anchor, code, GENERATED, nameHeading, page, table } from "../markdown.ts";

const PERSISTENCE: Readonly<Record<Persistence, string>> = {
  stored: "In the log before any client receives it.",
  synced: "In the log, and the log synced to disk, before any client receives it.",
  coalesced: `Sent at once. The deltas of one item are stored merged, at most ${LIMITS.deltaMilliseconds} ms or ${LIMITS.deltaBytes / 1024} KiB later.`,
  live: "Sent to current subscribers, never stored.",
};

/** Events that do not go out under their own name. */
const ASKED: Readonly<Partial<Record<EventType, string>>> = {
  "approval/requested":
    "In the Flint protocol it is sent as a [request](#requests-of-the-server). In `thread/events/list` it carries `threadId` and `approval`, an [Approval](types.md#approval).",
  "question/requested":
    "In the Flint protocol it is sent as a [request](#requests-of-the-server). In `thread/events/list` it carries `threadId` and `request`, a [QuestionRequest](types.md#questionrequest).",
  "extension/notified": "Its own params come with `threadId` beside them.",
};

/** Every event of a thread and every request of the server. */
export function eventsPage(document: SchemaDocument): string {
  // The keys of a table of ours; Object.keys forgets that.
  const names = Object.keys(EVENTS) as EventType[];
  return page([
    GENERATED,
    "# Events",
    "Notifications of the [Flint protocol](flint.md). A stored event also carries `seq`, its position in the log of its thread, and `at`, its time in unix milliseconds.",
    table(
      ["Persistence", "What that means"],
      Object.entries(PERSISTENCE).map(([name, meaning]) => [code(name), meaning]),
    ),
    table(
      ["Event", "When", "Persistence"],
      names.map((name) => [`[${code(name)}](#${anchor(name)})`, EVENTS[name].doc, EVENTS[name].persistence]),
    ),
    ...names.flatMap((name) => eventSection(name, document)),
    "## Requests of the server",
    "What the server asks. Every client that is subscribed to the thread is asked; the first answer counts, and the others receive `approval/resolved` or `question/resolved`.",
    ...Object.entries(document.serverRequests).flatMap(([name, { doc, params, result }]) => [
      nameHeading(3, name),
      doc,
      fieldBlock("Params", params, "Always there", flintType),
      fieldBlock("Answer", result, "Required", flintType),
    ]),
  ]);
}

function eventSection(name: EventType, document: SchemaDocument): string[] {
  const { doc, persistence } = EVENTS[name];
  const field = DELTA_FIELDS.get(name);
  const extended = field === undefined ? "" : `It extends ${code(field)} of its item.`;
  const asked = ASKED[name];
  const schema = document.serverNotifications[name]?.params;
  return [
    nameHeading(2, name),
    [doc, extended, asked ?? ""].filter((text) => text !== "").join(" "),
    `Persistence: ${persistence}.`,
    schema === undefined || asked !== undefined
      ? ""
      : fieldBlock("Params", withoutPosition(schema), "Always there", flintType),
  ];
}

/** The position in the log is the same for all events and is described once, at the top. */
function withoutPosition(schema: JsonSchema): JsonSchema {
  const { seq: _seq, at: _at, ...properties } = schema.properties ?? {};
  return { ...schema, properties };
}
