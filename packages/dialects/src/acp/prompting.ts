import {
  asFlintError,
  type FlintError,
  inputText,
  mintId,
  type TokenUsage,
  totalTokens as total,
  type UserInput,
} from "@flint/protocol";
import type { DeskClient } from "../desk.ts";
import { agentOf } from "./choices.ts";
import { type Command, commandIn } from "./commands.ts";
import { answerOf } from "./core.ts";
import { inputOf } from "./prompt-input.ts";
import type { InputEnd, InputWatch, TurnWishes } from "./prompt-turns.ts";
import { AcpRefusal } from "./refusal.ts";
import type { AcpParams } from "./requests.ts";
import type { AcpSession } from "./session.ts";
import type { SessionSettings } from "./session-settings.ts";
import { interrupt, type Sessions } from "./sessions.ts";
import { isOutOfSteps, stopOf } from "./stop-reason.ts";

type Reply = (answer: unknown) => void;

/** What prompting needs. */
export interface PromptingOptions {
  readonly client: DeskClient;
  readonly sessions: Sessions;
  readonly settings: SessionSettings;
  /** Whether prompts are answered when their message stands in the conversation. */
  answersAtOnce(): boolean;
}

/** How often work that ran out of steps is sent on, while its plan has steps left, before the user has to say so. */
const MOST_CONTINUATIONS = 5;

/** A prompt that has no answer yet. */
class PromptRequest {
  readonly sessionId: string;
  isCancelled = false;
  isTakenBack = false;
  #cancel: (() => Promise<void>) | undefined;

  constructor(sessionId: string) {
    this.sessionId = sessionId;
  }

  /** Its input, or what follows from it, is sent and can be stopped like this. */
  sent(cancel: () => Promise<void>): void {
    this.#cancel = cancel;
  }

  async takeBack(): Promise<void> {
    this.isTakenBack = true;
    this.isCancelled = true;
    await this.#cancel?.();
  }
}

/** What it takes to answer a prompt. */
interface Answering {
  readonly session: AcpSession;
  readonly request: PromptRequest;
  readonly reply: Reply;
  resolve(): void;
  reject(error: Error): void;
}

/** Prompts of a client: each is answered when its turn has ended, after the last update of it. */
export class Prompting {
  readonly #options: PromptingOptions;
  /** The requests that are under way, by what the client calls them. */
  readonly #requests = new Map<string, PromptRequest>();

  constructor(options: PromptingOptions) {
    this.#options = options;
  }

