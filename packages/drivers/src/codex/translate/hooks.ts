import type { DriverEvent } from "@flint/core/ports";
import type { Item } from "@flint/protocol";
import type { CodexHookRun } from "@flint/protocol/codex";
import { itemIdOf } from "./items.ts";

/** The source of Flint's own hook, by which approved commands get past the sandbox. */
const FLINT = "sessionFlags";

const STATUSES: ReadonlyMap<string, Item<"hookRun">["status"]> = new Map([
  ["running", "inProgress"],
  ["completed", "completed"],
  ["blocked", "blocked"],
  ["stopped", "stopped"],
]);

/** A hook of the user's configuration that began or ended. Codex itself decides what follows from it. */
export function hookEvents(type: "item/started" | "item/completed", run: CodexHookRun): DriverEvent[] {
  return run.source === FLINT ? [] : [{ type, item: hookItem(run) }];
}

function hookItem(run: CodexHookRun): Item<"hookRun"> {
  const { eventName, sourcePath, statusMessage, durationMs, entries = [] } = run;
  const output = [statusMessage ?? "", ...entries.map(({ text }) => text)].filter((text) => text !== "");
  return {
    ...{ type: "hookRun", id: itemIdOf(run.id), event: eventName },
    status: STATUSES.get(run.status) ?? "failed",
    ...(sourcePath === undefined ? {} : { name: `${eventName} (${sourcePath})` }),
    ...(output.length === 0 ? {} : { output: output.join("\n") }),
    ...(typeof durationMs === "number" ? { durationMs } : {}),
  };
}
