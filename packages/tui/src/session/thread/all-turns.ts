import type { Thread, Turn } from "@flint/protocol";
import type { FlintClient, ThreadHandle } from "@flint/sdk";

const PAGE = 100;

/** All turns of a thread, oldest first: those of its state, and the earlier ones, which are read once they are needed. */
export class AllTurns {
  readonly #client: () => FlintClient;
  readonly #handle: ThreadHandle | undefined;
  #earlier: readonly Turn[] | undefined;
  #reading: Promise<void> | undefined;
  #reverts = 0;

  /** Without a thread there are no turns. */
  constructor(client: () => FlintClient, handle?: ThreadHandle) {
    this.#client = client;
    this.#handle = handle;
  }

  /** Those that are here by now. */
  get known(): readonly Turn[] {
    const turns = this.#handle?.state.turns ?? [];
    if (this.#earlier === undefined) return turns;
    const ids = new Set(turns.map(({ id }) => id));
    return [...this.#earlier.filter(({ id }) => !ids.has(id)), ...turns];
  }

  /** Reports whether all of them are here, so that their numbers are known. */
  get isComplete(): boolean {
    return this.#handle?.hasEarlierTurns !== true || this.#earlier !== undefined;
  }

  /** All of them. Rejects if the server cannot be asked for what is not here. */
  async read(): Promise<readonly Turn[]> {
    if (!this.isComplete) {
      this.#reading ??= this.#readEarlier().finally(() => {
        this.#reading = undefined;
      });
      await this.#reading;
    }
    return this.known;
  }

  /** These turns are not part of the thread any more. */
  drop(turnIds: readonly string[]): void {
    this.#reverts += 1;
    this.#earlier = this.#earlier?.filter(({ id }) => !turnIds.includes(id));
  }

  async #readEarlier(): Promise<void> {
    const threadId = this.#handle?.id ?? "";
    for (;;) {
      const reverts = this.#reverts;
      const { turns } = await readThread(this.#client(), threadId);
      // Some of them were dropped since they were read.
      if (reverts !== this.#reverts) continue;
      this.#earlier = turns;
      return;
    }
  }
}

/** The turn that `#3` or `3` names. */
export function turnNumbered(turns: readonly Turn[], name: string): Turn | undefined {
  return turns[Number(name.replace(/^#/, "")) - 1];
}

/** Reads a thread with all its turns, oldest first. */
export async function readThread(
  client: FlintClient,
  threadId: string,
): Promise<{ readonly thread: Thread; readonly turns: readonly Turn[] }> {
  const read = (cursor?: string) =>
    client.call("thread/read", {
      ...{ threadId, includeTurns: true, limit: PAGE },
      ...(cursor === undefined ? {} : { cursor }),
    });
  let page = await read();
  const { thread } = page;
  const turns = [...(page.turns ?? [])];
  while (page.nextCursor !== undefined) {
    page = await read(page.nextCursor);
    turns.unshift(...(page.turns ?? []));
  }
  return { thread, turns };
}