  /** Answers with the reason why the turn stopped, or, in the second version, when the message stands in the conversation. */
  async prompt({ sessionId, prompt }: AcpParams<"session/prompt">, reply: Reply, key: string): Promise<void> {
    const input = inputOf(prompt);
    const request = new PromptRequest(sessionId);
    // Before anything is waited for: the client may cancel in the same breath.
    this.#requests.set(key, request);
    try {
      const { sessions } = this.#options;
      const session = await sessions.get(sessionId);
      sessions.worksIn(session);
      await new Promise<void>((resolve, reject) => {
        const answering = { session, request, reply, resolve, reject };
        const watch = this.#options.answersAtOnce() ? atOnce(answering) : atEnd(answering);
        this.#start(answering, input, { ...watch, onSent: (cancel) => request.sent(cancel) }).catch(reject);
      });
    } finally {
      if (this.#requests.get(key) === request) this.#requests.delete(key);
    }
  }

  /** Does what a prompt says: a command of Flint's own, or a turn. */
  async #start(
    { session, request }: Answering,
    input: readonly UserInput[],
    watch: InputWatch,
  ): Promise<void> {
    const [first] = input;
    const isCommand = first?.type === "text" && first.text.trimStart().startsWith("/");
    const command = isCommand ? commandIn(input, await this.#options.settings.agents()) : undefined;
    const whole = command === undefined ? await session.withEditorFiles(input) : input;
    if (request.isCancelled) watch.onEnd({ kind: "cancelled" });
    else if (command === undefined) this.#send(session, { input: [...whole] }, watch);
    else await this.#run(session, command, watch);
  }

  /** Stops the work of a session: this client's prompts, and whatever else runs there. */
  async cancel(sessionId: string): Promise<void> {
    for (const request of this.#requests.values())
      if (request.sessionId === sessionId) request.isCancelled = true;
    const session = this.#options.sessions.opened(sessionId);
    if (session === undefined) return;
    await session.prompts.cancelAll();
    await interrupt(this.#options.client, sessionId).catch(() => undefined);
  }

  /** The client does not wait for the answer to a prompt any more: its turn is stopped. */
  async cancelRequest(key: string): Promise<void> {
    await this.#requests.get(key)?.takeBack();
  }

  /** Gives input to the running turn; says how that went in the words of those who invented it. */
  async steer({ sessionId, prompt }: AcpParams<"_session/steering">, reply: Reply): Promise<void> {
    const input = inputOf(prompt);
    const { client, sessions } = this.#options;
    const { id: threadId } = await sessions.get(sessionId);
    // Expected: no turn runs, or its agent takes no input now; the client then sends a prompt instead.
    try {
      await answerOf(client, "turn/steer", { threadId, input });
      reply({ outcome: "injected" });
    } catch (error) {
      const { kind, message } = asFlintError(error);
      if (kind !== "notRunning" && kind !== "unsupported") throw error;
      reply({ outcome: kind === "notRunning" ? "promptRequired" : "failed", message });
    }
  }

  /** Sends an input. What stops only for want of steps goes on by itself while the plan has steps left, a few times. */
  #send(session: AcpSession, wishes: TurnWishes, watch: InputWatch, continued = 0): void {
    const onEnd = (end: InputEnd): void => {
      const isUnfinished = end.kind === "turn" && isOutOfSteps(end.turn) && session.openSteps > 0;
      if (!isUnfinished || continued >= MOST_CONTINUATIONS) {
        watch.onEnd(end);
        return;
      }
      const nudge: TurnWishes = { input: [{ type: "text", text: "continue" }], isNudge: true };
      this.#send(session, nudge, followUp(watch), continued + 1);
    };
    session.prompts.send(wishes, { ...watch, onEnd });
  }

  async #run(session: AcpSession, command: Command, watch: InputWatch): Promise<void> {
    switch (command.name) {
      case "agent":
        return this.#agent(session, command.agent, command.input, watch);
      case "duet":
        return this.#duet(session, command.agents, command.input, watch);
      case "model":
        return this.#chooseModel(session, command.argument, watch);
      case "mode":
        return this.#chooseMode(session, command.argument, watch);
      case "compact":
        return this.#compact(session, watch);
      case "review":
        return this.#review(session, command.argument, watch);
    }
  }

  async #agent(
    session: AcpSession,
    agent: string,
    input: readonly UserInput[],
    watch: InputWatch,
  ): Promise<void> {
    if (input.length === 0) return this.#chooseModel(session, agent, watch);
    this.#send(session, { input: [...input], model: agent }, watch);
  }

