import { JsonlStore } from "../jsonl-store.ts";

/**
 * A process that uses a store, for tests that stop or kill it. `hold ROOT THREAD` opens a thread and keeps it.
 * `leave` opens it and has nothing more to do. `write` writes to it until it is killed and says which numbers are safe.
 */
const [command, root = "", threadId = ""] = process.argv.slice(2);
const store = new JsonlStore({ root, durability: "full" });

if (command === "write") {
  await write();
} else {
  await store.open(threadId);
  say("open");
  // Keeps the process alive.
  if (command === "hold") process.stdin.resume();
}

async function write(): Promise<void> {
  const { writer, state } = await store.open(threadId);
  let { seq } = state;
  say(`opened ${seq}`);
  for (;;) {
    const data = { threadId, name: `name ${seq} ${"x".repeat(seq % 3000)}` };
    const stored = writer.append([{ type: "thread/name/updated", data }], Date.now());
    seq = stored.at(-1)?.seq ?? seq;
    writer.checkpoint({ ...state, seq, thread: { ...state.thread, name: data.name } });
    await writer.sync();
    say(`safe ${seq}`);
  }
}

function say(text: string): void {
  process.stdout.write(`${text}\n`);
}
