import { resolve } from "node:path";
import type { DriverEvent, TurnContext } from "@flint/core/ports";
import { type Decision, listOf, stringOf } from "@flint/protocol";
import { type JsonObject, objectOf } from "../../shared/json.ts";
import { commandOf, diffsOf, folderCommandOf, type ToolCall } from "../translate/tool-call.ts";
import { commandAction, type ToolContext } from "../translate/tool-item.ts";

/** The turn in which an agent makes a request. */
export interface RequestContext {
  readonly turn: TurnContext;
  readonly signal: AbortSignal;
  readonly approved: ApprovedActions;
  emit(event: DriverEvent): void;
  takeItemId(): string;
}

/** The response to `session/request_permission`. */
export interface PermissionResponse {
  readonly outcome:
    | { readonly outcome: "cancelled" }
    | { readonly outcome: "selected"; readonly optionId: string };
}

/** The response once the turn is over. */
export const CANCELLED: PermissionResponse = { outcome: { outcome: "cancelled" } };

/**
 * The response to a permission request. Approval is always for this one call where the agent offers that: what an agent
 * means by "always" may cover more than was shown, and Flint itself remembers exactly what was approved.
 */
export function permissionResponse({ outcome }: Decision, request: JsonObject): PermissionResponse {
  switch (outcome) {
    case "allow":
      return select(request, ["allow_once", "allow_always"]);
    case "deny":
      return select(request, ["reject_once", "reject_always"]);
    case "cancel":
      return CANCELLED;
  }
}

/** Without an option for the decision, the request is cancelled, so that the agent does not act. */
function select(request: JsonObject, kinds: readonly string[]): PermissionResponse {
  const options = listOf(request.options).map(objectOf);
  for (const kind of kinds) {
    const optionId = stringOf(options.find((option) => option.kind === kind)?.optionId);
    if (optionId !== undefined) return { outcome: { outcome: "selected", optionId } };
  }
  return CANCELLED;
}

/**
 * The actions that the user approved in a turn, exactly. An agent that was allowed a call and then makes it
 * through its client is not asked about it again.
 */
export class ApprovedActions {
  readonly #approved = new Set<string>();

  /** The commands that were approved when the agent asked about their folders, and that it will ask about again. */
  readonly #forFolders = new Set<string>();

  /** Notes that a call was approved. */
  add(call: ToolCall, context: ToolContext): void {
    const outside = folderCommandOf(call);
    if (outside !== undefined) this.#forFolders.add(keyOf(outside, context.cwd));
    if (call.kind === "execute" && commandOf(call) !== undefined) {
      const { command, cwd } = commandAction(call, context);
      this.#approved.add(keyOf(command, cwd));
    }
    for (const { path, oldText, newText } of diffsOf(call)) {
      const absolute = resolve(context.cwd, String(path));
      if (typeof newText === "string") this.#approved.add(keyOf(absolute, stringOf(oldText) ?? "", newText));
    }
  }

  /**
   * Reports whether this command was approved already when the agent asked about its folders; once for each
   * approval. OpenCode asks twice about a command that uses a path outside of the workspace (1.18, November
   * 2026).
   */
  takeForFolders(call: ToolCall, context: ToolContext): boolean {
    if (call.kind !== "execute" || commandOf(call) === undefined) return false;
    const { command, cwd } = commandAction(call, context);
    return this.#forFolders.delete(keyOf(command, cwd));
  }

  /** Reports whether exactly this command was approved in this folder. */
  hasCommand(command: string, cwd: string): boolean {
    return this.#approved.has(keyOf(command, cwd));
  }

  /** Reports whether replacing the whole text of this file by this one was approved. */
  hasWrite(path: string, before: string, after: string): boolean {
    return this.#approved.has(keyOf(path, before, after));
  }
}

function keyOf(...parts: readonly string[]): string {
  return JSON.stringify(parts);
}
