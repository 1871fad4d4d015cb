import { isRecord, type Params, type QueuedInput, type Turn, type UserInput } from "@flint/protocol";
import type { CodexClientParams, CodexQueuedSubmission, CodexUserInput } from "@flint/protocol/codex";
import type { CoreCalls } from "../../shared/core-calls.ts";
import { inputOf, itemOf } from "../events/items.ts";
import { answeredTurn } from "../events/turns.ts";
import { codexError } from "../wire/errors.ts";
import { withoutNullish } from "../wire/values.ts";
import type { CodexClient, Handlers } from "./handler.ts";
import { SETTINGS_PARAMS, type SettingsParams, settingsOverrides, withSupportedEffort } from "./settings.ts";
import { isTitleSchema } from "./title-threads.ts";

/** Starting, steering and interrupting turns, and the settings that they run with. */
export const turns: Handlers<
  "turn/start" | "turn/steer" | "turn/interrupt" | "review/start" | "thread/settings/update"
> = {
  async "turn/start"(params, { core, reply }, client) {
    const { threadId, outputSchema, clientUserMessageId: clientId } = params;
    // A turn without any input runs too.
    const input = params.input.length === 0 ? NO_INPUT : userInputOf(params.input);
    const answer = (turn: Turn) => reply({ turn: answeredTurn(turn) });
    if (await isTitleTurn(params, core, client)) {
      return client.titles.run(threadId, input, outputSchema, answer);
    }
    // The real server has changed the settings before it answers.
    if (SETTINGS_PARAMS.some((name) => params[name] != null)) await changeSettings(params, core, client);
    const schema = isRecord(outputSchema) ? { outputSchema } : {};
    const turn = { threadId, input, delivery: "steer", ...withoutNullish({ clientId }), ...schema } as const;
    // Input that the agent cannot take now is queued for its next turn; the answer names the running one until then.
    await core.call("turn/start", turn, ({ turn, queuedInput }) =>
      answer(turn ?? runningTurn(client.threads.get(threadId).activeTurnId ?? queuedInput?.id ?? "")),
    );
  },

  async "turn/steer"({ threadId, expectedTurnId, input, clientUserMessageId: clientId }, { core, reply }) {
    if (expectedTurnId === "") throw codexError("expectedTurnId must not be empty");
    if (input.length === 0) {
      await core.call("thread/read", { threadId });
      throw codexError("input must not be empty");
    }
    const steer = { threadId, input: userInputOf(input), ...withoutNullish({ clientId }) };
    const expected = FLINT_ID.test(expectedTurnId) ? expectedTurnId : "none";
    await core.call("turn/steer", { ...steer, expectedTurnId: expected }, ({ turnId }) => reply({ turnId }));
  },

  async "turn/interrupt"({ threadId, turnId }, { core, reply }) {
    // Clients that interrupt a turn before they know its id send an empty one.
    const named = turnId === "" ? {} : { turnId: FLINT_ID.test(turnId) ? turnId : "none" };
    await core.call("turn/interrupt", { threadId, ...named }, () => reply({}));
  },

  async "review/start"({ threadId, target, delivery }, { core, reply }) {
    const review = { threadId, target: reviewTarget(target), ...withoutNullish({ delivery }) };
    await core.call("review/start", review, ({ turn, reviewThreadId }) => {
      const content: UserInput[] = [{ type: "text", text: reviewTitle(target) }];
      const prompt = itemOf({ type: "userMessage", id: turn.id, content });
      reply({
        turn: { ...answeredTurn(turn), rootTurnId: null, items: prompt === undefined ? [] : [prompt] },
        reviewThreadId,
      });
    });
  },

  async "thread/settings/update"(params, { core, reply }, client) {
    const { threadId } = params;
    const overrides = await settingsOverrides(params, core, client);
    await withSupportedEffort(overrides, (settings) =>
      core.call("thread/settings/update", { threadId, ...settings }, () => reply({})),
    );
  },
};

const NO_INPUT: UserInput[] = [{ type: "text", text: "" }];

/** The form of Flint's ids. The core rejects other forms as invalid; to the real server they name a turn that does not run. */
const FLINT_ID = /^[A-Za-z0-9_-]{1,64}$/;

/** The user's input as the core takes it. Throws for audio, and for no input at all. */
function userInputOf(input: readonly CodexUserInput[]): UserInput[] {
  if (input.length === 0) throw codexError("Invalid request: `input` must have at least one part");
  return input.map(inputPartOf);
}

