import { at, Failed, shown } from "../wire/pattern.ts";
import type { Message, Wire } from "../wire/wire.ts";
import { threadOf } from "./client.ts";

/** What may come at any time, or not at all, without a client missing it. */
export const FREE = [
  "account/rateLimits/updated",
  "account/updated",
  "configWarning",
  "deprecationNotice",
  "mcpServer/startupStatus/updated",
  "remoteControl/status/changed",
  "skills/changed",
  "thread/goal/cleared",
  "thread/goal/updated",
  "thread/readState/changed",
  "thread/settings/updated",
  "turn/diff/updated",
  "turn/plan/updated",
  "warning",
] as const;

/** What came about a thread from a place on, as short words in order; streamed pieces are left out. */
export function steps(wire: Wire, threadId: string, mark: number): string[] {
  return wire
    .since(mark)
    .filter((message) => threadOf(message) === threadId && typeof message.method === "string")
    .filter(
      ({ method }) =>
        !FREE.some((free) => free === method) && !/[dD]elta$|summaryPartAdded$/.test(String(method)),
    )
    .map(step);
}

function step({ method, params }: Message): string {
  if (method === "thread/status/changed") return `status ${statusWords(at(params, "status"))}`;
  if (method === "item/started" || method === "item/completed") {
    return `${method} ${String(at(params, "item", "type"))}`;
  }
  if (method === "turn/completed") return `${method} ${String(at(params, "turn", "status"))}`;
  return String(method);
}

function statusWords(status: unknown): string {
  const flags = at(status, "activeFlags");
  return [at(status, "type"), ...(Array.isArray(flags) ? flags : [])].join(" ");
}

/** Fails the check unless the wanted steps are all there in this order; others may lie between them. */
export function expectOrder(came: readonly string[], wanted: readonly string[]): void {
  let place = 0;
  for (const want of wanted) {
    const found = came.indexOf(want, place);
    if (found === -1) {
      const after = wanted[wanted.indexOf(want) - 1];
      const where = after === undefined ? "" : ` after “${after}”`;
      throw new Failed(`“${want}” should come${where}; the order was: ${came.join(", ")}`);
    }
    place = found + 1;
  }
}

/** Fails the check unless these are the steps, no more and no fewer. */
export function expectSteps(came: readonly string[], wanted: readonly string[]): void {
  const same = came.length === wanted.length && came.every((step, place) => step === wanted[place]);
  if (!same) throw new Failed(`the order should be ${shown(wanted, 900)}, but was ${shown(came, 900)}`);
}
