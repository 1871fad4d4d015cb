import type { ActionDecision, CommandBroker, TurnContext } from "@flint/core/ports";
import { shellQuote } from "@flint/core/text";
import { realPathOrSame } from "@flint/host/files";
import {
  type Decision,
  describePermission,
  isUnconfined,
  type Permission,
  type ThreadSettings,
} from "@flint/protocol";
import type { CodexServerCall, CodexServerParams, CodexServerResult } from "@flint/protocol/codex";
import { requiresBroker, sandboxWithPermission, unconfinedNeed } from "../shared/permissions.ts";
import { type GrantedPermissions, hostNeed, readPermissions } from "./permissions.ts";
import { type CommandLine, readCommandLine, unwrapShell } from "./translate/command-line.ts";
import { itemIdOf } from "./translate/items.ts";
import type { TranslateState } from "./translate.ts";

type Params<Name extends CodexServerCall["method"]> = CodexServerParams<Name>;

/** The turn in which Codex asks, and the state of its items. */
export interface RequestContext {
  readonly turn: TurnContext;
  state(): TranslateState;
  /** The means to grant a command more than the sandbox allows; undefined where that is not possible. */
  readonly granting: { readonly broker: CommandBroker; readonly signal: AbortSignal } | undefined;
  /** Permissions that were granted to all commands that follow. */
  readonly granted: GrantedPermissions;
}

/** Asks about a command. What it needs beyond the sandbox is granted through the broker, to this one run. */
export async function approveCommand(
  params: Params<"item/commandExecution/requestApproval">,
  context: RequestContext,
): Promise<ActionDecision> {
  const { turn } = context;
  const itemId = itemIdOf(params.itemId);
  const { networkApprovalContext: network, command, reason } = params;
  if (network !== undefined && network !== null) return approveHost(params, network, context);
  if (typeof command !== "string" || params.kind === "writeStdin") {
    const given = { ...reasonOf(reason) };
    return turn.approve({ kind: "tool", itemId, tool: "writeStdin", arguments: { command }, ...given });
  }
  const line = readCommandLine(command);
  const { needs, notes } = await requestedPermission(params, turn.settings, context.granting?.broker);
  // Resolved before it is shown: a link could lead elsewhere once it is approved.
  const cwd = await realPathOrSame(params.cwd ?? turn.settings.cwd);
  const isPossible = context.granting !== undefined && line.grantName !== undefined;
  const refusal = needs === undefined || isPossible ? [] : [STAYS_INSIDE];
  const decision = await turn.approve({
    ...{ kind: "command", itemId, command: line.script, cwd },
    ...reasonOf([reason, ...notes, ...refusal].filter((part) => part != null && part !== "").join(" ")),
    ...(isPossible && needs !== undefined ? { needs } : {}),
  });
  if (decision.outcome !== "allow" || !isPossible) return decision;
  await grant(line, cwd, decision.granted ?? needs, context);
  // Codex has to ask about the same command again: it may have been granted more by then.
  return { ...decision, scope: decision.scope === "session" ? "once" : decision.scope };
}

const STAYS_INSIDE =
  "(Codex asks for more than the sandbox allows, which is not possible here (flint doctor says why); it stays in the sandbox.)";

/** Has an approved command run with what was granted to it, instead of in Codex's sandbox. */
async function grant(
  { argv, grantName }: CommandLine,
  cwd: string,
  needs: Permission | undefined,
  { turn, granting, granted }: RequestContext,
): Promise<void> {
  const permission = granted.with(needs);
  if (granting === undefined || grantName === undefined || !requiresBroker(permission)) return;
  const { broker, signal } = granting;
  await broker.grantAs(grantName, { argv, cwd, signal, ...sandboxWithPermission(turn.settings, permission) });
}

/**
 * Returns the permissions that a command requests beyond its sandbox. Codex gives a reason only if a command
 * should run outside of its sandbox; such a request without a reason looks like any other (0.166.0, November
 * 2026).
 */
async function requestedPermission(
  { additionalPermissions, reason }: Params<"item/commandExecution/requestApproval">,
  settings: ThreadSettings,
  broker: CommandBroker | undefined,
): Promise<{ readonly needs: Permission | undefined; readonly notes: readonly string[] }> {
  if (additionalPermissions === undefined || additionalPermissions === null) {
    const isEscalated = typeof reason === "string" && reason !== "";
    return { needs: isEscalated ? unconfinedNeed(settings) : undefined, notes: [] };
  }
  const { needs, unsupported } = await readPermissions(additionalPermissions, settings, broker);
  return { needs, notes: unsupportedNotes(unsupported) };
}

