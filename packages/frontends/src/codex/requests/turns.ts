import type { Params, Turn, UserInput } from "@flint/protocol";
import type { CodexClientParams } from "@flint/protocol/codex";
import { approvalWanted } from "../approval-wanted.ts";
import { withKnownEffort } from "../effort.ts";
import { userInputOf } from "../input.ts";
import { itemOf } from "../items.ts";
import { sandboxWanted } from "../permissions.ts";
import { sandboxPolicyOf } from "../policies.ts";
import { present } from "../present.ts";
import { refused } from "../refusals.ts";
import { PLAN_SELECTORS, plansFirst, REASONING_EFFORT } from "../threads.ts";
import { wantsTitle } from "../title.ts";
import { answeredTurn } from "../turns.ts";
import type { Handlers, Visit } from "../visit.ts";

/** Turns: beginning, steering and stopping them, and what they work with. */
export const turnRequests: Handlers<
  "turn/start" | "turn/steer" | "turn/interrupt" | "review/start" | "thread/settings/update"
> = {
  async "turn/start"(params, visit, reply) {
    const { threadId, outputSchema, clientUserMessageId: clientId } = params;
    // A turn without any input runs too.
    const input = params.input.length === 0 ? NO_INPUT : userInputOf(params.input);
    const answer = (turn: Turn) => reply({ turn: answeredTurn(turn) });
    if (await isForTitle(params, visit)) return visit.titles.run(threadId, input, outputSchema, answer);
    await changeSettings(params, visit);
    const schema = isRecord(outputSchema) ? { outputSchema } : {};
    const wanted = { threadId, input, delivery: "steer", ...present({ clientId }), ...schema } as const;
    // An agent that takes no input now gets it when its turn has ended; until then that turn is the one.
    await visit.client.core.call("turn/start", wanted, ({ turn, queuedInput }) =>
      answer(turn ?? running(visit.known(threadId).activeTurnId ?? queuedInput?.id ?? "")),
    );
  },

  async "turn/steer"({ threadId, expectedTurnId, input, clientUserMessageId: clientId }, visit, reply) {
    if (expectedTurnId === "") throw refused("expectedTurnId must not be empty");
    if (input.length === 0) {
      await visit.client.core.call("thread/read", { threadId });
      throw refused("input must not be empty");
    }
    const wanted = { threadId, input: userInputOf(input), ...present({ clientId }) };
    const expected = UUID_LIKE.test(expectedTurnId) ? expectedTurnId : "none";
    await visit.client.core.call("turn/steer", { ...wanted, expectedTurnId: expected }, ({ turnId }) =>
      reply({ turnId }),
    );
  },

  async "turn/interrupt"({ threadId, turnId }, { client }, reply) {
    // Clients that stop a turn before they were told of it send no name for it.
    const named = turnId === "" ? {} : { turnId: UUID_LIKE.test(turnId) ? turnId : "none" };
    await client.core.call("turn/interrupt", { threadId, ...named }, () => reply({}));
  },

  async "review/start"({ threadId, target, delivery }, { client }, reply) {
    const wanted = { threadId, target: targetOf(target), ...present({ delivery }) };
    await client.core.call("review/start", wanted, ({ turn, reviewThreadId }) => {
      const content: UserInput[] = [{ type: "text", text: titleOf(target) }];
      const asked = itemOf({ type: "userMessage", id: turn.id, content });
      reply({
        turn: { ...answeredTurn(turn), rootTurnId: null, items: asked === undefined ? [] : [asked] },
        reviewThreadId,
      });
    });
  },

  async "thread/settings/update"(params, visit, reply) {
    const { threadId } = params;
    const overrides = await overridesOf(params, visit);
    await withKnownEffort(overrides, (given) =>
      visit.client.core.call("thread/settings/update", { threadId, ...given }, () => reply({})),
    );
  },
};

const NO_INPUT: UserInput[] = [{ type: "text", text: "" }];

/** Ids of Flint; the core refuses anything else by its form, and these texts are about which one it is. */
const UUID_LIKE = /^[A-Za-z0-9_-]{1,64}$/;

type Working = Pick<
  CodexClientParams<"turn/start">,
  | "threadId"
  | "cwd"
  | "approvalPolicy"
  | "sandboxPolicy"
  | "permissions"
  | "model"
  | "effort"
  | "collaborationMode"
>;

type Overrides = Omit<Params<"thread/settings/update">, "threadId">;

/** Changes what a thread works with before the turn is answered for, as the real server does. */
async function changeSettings(params: Working, visit: Visit): Promise<void> {
  const { threadId } = params;
  const overrides = await overridesOf(params, visit);
  if (Object.keys(overrides).length === 0) return;
  await withKnownEffort(overrides, (given) =>
    visit.client.core.call("thread/settings/update", { threadId, ...given }),
  );
}

async function overridesOf(params: Working, visit: Visit): Promise<Overrides> {
  const { cwd, model, approvalPolicy, sandboxPolicy, permissions, effort } = params;
  const sandbox = sandboxPolicy == null ? undefined : sandboxPolicyOf(sandboxPolicy);
  const wanted = sandboxWanted(permissions, "sandboxPolicy", sandbox);
  const approval = await approvalWanted(approvalPolicy, visit, params.threadId);
  visit.words.note(params.threadId, params);
  const config = {
    ...(effort == null ? {} : { [REASONING_EFFORT]: effort }),
    ...(await planOf(params, visit)),
  };
  return {
    ...present({ cwd, model }),
    ...approval,
    ...wanted,
    ...(Object.keys(config).length === 0 ? {} : { config }),
  };
}

/** The selector of the agent that has it plan first, or not any more; nothing if that is so already. */
async function planOf(
  { threadId, collaborationMode }: Working,
  visit: Visit,
): Promise<Record<string, string>> {
  const { settings } = visit.known(threadId);
  if (collaborationMode == null || settings === undefined) return {};
  const wanted = collaborationMode.mode;
  if (plansFirst(settings) === (wanted === "plan")) return {};
  const { options } = await visit.client.core.call("config/list", { threadId });
  const selectors: readonly string[] = PLAN_SELECTORS;
  const found = options.find(
    (option) => selectors.includes(option.id) && option.options.some(({ id }) => id === wanted),
  );
  return found === undefined ? {} : { [found.id]: wanted };
}

/** Whether a turn only looks for a title: in a thread made for that, or as the first of one that is not kept. */
async function isForTitle(
  { threadId, outputSchema }: CodexClientParams<"turn/start">,
  visit: Visit,
): Promise<boolean> {
  if (visit.titles.has(threadId)) return true;
  if (!wantsTitle(outputSchema)) return false;
  const { thread, turns } = await visit.client.core.call("thread/read", {
    threadId,
    includeTurns: true,
    limit: 1,
  });
  return thread.ephemeral && (turns ?? []).length === 0;
}

function running(id: string): Turn {
  return { id, status: "inProgress", items: [] };
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

type Target = CodexClientParams<"review/start">["target"];

function targetOf(target: Target): Params<"review/start">["target"] {
  if (target.type !== "commit") return target;
  const { type, sha, title } = target;
  return title == null ? { type, sha } : { type, sha, title };
}

function titleOf(target: Target): string {
  switch (target.type) {
    case "uncommittedChanges":
      return "current changes";
    case "baseBranch":
      return `changes against '${target.branch}'`;
    case "commit":
      return `commit ${target.sha.slice(0, 7)}${target.title == null ? "" : `: ${target.title}`}`;
    case "custom":
      return target.instructions;
  }
}
