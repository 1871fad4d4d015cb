import { JsonlStore } from "@flint/host/store";
import { type EventBody, emptyThread, mintId, reduceThread, type Thread, type Turn } from "@flint/protocol";

const LATELY = Date.now();

/** Fills a store with threads of one turn each, and gives their ids. */
export async function storeThreads(root: string, amount: number, cwd: string): Promise<string[]> {
  const store = new JsonlStore({ root, durability: "relaxed" });
  const threadIds: string[] = [];
  for (let place = 0; place < amount; place += 1) {
    const threadId = mintId();
    const writer = await store.create(threadId);
    const at = LATELY - (amount - place) * 1_000;
    const stored = writer.append(eventsOf(threadId, place, cwd, at), at);
    writer.checkpoint(stored.reduce(reduceThread, emptyThread(threadId)));
    await writer.close();
    threadIds.push(threadId);
  }
  await store.close();
  return threadIds;
}

function eventsOf(threadId: string, place: number, cwd: string, at: number): EventBody[] {
  const model = "scripted/steady";
  const seconds = Math.floor(at / 1_000);
  const thread: Thread = {
    id: threadId,
    preview: "",
    modelProvider: "scripted",
    model,
    cwd,
    createdAt: seconds,
    updatedAt: seconds,
    archived: false,
    ephemeral: false,
    status: { type: "idle" },
  };
  const sandboxPolicy = { type: "readOnly" } as const;
  const settings = { model, cwd, approvalPolicy: "always", sandboxPolicy, config: {} } as const;
  const turn: Turn = { id: mintId(), status: "inProgress", items: [], startedAtMs: at };
  const content = [{ type: "text" as const, text: `prompt ${place}` }];
  const item = { type: "userMessage", id: mintId(), content } as const;
  const inTurn = { threadId, turnId: turn.id };
  const ended: Turn = { ...turn, status: "completed", itemsView: "notLoaded", completedAtMs: at };
  return [
    { type: "thread/started", data: { thread, settings } },
    { type: "turn/started", data: { threadId, turn } },
    { type: "item/started", data: { ...inTurn, item } },
    { type: "item/completed", data: { ...inTurn, item } },
    { type: "turn/completed", data: { threadId, turn: ended } },
  ];
}
