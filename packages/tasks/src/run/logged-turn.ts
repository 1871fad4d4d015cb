import {
  addUsage,
  type Cost,
  isKnownItem,
  NO_USAGE,
  type Result,
  type RunUsage,
  readLoggedEvent,
  type Turn,
  type TurnReference,
  totalTokens,
} from "@flint/protocol";
import { type AgentEvent, type FlintClient, FlintRequestError } from "@flint/sdk";
import { withCost } from "./run-usage.ts";
import type { ExecutorCommits } from "./task-workspaces.ts";
import { type AnsweredTurn, outcomeOf, ownCommits } from "./turn-outcome.ts";

const PAGE = 5000;

/** The answer of the first turn whose key passes, as the log of its thread has it; undefined if it was cut off or had none. */
export async function answerIn(
  client: FlintClient,
  { threadId }: TurnReference,
  isMeant: (clientId: string) => boolean,
): Promise<AnsweredTurn | undefined> {
  const logged = new LoggedTurn(threadId, isMeant);
  // Expected: the thread was deleted.
  try {
    for (let afterSeq: number | undefined = 0; afterSeq !== undefined; ) {
      const range = { threadId, afterSeq, limit: PAGE };
      const page: Result<"thread/events/list"> = await client.call("thread/events/list", range);
      for (const event of page.events.map(readLoggedEvent)) if (event !== undefined) logged.add(event);
      afterSeq = page.more ? page.events.at(-1)?.seq : undefined;
    }
  } catch (thrown) {
    if (thrown instanceof FlintRequestError) return undefined;
    throw thrown;
  }
  return logged.answer();
}

/** Follows the log of a thread to the end of one turn in it. */
class LoggedTurn {
  readonly #threadId: string;
  readonly #isMeant: (clientId: string) => boolean;
  #turnId: string | undefined;
  #isFound = false;
  #ended: Turn | undefined;
  #text = "";
  #tokens = NO_USAGE;
  #cost: Cost | undefined;
  #costBefore: Cost | undefined;
  #commits: ExecutorCommits | undefined;

  constructor(threadId: string, isMeant: (clientId: string) => boolean) {
    this.#threadId = threadId;
    this.#isMeant = isMeant;
  }

  add(event: AgentEvent): void {
    if (this.#ended !== undefined) return;
    switch (event.type) {
      case "turn/started":
        this.#begin(event.data.turn.id);
        break;
      case "item/completed":
        this.#addItem(event);
        break;
      case "thread/tokenUsage/updated":
        this.#cost = event.data.cost ?? this.#cost;
        this.#tokens = addUsage(this.#tokens, event.data.last);
        break;
      case "turn/completed":
        if (this.#isFound && event.data.turn.id === this.#turnId) this.#ended = event.data.turn;
        break;
    }
  }

  answer(): AnsweredTurn | undefined {
    const ended = this.#ended;
    if (ended === undefined) return undefined;
    const turn = { threadId: this.#threadId, turnId: ended.id };
    const result = { status: ended.status, text: this.#text, turn: ended };
    const outcome = outcomeOf(result, turn, NEVER);
    if (outcome.kind !== "answered") return undefined;
    return { ...outcome, usage: this.#usageOf(ended), commits: this.#commits };
  }

  #begin(turnId: string): void {
    this.#turnId = turnId;
    this.#isFound = false;
    this.#text = "";
    this.#tokens = NO_USAGE;
    this.#costBefore = this.#cost;
    this.#commits = undefined;
  }

  #addItem(event: Extract<AgentEvent, { type: "item/completed" }>): void {
    const { item } = event.data;
    if (!isKnownItem(item)) return;
    if (item.type === "userMessage")
      this.#isFound ||= item.clientId !== undefined && this.#isMeant(item.clientId);
    if (item.type === "agentMessage" && item.text !== "") this.#text = item.text;
    this.#commits = ownCommits(event) ?? this.#commits;
  }

  #usageOf({ startedAtMs = 0, completedAtMs = startedAtMs, waitedMs = 0 }: Turn): RunUsage {
    const seconds = Math.max(0, (completedAtMs - startedAtMs - waitedMs) / 1000);
    const usage = { seconds, ...(totalTokens(this.#tokens) === 0 ? {} : { tokens: this.#tokens }) };
    return withCost(usage, this.#costBefore, this.#cost);
  }
}

const NEVER = new AbortController().signal;
