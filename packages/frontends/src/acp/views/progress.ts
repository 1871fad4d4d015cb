/** Number of characters of a running command's output that are shown at a time. */
const WINDOW = 8 * 1024;

/**
 * The parts of the running turn that the client has, so that nothing is sent twice and nothing is left out. A
 * client that joins late or reconnects gets items whole, and deltas may overlap with them.
 */
export class TurnProgress {
  /** Approvals and questions that wait for an answer. */
  readonly openRequests = new Set<string>();
  /** The reason items were declined, by their ids. */
  readonly declined = new Map<string, string>();
  /** The client's own terminals that commands run in, by item id. */
  readonly terminals = new Map<string, string>();
  readonly #sentLengths = new Map<string, number>();
  readonly #toolCalls = new Set<string>();
  readonly #outputs = new Map<string, OutputWindow>();
  #hasMessage = false;

  /** Reports whether the agent has sent a message in this turn. */
  get hasMessage(): boolean {
    return this.#hasMessage;
  }

  /** Returns the number of characters of a text field that the client has. */
  sentLength(itemId: string, field: string): number {
    return this.#sentLengths.get(`${itemId} ${field}`) ?? 0;
  }

  /** Records that the client has the first `length` characters of a text field. */
  recordText(itemId: string, field: string, length: number): void {
    this.#sentLengths.set(`${itemId} ${field}`, Math.max(this.sentLength(itemId, field), length));
    if (field === "text") this.#hasMessage = true;
  }

  /** The part of a delta that the client does not have yet, recorded as sent. */
  takeDelta(itemId: string, field: string, delta: string, offset: number): string {
    const missing = delta.slice(Math.max(0, this.sentLength(itemId, field) - offset));
    if (missing !== "") this.recordText(itemId, field, offset + delta.length);
    return missing;
  }

  /** Records a tool call. True if the client did not have it. */
  recordToolCall(itemId: string): boolean {
    const isNew = !this.#toolCalls.has(itemId);
    this.#toolCalls.add(itemId);
    return isNew;
  }

  /** The output window of a command. */
  outputOf(itemId: string): OutputWindow {
    const output = this.#outputs.get(itemId) ?? new OutputWindow();
    this.#outputs.set(itemId, output);
    return output;
  }

  /** Forgets everything: the turn has ended. */
  reset(): void {
    this.openRequests.clear();
    this.declined.clear();
    this.terminals.clear();
    this.#sentLengths.clear();
    this.#toolCalls.clear();
    this.#outputs.clear();
    this.#hasMessage = false;
  }
}

/**
 * The tail of a command's output while it runs. Clients without terminals get the whole window with each update, so an
 * update is due only after a quarter of it has changed: the bytes sent stay proportional to the output.
 */
export class OutputWindow {
  #text = "";
  #unsent = 0;
  #end = 0;

  /** Appends a delta that starts at `offset` of the output. True if an update is due. */
  append(delta: string, offset: number): boolean {
    const added = delta.slice(Math.max(0, this.#end - offset));
    if (added === "") return false;
    this.#text = `${this.#text}${added}`.slice(-WINDOW);
    this.#end = offset + delta.length;
    this.#unsent += added.length;
    if (this.#unsent * 4 < this.#text.length) return false;
    this.#unsent = 0;
    return true;
  }

  /** The tail, with an ellipsis if there was more before it. */
  get text(): string {
    return this.#end > this.#text.length ? `…${this.#text}` : this.#text;
  }
}
