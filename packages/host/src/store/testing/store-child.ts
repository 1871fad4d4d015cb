import { JsonlStore } from "../jsonl-store.ts";

/**
 * A process that uses a store, for tests that suspend or kill it. `hold ROOT THREAD` opens a thread and keeps running.
 * `leave` opens it and does nothing more. `write` writes to it until it is killed, and prints which numbers are synced.
 */
const [command, root = "", threadId = ""] = process.argv.slice(2);
const store = new JsonlStore({ root, durability: "full" });

if (command === "write") {
  await write();
} else {
  await store.open(threadId);
  print("open");
  // Keeps the process alive.
  if (command === "hold") process.stdin.resume();
}

async function write(): Promise<void> {
  const { writer, state } = await store.open(threadId);
  let { seq } = state;
  print(`opened ${seq}`);
  for (;;) {
    const data = { threadId, name: `name ${seq} ${"x".repeat(seq % 3000)}` };
    const stored = writer.append([{ type: "thread/name/updated", data }], Date.now());
    seq = stored.at(-1)?.seq ?? seq;
    writer.checkpoint({ ...state, seq, thread: { ...state.thread, name: data.name } });
    await writer.sync();
    print(`safe ${seq}`);
  }
}

function print(text: string): void {
  process.stdout.write(`${text}\n`);
}
