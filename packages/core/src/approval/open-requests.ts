import {
  type Action,
  type Answers,
  type Approval,
  type Decision,
  type EventBody,
  failedToolCall,
  type Grant,
  grantsMadeBy,
  isUnconfined,
  joinPermissions,
  mintId,
  type ResolvedBy,
  type ToolCallResult,
  type UserQuestion,
} from "@flint/protocol";
import type {
  ActionDecision,
  ActionGuarantees,
  ClientToolCall,
  Clock,
  PolicyRules,
  Rules,
} from "../ports/index.ts";
import type { ThreadLog } from "../thread/log.ts";
import { DecidedActions } from "./decided-actions.ts";
import {
  type Actor,
  coveringGrants,
  grantsBeyondSandbox,
  ReplacedFolderNotices,
  rejectUnknownRule,
  suggestionsFor,
  withFolderIdentities,
} from "./grants.ts";
import { lateGrant, onceGrant } from "./late-answers.ts";
import { networkOf } from "./network-gate.ts";
import { type PendingAnswer, PendingAnswers } from "./pending-answers.ts";
import { judge, type PolicyDecision, subjectOf } from "./policy.ts";
import { isWithinSandbox, isWorkspaceEdit } from "./sandbox-bounds.ts";
import type { AskedChange, ThreadFolders } from "./thread-folders.ts";

/** Dependencies of open requests on their thread. */
export interface OpenRequestsOptions {
  readonly threadId: string;
  readonly log: ThreadLog;
  readonly clock: Clock;
  readonly rules: Rules;
  readonly policyRules?: PolicyRules | undefined;
  readonly timeoutMs: number;
  /** Resolves a path to its real one, free of links. */
  realPath(path: string): string;
  /**
   * Returns what identifies a folder among all that were ever at the same path; undefined if there is none.
   */
  folderIdentity?: ((path: string) => string | undefined) | undefined;
  /** The folders that the user lets the thread write. */
  readonly folders: ThreadFolders;
}

/** The client or event that resolved a request. */
export interface Responder {
  readonly by: ResolvedBy;
  readonly clientId?: string;
  /** The name of the client, as it gave it. */
  readonly client?: string;
}

type AskedApproval = Pick<Approval, "turnId" | "agent" | "project" | "action" | "suggestions">;

const CALL_ENDED = failedToolCall("The turn has ended.");

const TURN_ENDED: Decision = { outcome: "cancel", scope: "once", message: "The turn has ended." };

/**
 * The open approvals, questions and client tool calls of a thread. Each is resolved by the first answer of any client,
 * by its time limit, or with its turn. An allowed action starts only after the decision is on the disk.
 */
export class OpenRequests {
  readonly #options: OpenRequestsOptions;
  readonly #approvals = new PendingAnswers<Decision>("approval");
  readonly #questions = new PendingAnswers<Answers>("question");
  readonly #toolCalls = new PendingAnswers<ToolCallResult>("tool call");
  /** The decisions of each turn, with their reasons. */
  readonly decided = new DecidedActions();
  readonly #replacedRules = new ReplacedFolderNotices();

  constructor(options: OpenRequestsOptions) {
    this.#options = options;
  }

