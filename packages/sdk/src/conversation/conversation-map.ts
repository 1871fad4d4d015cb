/** Which thread each conversation goes on in. */
export interface ConversationMap {
  get(key: string): Promise<string | undefined>;
  set(key: string, threadId: string): Promise<void>;
  delete(key: string): Promise<void>;
}

/** Remembers as long as the program runs. */
export class MemoryConversationMap implements ConversationMap {
  readonly #threads = new Map<string, string>();

  async get(key: string): Promise<string | undefined> {
    return this.#threads.get(key);
  }

  async set(key: string, threadId: string): Promise<void> {
    this.#threads.set(key, threadId);
  }

  async delete(key: string): Promise<void> {
    this.#threads.delete(key);
  }
}
