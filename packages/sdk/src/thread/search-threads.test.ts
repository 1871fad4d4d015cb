import type { ThreadItem } from "@flint/protocol";
import { expect, test } from "vitest";
import { connect } from "../connect.ts";
import { aThread, aTurn, FakeServer, Refusal } from "../testing/fake-server.ts";
import { searchThreads } from "./search-threads.ts";

const message = (text: string): ThreadItem => ({ type: "agentMessage", id: "m", text });
const command: ThreadItem = {
  ...{ type: "commandExecution", id: "c", command: "fix boiler", cwd: "/" },
  status: "completed",
};

/** A server whose threads have these items; `titled` is the one whose name has the text. */
function serverWith(items: Readonly<Record<string, readonly ThreadItem[]>>, titled: string): FakeServer {
  const all = Object.keys(items).map((id) => aThread(id));
  return new FakeServer()
    .answer("thread/list", ({ searchTerm }) => ({
      data: searchTerm === undefined ? all : all.filter(({ id }) => id === titled),
    }))
    .answer("thread/read", ({ threadId, cursor }) => {
      const own = items[threadId] ?? [];
      if (own.length === 0) throw new Refusal("threadNotFound", "gone");
      // The first page has nothing in it; the second has the items.
      const turns = [aTurn("t", { items: cursor === undefined ? [] : [...own] })];
      return { thread: aThread(threadId), turns, ...(cursor === undefined ? { nextCursor: "2" } : {}) };
    });
}

async function idsOf(server: FakeServer, signal?: AbortSignal): Promise<string[]> {
  const client = await connect({ transport: server.transport });
  const found: string[] = [];
  for await (const { id } of searchThreads(client, "Boiler", { signal })) found.push(id);
  await client.close();
  return found;
}

test("threads are found by name first, then by any page of their messages and commands", async () => {
  const server = serverWith(
    {
      answer: [message("the BOILER is off")],
      none: [message("fine")],
      gone: [],
      run: [command],
      named: [message("")],
    },
    "named",
  );
  expect(await idsOf(server)).toEqual(["named", "answer", "run"]);
});

test("a search that is aborted reads no further thread", async () => {
  const server = serverWith({ answer: [message("boiler")] }, "none");
  expect(await idsOf(server, AbortSignal.abort())).toEqual([]);
  expect(server.received.map(({ method }) => method)).not.toContain("thread/read");
});
