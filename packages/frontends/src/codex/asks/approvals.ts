import {
  type Action,
  type Approval,
  type Decision,
  describePermission,
  type EventData,
  hostsOf,
} from "@flint/protocol";
import {
  CODEX_SERVER_REQUESTS,
  type CodexCommandDecision,
  type CodexServerParams,
  type CodexServerRequest,
} from "@flint/protocol/codex";
import type { Ask } from "../../shared/client-asks.ts";
import type { CoreCall } from "../../shared/core-calls.ts";
import { commandFields } from "../events/items.ts";

/** Something that a client of Codex is asked. */
export interface CodexAsk extends Ask {
  readonly method: CodexServerRequest;
}

const ALLOW_ONCE = { outcome: "allow", scope: "once" } as const satisfies Decision;
const DENY = { outcome: "deny", scope: "once" } as const satisfies Decision;

/** An approval as Codex asks for it: of a command, a file change or a tool call. */
export function approvalAsk({ threadId, approval }: EventData<"approval/requested">): CodexAsk {
  const respond = (decision: Decision): CoreCall => ({
    method: "approval/respond",
    params: { threadId, approvalId: approval.id, decision },
  });
  return {
    kind: "ask",
    key: approval.id,
    threadId,
    ...requestOf(threadId, approval),
    answered: (answer) => respond(decisionOf(approval, answer)),
    refused: (message) => respond({ ...DENY, message }),
  };
}

type Request = Pick<CodexAsk, "method" | "params">;

/** A request to the client with params of its own type. */
export function requestTo<Name extends CodexServerRequest>(
  method: Name,
  params: CodexServerParams<Name>,
): Request {
  return { method, params };
}

function requestOf(threadId: string, approval: Approval): Request {
  const { turnId, action, requestedAtMs: startedAtMs } = approval;
  const ids = { threadId, turnId, itemId: action.itemId, startedAtMs };
  const reason = reasonOf(action);
  switch (action.kind) {
    case "command":
      return requestTo("item/commandExecution/requestApproval", {
        kind: "command",
        ...ids,
        environmentId: "local",
        reason,
        ...commandFields(action.command, action.cwd),
        cwd: action.cwd,
        ...neededBy(action),
        ...offered(approval),
      });
    case "fileChange":
      return requestTo("item/fileChange/requestApproval", { ...ids, reason, grantRoot: null });
    case "tool":
      return isPermissionsRequest(action)
        ? requestTo("item/permissions/requestApproval", { ...ids, reason, ...permissionsOf(action) })
        : toolRequest(threadId, turnId, action);
  }
}

/** Joins the reason of a request and the agent's own explanation of it, for which Codex has one field. */
function reasonOf({ reason = "", why = "" }: Action): string | null {
  const said = why === "" || reason.includes(why) ? "" : `The agent says: ${why}`;
  const all = [reason, said].filter((part) => part !== "").join(" ");
  return all === "" ? null : all;
}

type ToolAction = Extract<Action, { kind: "tool" }>;

/**
 * Reports whether Codex has a request of its own for it: folders or the whole network, for all commands that
 * follow.
 */
function isPermissionsRequest({ tool, server, needs = {} }: ToolAction): boolean {
  const isAskable = (needs.write ?? []).length > 0 || needs.network === "all";
  return tool === "permissions" && server === undefined && isAskable && hostsOf(needs).length === 0;
}

/** Paths are absolute, so the folder that they could be relative to does not matter. */
function permissionsOf(action: ToolAction) {
  const { additionalPermissions = {} } = neededBy(action);
  return { cwd: "/", permissions: additionalPermissions };
}

/** The answer has what was granted. Less than what was asked for cannot be given, and more was not asked for. */
function permissionsDecision(action: ToolAction, answer: unknown): Decision {
  const read = CODEX_SERVER_REQUESTS["item/permissions/requestApproval"].result.safeParse(answer);
  if (!read.success) return unreadable(answer);
  const { network, fileSystem } = Object(read.data.permissions);
  const granted: unknown = Object(fileSystem).write;
  const isWritable = (path: string) => Array.isArray(granted) && granted.includes(path);
  const isOpen = action.needs?.network !== "all" || Object(network).enabled === true;
  if (!isOpen || !(action.needs?.write ?? []).every(isWritable)) return DENY;
  return { outcome: "allow", scope: read.data.scope === "session" ? "session" : "once" };
}

/** The needs of an action beyond its sandbox, in the fields that Codex has for it. */
function neededBy({ needs }: Action) {
  if (needs === undefined) return {};
  const hosts = hostsOf(needs);
  const [first] = hosts;
  const fileSystem = needs.write === undefined ? null : { read: null, write: needs.write };
  const network = needs.network === "all" ? { enabled: true } : null;
  return {
    ...(first === undefined ? {} : { networkApprovalContext: networkContext(first) }),
    ...(hosts.length === 0 ? {} : { proposedNetworkPolicyAmendments: hosts.map(allowHost) }),
    ...(fileSystem === null && network === null ? {} : { additionalPermissions: { network, fileSystem } }),
  };
}

function networkContext(rule: string) {
  const [host = "", port] = rule.split(":");
  return { host, protocol: port === "80" ? "http" : "https" };
}

function allowHost(rule: string) {
  return { host: rule.split(":")[0] ?? rule, action: "allow" as const };
}

