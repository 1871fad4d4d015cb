import type { Item } from "@flint/protocol";
import type { CodexHookRun } from "@flint/protocol/codex";

const EVENTS: ReadonlySet<string> = new Set([
  ...["preModelRequest", "postModelRequest", "preToolUse", "permissionRequest", "postToolUse", "preCompact"],
  ...["postCompact", "sessionStart", "sessionEnd", "userPromptSubmit", "subagentStart", "subagentStop"],
  ...["stop", "interrupt"],
]);

/** The event of this wire that is nearest to an agent's own; each agent writes them in its own case. */
function eventNameOf(event: string): string {
  const camel = event.charAt(0).toLowerCase() + event.slice(1);
  if (EVENTS.has(camel)) return camel;
  return /tool/i.test(event) ? "postToolUse" : "userPromptSubmit";
}

/** A run of a hook as Codex reports it. What only its own hooks have is what it says where it does not know. */
export function hookRunOf(item: Item<"hookRun">, at: number): CodexHookRun {
  const { id, event, name = event, status, output = "", durationMs = null } = item;
  const isRunning = status === "inProgress";
  const kind = status === "completed" ? "context" : status === "stopped" ? "stop" : "error";
  return {
    ...{ id, eventName: eventNameOf(event), handlerType: "command", executionMode: "sync", scope: "turn" },
    ...{ sourcePath: "/", source: "unknown", displayOrder: 0, status: isRunning ? "running" : status },
    ...{
      statusMessage: name,
      startedAt: at - (durationMs ?? 0),
      completedAt: isRunning ? null : at,
      durationMs,
    },
    entries: output === "" ? [] : [{ kind, text: output }],
  };
}
