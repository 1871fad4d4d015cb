import {
  FlintError,
  isKnownItem,
  type QueuedInput,
  type ThreadItem,
  type ThreadState,
  type Turn,
  type UserInput,
} from "@flint/protocol";

/** Maximum number of ids that are remembered for one thread, or for the threads of one server. */
export const MAX_CLIENT_IDS = 1_000;

/** The result of an earlier request with the same id. */
export type EarlierInput = { readonly turn: Turn } | { readonly queuedInput: QueuedInput };

/**
 * Finds the inputs of a thread by the ids that clients gave them, so that a repeated request does not start a second
 * turn. The log has the ids, so that they are known after a restart too.
 */
export class ClientIds {
  readonly #state: () => ThreadState;
  readonly #history: () => Promise<readonly Turn[]>;
  #known: Set<string> | undefined;

  constructor(state: () => ThreadState, history: () => Promise<readonly Turn[]>) {
    this.#state = state;
    this.#history = history;
  }

  /**
   * Finds the turn or queued input with this id; undefined if there is none. Throws `invalidParams` if that
   * input differs. `input` is as the log has it.
   */
  async find(clientId: string, input: readonly UserInput[]): Promise<EarlierInput | undefined> {
    const queuedInput = this.#state().queue.find((queued) => queued.clientId === clientId);
    if (queuedInput !== undefined) {
      rejectIfOther(clientId, queuedInput.input, input);
      return { queuedInput };
    }
    const turn = turnWith(clientId, this.#state().turns) ?? (await this.#storedTurn(clientId));
    if (turn === undefined) return undefined;
    rejectIfOther(clientId, messageIn(clientId, turn)?.content ?? [], input);
    return { turn };
  }

  /** Remembers the id of an input that was accepted. */
  add(clientId: string): void {
    this.#known?.delete(clientId);
    this.#known?.add(clientId);
    const [oldest] = this.#known ?? [];
    if ((this.#known?.size ?? 0) > MAX_CLIENT_IDS && oldest !== undefined) this.#known?.delete(oldest);
  }

  /** The log is read once for all ids, and again only for one that is known. */
  async #storedTurn(clientId: string): Promise<Turn | undefined> {
    if (this.#known === undefined) {
      const turns = this.#state().endedTurns === 0 ? [] : await this.#history();
      this.#known = new Set(turns.flatMap(idsIn).slice(-MAX_CLIENT_IDS));
    }
    return this.#known.has(clientId) ? turnWith(clientId, await this.#history()) : undefined;
  }
}

function turnWith(clientId: string, turns: readonly Turn[]): Turn | undefined {
  return turns.findLast((turn) => messageIn(clientId, turn) !== undefined);
}

function messageIn(clientId: string, { items }: Turn) {
  return items.filter(isUserMessage).find((item) => item.clientId === clientId);
}

function idsIn({ items }: Turn): readonly string[] {
  return items.filter(isUserMessage).flatMap((item) => item.clientId ?? []);
}

function isUserMessage(item: ThreadItem) {
  return isKnownItem(item) && item.type === "userMessage";
}

function rejectIfOther(clientId: string, earlier: readonly UserInput[], input: readonly UserInput[]): void {
  if (JSON.stringify(earlier) !== JSON.stringify(input)) throw clientIdMismatch(clientId, "another input");
}

/** The error for an id that was used with something else before. */
export function clientIdMismatch(clientId: string, what: string): FlintError {
  const message = `The clientId ${JSON.stringify(clientId)} was used before with ${what}. Repeat a request exactly, or give a new one its own clientId.`;
  return new FlintError("invalidParams", message, { field: "clientId" });
}