/** Codex asks for approval of a tool call as an elicitation of its server: an empty form with a message. */
function toolRequest(threadId: string, turnId: string, action: ToolAction): Request {
  const { tool, server, reason } = action;
  const given = JSON.stringify(action.arguments ?? {});
  const question =
    action.needs === undefined
      ? `Allow ${server ?? "the agent"} to run ${tool} with ${given}?`
      : `Allow ${server ?? "the agent"} to ${describePermission(action.needs)}?`;
  const message = [question, reason].filter((part) => part !== undefined).join(" ");
  return requestTo("mcpServer/elicitation/request", {
    threadId,
    turnId,
    serverName: server ?? tool,
    mode: "form",
    _meta: {
      codex_approval_kind: "mcp_tool_call",
      persist: ["session", "always"],
      tool_title: tool,
      tool_params: action.arguments ?? {},
    },
    message,
    requestedSchema: { type: "object", properties: {} },
  });
}

/** The rule that the user may accept for always, if there is one, and the decisions that clients offer. */
function offered({ action, suggestions = [] }: Approval) {
  // A rule for the start of a command covers nothing beyond the sandbox.
  const words = action.needs === undefined ? prefixIn(suggestions) : undefined;
  const [host] = hostsOf(action.needs ?? {});
  if (host !== undefined) {
    const always = { applyNetworkPolicyAmendment: { network_policy_amendment: allowHost(host) } };
    const decisions: CodexCommandDecision[] = ["accept", "acceptForSession", always, "decline", "cancel"];
    return { availableDecisions: decisions };
  }
  const simple: CodexCommandDecision[] = ["accept", "acceptForSession"];
  if (words === undefined)
    return { availableDecisions: [...simple, "decline", "cancel"] satisfies CodexCommandDecision[] };
  const always = { acceptWithExecpolicyAmendment: { execpolicy_amendment: words } };
  return {
    proposedExecpolicyAmendment: words,
    availableDecisions: [...simple, always, "decline", "cancel"] satisfies CodexCommandDecision[],
  };
}

function prefixIn(suggestions: NonNullable<Approval["suggestions"]>): string[] | undefined {
  for (const { match } of suggestions) if (match.type === "prefix") return match.words;
  return undefined;
}

function decisionOf(approval: Approval, answer: unknown): Decision {
  switch (approval.action.kind) {
    case "command":
      return commandDecision(approval, answer);
    case "fileChange": {
      const read = CODEX_SERVER_REQUESTS["item/fileChange/requestApproval"].result.safeParse(answer);
      return read.success ? plainDecision(read.data.decision) : unreadable(answer);
    }
    case "tool": {
      if (isPermissionsRequest(approval.action)) return permissionsDecision(approval.action, answer);
      const read = CODEX_SERVER_REQUESTS["mcpServer/elicitation/request"].result.safeParse(answer);
      return read.success ? toolDecision(read.data) : unreadable(answer);
    }
  }
}

function commandDecision({ action, suggestions = [] }: Approval, answer: unknown): Decision {
  const read = CODEX_SERVER_REQUESTS["item/commandExecution/requestApproval"].result.safeParse(answer);
  if (!read.success) return unreadable(answer);
  const { decision } = read.data;
  if (typeof decision === "string") return plainDecision(decision);
  if (!("acceptWithExecpolicyAmendment" in decision)) {
    return networkDecision(action, decision.applyNetworkPolicyAmendment.network_policy_amendment);
  }
  const requested = decision.acceptWithExecpolicyAmendment.execpolicy_amendment;
  const taken = suggestions.find(({ match }) => match.type === "prefix" && isSame(match.words, requested));
  // A rule that was not offered allows what was shown, and nothing else.
  return taken === undefined ? ALLOW_ONCE : { outcome: "allow", scope: "always", rule: taken.id };
}

/** A rule that allows the host that was asked about is stored; one that denies it denies this connection. */
function networkDecision({ needs }: Action, amendment: unknown): Decision {
  const { host, action } = Object(amendment);
  if (action !== "allow") return DENY;
  const isAsked = hostsOf(needs ?? {}).some((rule) => rule.split(":")[0] === host);
  return isAsked ? { outcome: "allow", scope: "always" } : ALLOW_ONCE;
}

function plainDecision(name: "accept" | "acceptForSession" | "decline" | "cancel"): Decision {
  switch (name) {
    case "accept":
      return ALLOW_ONCE;
    case "acceptForSession":
      return { outcome: "allow", scope: "session" };
    case "decline":
      return DENY;
    case "cancel":
      return { outcome: "cancel", scope: "once" };
  }
}

/** Consent beyond this call is in `_meta.persist`, where it was offered. */
function toolDecision({ action, _meta }: { action: string; _meta?: unknown }): Decision {
  if (action === "cancel") return { outcome: "cancel", scope: "once" };
  if (action !== "accept") return DENY;
  const persist: unknown = Object(_meta).persist;
  return { outcome: "allow", scope: persist === "session" || persist === "always" ? persist : "once" };
}

function unreadable(answer: unknown): Decision {
  return {
    ...DENY,
    message: `The client answered with something else: ${JSON.stringify(answer)?.slice(0, 200)}`,
  };
}

function isSame(left: readonly string[], right: readonly string[]): boolean {
  return left.length === right.length && left.every((word, index) => word === right[index]);
}