function inputPartOf(part: CodexUserInput): UserInput {
  switch (part.type) {
    case "text":
      return { type: "text", text: part.text };
    case "image":
      return { type: "image", url: part.url };
    case "localImage":
      return { type: "localImage", path: part.path };
    case "skill":
    case "mention":
      return { type: part.type, name: part.name, path: part.path };
    case "audio":
    case "localAudio":
      throw codexError("Invalid request: no agent of Flint takes audio; send it as text");
  }
}

async function changeSettings(params: SettingsParams, core: CoreCalls, client: CodexClient): Promise<void> {
  const { threadId } = params;
  const overrides = await settingsOverrides(params, core, client);
  if (Object.keys(overrides).length === 0) return;
  await withSupportedEffort(overrides, (settings) =>
    core.call("thread/settings/update", { threadId, ...settings }),
  );
}

/**
 * Reports whether a turn only asks for a title: in a thread made for that, or as the first of an ephemeral
 * one.
 */
async function isTitleTurn(
  { threadId, outputSchema }: CodexClientParams<"turn/start">,
  core: CoreCalls,
  { titles }: CodexClient,
): Promise<boolean> {
  if (titles.threads.has(threadId)) return true;
  if (outputSchema == null || !isTitleSchema(outputSchema)) return false;
  const { thread, turns } = await core.call("thread/read", { threadId, includeTurns: true, limit: 1 });
  return thread.ephemeral && (turns ?? []).length === 0;
}

function runningTurn(id: string): Turn {
  return { id, status: "inProgress", items: [] };
}

type Target = CodexClientParams<"review/start">["target"];

function reviewTarget(target: Target): Params<"review/start">["target"] {
  if (target.type !== "commit") return target;
  const { type, sha, title } = target;
  return title == null ? { type, sha } : { type, sha, title };
}

function reviewTitle(target: Target): string {
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

/** The inputs that wait for the running turn to end. */
export const queue: Handlers<
  | "thread/queue/add"
  | "thread/queue/list"
  | "thread/queue/update"
  | "thread/queue/delete"
  | "thread/queue/reorder"
  | "thread/queue/start"
> = {
  async "thread/queue/add"({ threadId, input, clientUserMessageId: clientId }, { core, reply }) {
    const queued = { threadId, input: userInputOf(input), clientId, delivery: "queue" } as const;
    await core.call("turn/start", queued, ({ turn, queuedInput }) => {
      // In an idle thread it starts a turn at once.
      const submission = { id: queuedInput?.id ?? turn?.id ?? clientId, input: queued.input.map(inputOf) };
      reply({ queuedSubmission: { ...submission, clientUserMessageId: clientId } });
    });
  },

  "thread/queue/list": ({ threadId }, { core, reply }) =>
    core.call("thread/queue/list", { threadId }, ({ queue }) =>
      reply({ data: queue.map(submissionOf), nextCursor: null }),
    ),

  "thread/queue/update": ({ threadId, queuedSubmissionId: queuedInputId, input }, { core, reply }) =>
    core.call("thread/queue/update", { threadId, queuedInputId, input: userInputOf(input) }, ({ queue }) => {
      const changed = queue.find(({ id }) => id === queuedInputId);
      if (changed === undefined) throw submissionNotFound(queuedInputId);
      reply({ queuedSubmission: submissionOf(changed) });
    }),

  async "thread/queue/delete"({ threadId, queuedSubmissionId }, { core, reply }) {
    const { queue } = await core.call("thread/queue/list", { threadId });
    if (!queue.some(({ id }) => id === queuedSubmissionId)) return reply({ deleted: false });
    const named = { threadId, queuedInputId: queuedSubmissionId };
    await core.call("thread/queue/delete", named, () => reply({ deleted: true }));
  },

  "thread/queue/reorder": ({ threadId, queuedSubmissionIds }, { core, reply }) =>
    core.call("thread/queue/reorder", { threadId, queuedInputIds: queuedSubmissionIds }, () => reply({})),

  async "thread/queue/start"({ threadId, queuedSubmissionId }, { core, reply }) {
    const { queue } = await core.call("thread/queue/list", { threadId });
    const queuedInputId = queuedSubmissionId ?? queue[0]?.id;
    if (queuedInputId === undefined) throw codexError("the queue is empty", "queuedInputNotFound");
    await core.call("thread/queue/promote", { threadId, queuedInputId }, ({ turnId }) => {
      const turn: Turn = { id: turnId, status: "inProgress", items: [] };
      reply({ turn: answeredTurn(turn) });
    });
  },
};

function submissionOf({ id, input, clientId }: QueuedInput): CodexQueuedSubmission {
  return { id, input: input.map(inputOf), clientUserMessageId: clientId ?? id };
}

function submissionNotFound(id: string) {
  return codexError(`queued submission not found: ${id}`, "queuedInputNotFound");
}