function unsupportedNotes(unsupported: readonly string[]): string[] {
  return unsupported.length === 0 ? [] : [`(Not included: ${unsupported.join(", ")}.)`];
}

/** Asks about a connection of a command. */
function approveHost(
  { itemId: id, command, cwd, reason }: Params<"item/commandExecution/requestApproval">,
  network: { readonly host: string; readonly protocol: string },
  { turn }: RequestContext,
): Promise<Decision> {
  const itemId = itemIdOf(id);
  const needs = hostNeed(network);
  const given = { ...reasonOf(reason), ...(needs === undefined ? {} : { needs }) };
  if (typeof command !== "string" || needs === undefined)
    return turn.approve({ kind: "tool", itemId, tool: "network", arguments: { ...network }, ...given });
  const shown = { command: unwrapShell(command), cwd: cwd ?? turn.settings.cwd };
  return turn.approve({ kind: "command", itemId, ...shown, running: true, ...given });
}

/**
 * Grants what the user allows of it, for the turn or the session. In a sandbox, the commands that follow run with it
 * through the broker; where that is not possible, or for what no approval opens, nothing is granted, and the user reads why.
 */
export async function approvePermissions(
  { itemId, permissions, reason }: Params<"item/permissions/requestApproval">,
  { turn, granting, granted }: RequestContext,
): Promise<CodexServerResult<"item/permissions/requestApproval">> {
  const nothing = { permissions: {}, scope: "turn" } as const;
  const { settings } = turn;
  const isConfined = !isUnconfined(settings.sandboxPolicy);
  const { needs, unsupported } = await readPermissions(permissions, settings, granting?.broker);
  if (isConfined && granting === undefined && needs !== undefined) {
    const message = `Codex asks to ${describePermission(needs)}, which the sandbox on this machine cannot allow. Choose another sandbox policy, or --add-dir and --network.`;
    turn.emit({ type: "warning", message, reason: "agent" });
    return nothing;
  }
  if (isConfined && needs === undefined && unsupported.length > 0) {
    const message = `Codex asks to write what no approval opens, which was declined: ${unsupported.join(", ")}.`;
    turn.emit({ type: "warning", message, reason: "agent" });
    return nothing;
  }
  const decision = await turn.approve({
    ...{ kind: "tool", itemId: itemIdOf(itemId), tool: "permissions", arguments: permissions },
    ...reasonOf([reason ?? "", ...unsupportedNotes(unsupported)].join(" ").trim()),
    ...(isConfined && needs !== undefined ? { needs } : {}),
  });
  if (decision.outcome !== "allow") return nothing;
  const scope = decision.scope === "once" ? "turn" : "session";
  if (!isConfined) return { permissions, scope };
  if (needs !== undefined) granted.add(decision.granted ?? needs, scope);
  return { permissions: grantedSubset(permissions, needs), scope };
}

/** Returns the granted part of the requested permissions, in Codex's terms. */
function grantedSubset(permissions: unknown, needs: Permission | undefined) {
  const read = Object(Object(permissions).fileSystem).read ?? null;
  return {
    ...(needs?.network === "all" ? { network: { enabled: true } } : {}),
    ...(needs?.write === undefined && read === null
      ? {}
      : { fileSystem: { read, write: needs?.write ?? null } }),
  };
}

/** The older requests have no hook, so what asks to leave the sandbox stays inside. */
export function approveOlderCommand(
  { callId, command, cwd, reason }: Params<"execCommandApproval">,
  { turn }: RequestContext,
): Promise<Decision> {
  const line = command.map(shellQuote).join(" ");
  const isEscalated =
    typeof reason === "string" && reason !== "" && !isUnconfined(turn.settings.sandboxPolicy);
  return turn.approve({
    ...{ kind: "command", itemId: itemIdOf(callId), command: unwrapShell(line), cwd },
    ...reasonOf(isEscalated ? `${reason} ${STAYS_INSIDE}` : reason),
  });
}

/** The reason of a request as part of an action. */
export function reasonOf(reason: string | null | undefined): { readonly reason?: string } {
  return typeof reason === "string" && reason !== "" ? { reason } : {};
}