  /** The first agent does it; then the second looks at it with fresh eyes, and goes on. */
  async #duet(
    session: AcpSession,
    named: readonly string[],
    input: readonly UserInput[],
    watch: InputWatch,
  ): Promise<void> {
    const [first, second] = await this.#pair(session, named);
    if (input.length === 0 || first === undefined || second === undefined) {
      const problem =
        first === undefined || second === undefined ? "needs two agents" : "needs something to do";
      return spoken(session, watch, `/duet ${problem}: /duet [agent] [agent] what to do\n`);
    }
    const review = `Another agent has just worked on this request:\n\n${inputText(input)}\n\nLook at what it did. Correct what is wrong, do what is missing, and say what you changed.`;
    const onEnd = (end: InputEnd): void => {
      if (end.kind !== "turn" || end.turn.status !== "completed") {
        watch.onEnd(end);
        return;
      }
      const wishes = { input: [{ type: "text" as const, text: review }], model: second, isNudge: true };
      this.#send(session, wishes, followUp(watch));
    };
    this.#send(session, { input: [...input], model: first }, { ...watch, onEnd });
  }

  /** Those that were named, then the one at work, then the others. */
  async #pair(session: AcpSession, named: readonly string[]): Promise<readonly string[]> {
    const agents = await this.#options.settings.agents();
    const current = agentOf(session.settings?.model ?? "");
    return [...new Set([...named, current, ...agents])].filter((agent) => agents.includes(agent));
  }

  async #chooseModel(session: AcpSession, wanted: string, watch: InputWatch): Promise<void> {
    const { settings } = this.#options;
    if (wanted === "") {
      const models = (await settings.models()).map(({ id }) => `- ${id}`);
      return spoken(session, watch, `The models are:\n${models.join("\n")}\n`);
    }
    await settings.setModel(session, wanted, () => undefined);
    spoken(session, watch, `${session.settings?.model ?? wanted} goes on from here.\n`);
  }

  async #chooseMode(session: AcpSession, wanted: string, watch: InputWatch): Promise<void> {
    const { settings } = this.#options;
    if (wanted === "") {
      const { modes } = await settings.read(session);
      const lines = modes.availableModes.map(({ id, description }) => `- ${id}: ${description ?? ""}`);
      return spoken(session, watch, `The modes are:\n${lines.join("\n")}\nNow: ${modes.currentModeId}\n`);
    }
    await settings.setMode(session, wanted, () => undefined);
    spoken(session, watch, `The mode is ${wanted}.\n`);
  }

  async #compact(session: AcpSession, watch: InputWatch): Promise<void> {
    const { client } = this.#options;
    session.prompts.follow(
      (begun) => client.call("thread/compact/start", { threadId: session.id }, ({ turn }) => begun(turn.id)),
      watch,
    );
  }

  async #review(session: AcpSession, instructions: string, watch: InputWatch): Promise<void> {
    const { client } = this.#options;
    const uncommitted = { type: "uncommittedChanges" } as const;
    const target = instructions === "" ? uncommitted : ({ type: "custom", instructions } as const);
    session.prompts.follow(
      (begun) =>
        client.call("review/start", { threadId: session.id, target, delivery: "inline" }, ({ turn }) =>
          begun(turn.id),
        ),
      watch,
    );
  }
}

/** Answers a prompt without a turn. */
function spoken(session: AcpSession, watch: InputWatch, text: string): void {
  watch.onInserted?.(mintId());
  session.works(true);
  session.say(text);
  session.works(false);
  watch.onEnd({ kind: "done" });
}

/** Only the first message of a prompt is the one that the client sent. */
function followUp({ onEnd, onSent }: InputWatch): InputWatch {
  return onSent === undefined ? { onEnd } : { onEnd, onSent };
}

/** The answer is why the turn stopped. */
function atEnd({ session, request, reply, resolve, reject }: Answering): InputWatch {
  return {
    onEnd: (end) => {
      const answer = request.isTakenBack ? takenBack() : answerTo(end, session);
      if (answer instanceof Error) return reject(answer);
      reply(answer);
      resolve();
    },
  };
}

/** The message is all that the client waits for; how its turn ends is told in updates. */
function atOnce({ reply, resolve, reject }: Answering): InputWatch {
  let isAnswered = false;
  return {
    onInserted: (messageId) => {
      if (isAnswered) return;
      isAnswered = true;
      reply({ messageId });
      resolve();
    },
    onEnd: (end) => {
      if (!isAnswered) reject(end.kind === "failed" ? end.error : takenBack());
    },
  };
}

function takenBack(): FlintError {
  return new AcpRefusal("requestCancelled", "The request was cancelled.");
}

function answerTo(end: InputEnd, { turnUsage }: AcpSession): object | FlintError {
  switch (end.kind) {
    case "failed":
      return end.error;
    case "cancelled":
      return { stopReason: "cancelled" };
    case "done":
      return { stopReason: "end_turn" };
    case "turn": {
      const stop = stopOf(end.turn);
      return typeof stop === "string" ? { stopReason: stop, ...usageOf(turnUsage) } : stop;
    }
  }
}

/** What a turn used, as agents tell it beside the stable protocol; nothing if nobody told. */
function usageOf(usage: TokenUsage): object {
  const totalTokens = total(usage);
  if (totalTokens === 0) return {};
  const { inputTokens, outputTokens, thinkingTokens = 0, cacheReadTokens = 0, cacheWriteTokens = 0 } = usage;
  const cached = { cachedReadTokens: cacheReadTokens, cachedWriteTokens: cacheWriteTokens };
  return { usage: { totalTokens, inputTokens, outputTokens, thoughtTokens: thinkingTokens, ...cached } };
}
