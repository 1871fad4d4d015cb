import { ASKS, EVENTS, LIMITS } from "@flint/protocol";
import { anchor, code, table } from "../markdown.ts";
import { fillProse } from "../prose.ts";

const UNITS = {
  line: "bytes",
  prompt: "bytes",
  injected: "bytes",
  output: "bytes",
  text: "bytes",
  turnText: "bytes",
  lateText: "bytes",
  turnItems: "bytes",
  clientQueue: "bytes",
  queuedInputs: "",
  tools: "",
  toolDescription: "bytes",
  toolSchemas: "bytes",
  page: "",
  threads: "",
  deltaMilliseconds: "ms",
  deltaBytes: "bytes",
  connections: "",
  sockets: "",
  httpHead: "bytes",
  handshakeMilliseconds: "ms",
  initializeMilliseconds: "ms",
  stalledMilliseconds: "ms",
  pingMilliseconds: "ms",
} as const satisfies Record<keyof typeof LIMITS, string>;

/** The overview of the Flint protocol. `limitDocs` says what each limit is. */
export function flintPage(prose: string, limitDocs: ReadonlyMap<string, string>): string {
  return fillProse(prose, { asks: asks(), persistence: persistence(), limits: limits(limitDocs) });
}

function asks(): string {
  const rows = Object.entries(ASKS).map(([name, { doc }]) => [
    `[${code(name)}](events.md#${anchor(name)})`,
    doc,
  ]);
  return table(["Request of the server", "What it asks"], rows);
}

function persistence(): string {
  const names = new Map<string, string[]>();
  for (const [name, event] of Object.entries(EVENTS)) {
    names.set(event.persistence, [...(names.get(event.persistence) ?? []), code(name)]);
  }
  return table(
    ["Persistence", "Events"],
    [...names].map(([how, events]) => [code(how), events.join(", ")]),
  );
}

function limits(docs: ReadonlyMap<string, string>): string {
  // The keys of a table of ours; Object.keys forgets that.
  const names = Object.keys(LIMITS) as (keyof typeof LIMITS)[];
  const rows = names.map((name) => [code(name), amount(LIMITS[name], UNITS[name]), limitDoc(docs, name)]);
  return table(["Limit", "Value", "What it bounds"], rows);
}

function limitDoc(docs: ReadonlyMap<string, string>, name: string): string {
  const doc = docs.get(name);
  if (doc === undefined || doc === "") throw new Error(`The limit ${name} has no doc comment.`);
  return doc;
}

function amount(value: number, unit: string): string {
  if (unit !== "bytes") return `${value} ${unit}`.trim();
  return value % (1024 * 1024) === 0 ? `${value / 1024 / 1024} MiB` : `${value / 1024} KiB`;
}
