import * as z from "zod/mini";
import { Id } from "../wire/ids.ts";
import { looseObject } from "../wire/loose-object.ts";
import { shortened } from "../wire/short-text.ts";
import { type Action, changedPaths } from "./action.ts";
import { ResolvedBy } from "./approval.ts";
import { formatEndpoint } from "./host-rules.ts";

/** Something that was not allowed in a turn. */
export const DeclinedAction = looseObject(() => ({
  itemId: Id,
  /** The command, the files, the tool, or the host with the command that wanted it. */
  what: z.string(),
  /** The reason, and what would allow it. */
  reason: z.string(),
  /** `rule` if it was decided by a rule or by a setting, without asking. */
  by: ResolvedBy,
  /** Set for a connection of the agent's own that neither a command nor a tool waited for: nothing of the work failed. */
  forItself: z.optional(z.boolean()),
}));
export type DeclinedAction = z.output<typeof DeclinedAction>;

/** Maximum number of declined actions that are listed for a turn. */
export const MAX_DECLINED = 50;

/** Describes a refused connection for the output of the command that wanted it. */
export function describeRefusedConnection({ host, port, reason }: RefusedConnection): string {
  return `Flint refused the connection to ${formatEndpoint({ host, port })}: ${reason}.`;
}

interface RefusedConnection {
  readonly host: string;
  readonly port: number;
  /** The reason, as a clause. */
  readonly reason: string;
}

const LONGEST = 200;

/** Describes an action in one line for a list: `registry.example:443 (npm install)`. */
export function declinedSubject(action: Action): string {
  const { network } = action.needs ?? {};
  const hosts = typeof network === "object" ? network.hosts.join(", ") : "";
  const own = shortened(subjectOf(action).replace(/\s*\n\s*/g, " "), LONGEST);
  return hosts === "" ? own : action.kind === "tool" ? hosts : `${hosts} (${own})`;
}

function subjectOf(action: Action): string {
  switch (action.kind) {
    case "command":
      return action.command;
    case "fileChange":
      return changedPaths(action).join(", ");
    case "tool":
      return action.server === undefined ? action.tool : `${action.server}/${action.tool}`;
  }
}