  /** Decides about an action, by the policy or by asking the user. */
  async approve(
    turnId: string,
    agent: string,
    requested: Action,
    guarantees?: ActionGuarantees,
  ): Promise<ActionDecision> {
    const { log, rules, clock, realPath, folderIdentity } = this.#options;
    const actor: Actor = { project: realPath(log.state.settings.cwd), agent, realPath, folderIdentity };
    const action = await this.#options.folders.explained(
      withFolderIdentities(requested, folderIdentity),
      guarantees,
    );
    const now = clock.now();
    const { applying, replaced } = rules.forProject(actor.project);
    const grants = [...log.state.grants, ...applying];
    const widening = grantsBeyondSandbox(action, actor, grants, now);
    const granted = widening ?? coveringGrants(action, actor, grants, now);
    const verdict = this.#judge(action, actor, granted, guarantees);
    if (verdict.kind === "allow") {
      await this.#useUp(granted ?? []);
      this.decided.noteAllowed(turnId, action, verdict.allowance);
      const isLasting = granted?.every(({ scope }) => scope !== "once") === true;
      const allowed = { outcome: "allow", scope: "once", ...grantedTo(action) } as const;
      if (widening === undefined)
        return this.#withFolders({ turnId, agent, action, guarantees, isLasting }, allowed);
      const permission = joinPermissions(widening.flatMap((grant) => grant.permission ?? []));
      return { outcome: "allow", scope: "once", granted: permission };
    }
    // Judged as if it were granted: only then can a missing rule be the reason.
    const isRuleMissed = this.#judge(action, actor, [], guarantees).kind === "allow";
    const note = isRuleMissed
      ? this.#replacedRules.take({ action, actor, grants, replaced, now })
      : undefined;
    if (verdict.kind === "deny") {
      const why = note === undefined ? verdict.reason : `${note} ${verdict.reason}`;
      this.decided.noteDeclined(turnId, action, why);
      return declined(`It was declined: ${subjectOf(action)}. ${why}`);
    }
    const reason = [verdict.warning, note, action.reason ?? verdict.reason].filter(
      (part) => part !== undefined,
    );
    const asked = { ...action, reason: [...new Set(reason)].join(" ") };
    const decision = await this.#askApproval({
      ...{ turnId, agent, project: actor.project, action: asked },
      suggestions: suggestionsFor(action, actor, now),
    });
    if (decision.outcome !== "allow") return decision;
    const isLasting = decision.scope !== "once";
    const allowed = { ...decision, ...grantedTo(action) };
    return this.#withFolders({ turnId, agent, action, guarantees, isLasting }, allowed);
  }

  /** The decision about an allowed action, after the folders that it changes were opened. */
  async #withFolders(
    { turnId, agent, ...asked }: AskedChange & { readonly turnId: string; readonly agent: string },
    allowed: ActionDecision,
  ): Promise<ActionDecision> {
    const { decision, reason } = await this.#options.folders.decide(asked, allowed);
    if (reason !== undefined) this.decided.noteDeclined(turnId, asked.action, reason, "client");
    const { needs: _, ...change } = asked.action;
    if (decision.opened !== undefined && !this.#isCovered(agent, change)) await this.grantOnce(agent, change);
    return decision;
  }

  #isCovered(agent: string, action: Action): boolean {
    const { log, rules, clock, realPath, folderIdentity } = this.#options;
    const actor: Actor = { project: realPath(log.state.settings.cwd), agent, realPath, folderIdentity };
    const grants = [...log.state.grants, ...rules.forProject(actor.project).applying];
    return coveringGrants(action, actor, grants, clock.now()) !== undefined;
  }

  /** Allows exactly this command once, with what it needs, as the user answered. */
  async grantOnce(agent: string, action: Action): Promise<void> {
    const { threadId, log, clock, realPath, folderIdentity } = this.#options;
    const now = clock.now();
    const project = realPath(log.state.settings.cwd);
    const allowed = withFolderIdentities(action, folderIdentity);
    const grant = onceGrant({ id: mintId(now), agent, project, action: allowed }, now);
    if (grant === undefined) return;
    await log.commit([{ type: "grant/changed", data: { threadId, grant, status: "added" } }]);
  }

  /** Asks the user; an empty record if there was no answer. */
  async question(turnId: string, itemId: string, questions: readonly UserQuestion[]): Promise<Answers> {
    const { threadId, log } = this.#options;
    const { id, ...times } = this.#newRequest();
    const cancelTimeout = this.#afterTimeout(() => this.answer(id, {}, { by: "timeout" }));
    const answers = this.#questions.add(id, { turnId, itemId, cancelTimeout });
    const request = { id, turnId, itemId, questions: [...questions], ...times };
    await log.commit([{ type: "question/requested", data: { threadId, request } }]);
    return answers;
  }

  /** Has a client run a tool. Fails if no client is connected, or none answers in time. */
  async callTool(turnId: string, call: ClientToolCall): Promise<ToolCallResult> {
    const { threadId, log, timeoutMs } = this.#options;
    const { itemId, tool, namespace } = call;
    if (log.subscriberCount === 0) {
      return failedToolCall(`No connected client provides the tool ${tool}.`);
    }
    const { id, ...times } = this.#newRequest();
    const late = failedToolCall(`No client ran ${tool} within ${Math.round(timeoutMs / 1000)} s.`);
    const cancelTimeout = this.#afterTimeout(() => this.completeToolCall(id, late, { by: "timeout" }));
    const result = this.#toolCalls.add(id, { turnId, itemId, cancelTimeout });
    const of = namespace === undefined ? {} : { namespace };
    const request = { id, turnId, itemId, tool, ...of, arguments: call.arguments, ...times };
    await log.commit([{ type: "tool/requested", data: { threadId, request } }]);
    return result;
  }

  /**
   * Resolves an approval. `before` runs when the decision is on the disk and before it is sent to anyone. An answer that
   * allows a command after its approval has ended becomes a grant for one time, which `before` gets.
   */
  async decide(
    id: string,
    decision: Decision,
    responder: Responder,
    before?: (grant?: Grant) => void,
  ): Promise<void> {
    const { threadId, log, rules, clock } = this.#options;
    const late = lateGrant(log.state, id, decision, clock.now());
    if (late !== undefined) {
      const lapsed = log.state.lapsedApprovals.find((approval) => approval.id === id);
      if (lapsed !== undefined) await this.#options.folders.openLate(lapsed.action, decision);
      const data = { threadId, grant: late, status: "added", approvalId: id } as const;
      await log.commit([{ type: "grant/changed", data }], () => before?.(late));
      return;
    }
    const approval = log.state.approvals.find((open) => open.id === id);
    if (approval !== undefined) rejectUnknownRule(decision, approval);
    const waiting = this.#approvals.take(id);
    const { turnId, itemId } = waiting;
    const resolution = { decision, ...responder };
    const data = { threadId, turnId, approvalId: id, itemId, resolution };
    await this.#end(waiting, { type: "approval/resolved", data }, TURN_ENDED, () => before?.());
    if (approval !== undefined) this.decided.noteAnswer(approval, decision, responder.by);
    if (approval !== undefined && decision.scope === "always")
      for (const rule of grantsMadeBy(approval, decision, clock.now())) rules.add(rule);
    waiting.settle(decision);
  }

  /** Resolves a question. */
  async answer(id: string, answers: Answers, responder: Responder, before?: () => void): Promise<void> {
    const waiting = this.#questions.take(id);
    const { threadId } = this.#options;
    const { turnId, itemId } = waiting;
    const { by, client } = responder;
    const who = client === undefined ? { by } : { by, client };
    const data = { threadId, turnId, questionId: id, itemId, answers, ...who };
    await this.#end(waiting, { type: "question/resolved", data }, {}, before);
    waiting.settle(answers);
  }

  /** Resolves a call of a client's tool. */
  async completeToolCall(
    id: string,
    result: ToolCallResult,
    responder: Responder,
    before?: () => void,
  ): Promise<void> {
    const waiting = this.#toolCalls.take(id);
    const { threadId } = this.#options;
    const { turnId, itemId } = waiting;
    const data = { threadId, turnId, callId: id, itemId, success: result.success, by: responder.by };
    await this.#end(waiting, { type: "tool/resolved", data }, CALL_ENDED, before);
    waiting.settle(result);
  }

  /** Cancels everything that a turn left open; the events that close the turn record it. */
  cancelTurn(turnId: string): void {
    this.#approvals.settleTurn(turnId, TURN_ENDED);
    this.#questions.settleTurn(turnId, {});
    this.#toolCalls.settleTurn(turnId, CALL_ENDED);
  }

  #judge(
    action: Action,
    actor: Actor,
    grants: readonly Grant[] | undefined,
    { onlyReads }: ActionGuarantees = {},
  ): PolicyDecision {
    const { log, policyRules } = this.#options;
    const { settings } = log.state;
    const ruleDecision = policyRules?.judge(action, actor.agent, settings.cwd);
    const { approvalPolicy, acceptEdits } = settings;
    const acceptsCommands = settings.acceptCommands === true && !isUnconfined(settings.sandboxPolicy);
    const isAcceptedEdit = acceptEdits === true && isWorkspaceEdit(action, actor);
    const staysInside = isWithinSandbox(action, actor, settings.sandboxPolicy);
    const hasNetwork = networkOf(settings) !== "none";
    return judge({
      ...{ approvalPolicy, action, granted: grants !== undefined, grants, ruleDecision, policyRules },
      ...{ onlyReads, acceptsCommands, isAcceptedEdit, staysInside, hasNetwork },
    });
  }

  /** A grant for one time is gone, on the disk too, before what it allows starts. */
  async #useUp(grants: readonly Grant[]): Promise<void> {
    const { threadId, log } = this.#options;
    for (const grant of grants.filter(({ scope }) => scope === "once"))
      await log.commit([{ type: "grant/changed", data: { threadId, grant, status: "used" } }]);
  }

  async #askApproval({ suggestions = [], ...asked }: AskedApproval): Promise<Decision> {
    const { threadId, log, timeoutMs } = this.#options;
    const { turnId, action } = asked;
    const { id, ...times } = this.#newRequest();
    const message = `There was no answer within ${Math.round(timeoutMs / 1000)} s, so it was declined: ${subjectOf(action)}`;
    const cancelTimeout = this.#afterTimeout(() => this.decide(id, declined(message), { by: "timeout" }));
    const decision = this.#approvals.add(id, { turnId, itemId: action.itemId, cancelTimeout });
    const offered = suggestions.length === 0 ? {} : { suggestions };
    const approval: Approval = { id, ...asked, ...offered, ...times };
    await log.commit([{ type: "approval/requested", data: { threadId, approval } }]);
    return decision;
  }

  #newRequest() {
    const { clock, timeoutMs } = this.#options;
    const now = clock.now();
    return { id: mintId(now), requestedAtMs: now, expiresAtMs: now + timeoutMs };
  }

  #afterTimeout(end: () => Promise<void>): () => void {
    const { clock, timeoutMs } = this.#options;
    // A failed write stops the turn, through the log's `onFailure`.
    return clock.after(timeoutMs, () => void end().catch(() => undefined));
  }

  /** Stores the end of a request. If that fails, the request settles with `otherwise` and its turn is stopped. */
  async #end<Answer>(
    waiting: PendingAnswer<Answer>,
    body: EventBody,
    otherwise: Answer,
    before?: () => void,
  ): Promise<void> {
    try {
      await this.#options.log.commit([body], before);
    } catch (error) {
      waiting.settle(otherwise);
      throw error;
    }
  }
}

/** Returns the permission that an allowed action may use, if it is bound to the folders that were shown. */
function grantedTo({ needs }: Action): Pick<ActionDecision, "granted"> {
  return needs?.identities === undefined ? {} : { granted: needs };
}

function declined(message: string): Decision {
  return { outcome: "deny", scope: "once", message };
}
