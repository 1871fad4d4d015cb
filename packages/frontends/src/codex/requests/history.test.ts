import { PassThrough } from "node:stream";
import type { Method, Params, Result, Turn } from "@flint/protocol";
import { streamTransport } from "@flint/rpc/node";
import { testEngine, WireClient } from "@flint/testkit";
import { describe, expect, test } from "vitest";
import { ClientConnection } from "../../shared/client-connection.ts";
import { CLIENT_SCRIPTS, fields } from "../../testing/client-scripts.ts";
import { codexFrontend } from "../frontend.ts";
import { itemsPage, iterateTurns, turnsPage } from "./history.ts";

const { initialize, startThread, threadIdOf, prompt, turnEnd } = CLIENT_SCRIPTS.codex;

test("thread/list has the requested order, by creation or by last use [S2-7]", async () => {
  const { engine, clock } = testEngine();
  const [toServer, toClient] = [new PassThrough(), new PassThrough()];
  new ClientConnection(codexFrontend(), engine, streamTransport(toServer, toClient));
  const client = WireClient.over(toClient, toServer);
  await client.request(...initialize);
  const use = async (threadId: string) => {
    const after = client.mark;
    await client.request(...prompt(threadId, "go"));
    await client.waitFor((message) => JSON.stringify(message).includes(turnEnd), { after });
    // The times of a thread are in seconds.
    await clock.advance(1_000);
  };
  const start = async () => {
    const threadId = String(threadIdOf(fields(await client.request(...startThread("/code")))));
    await use(threadId);
    return threadId;
  };
  const [older, newer] = [await start(), await start()];
  await use(older);
  const list = async (sortKey: string, sortDirection: string) => {
    const { data } = fields(await client.request("thread/list", { sortKey, sortDirection }));
    return Array.isArray(data) ? data.map((thread) => fields(thread).id) : data;
  };
  expect(await list("created_at", "desc")).toEqual([newer, older]);
  expect(await list("created_at", "asc")).toEqual([older, newer]);
  expect(await list("updated_at", "desc")).toEqual([older, newer]);
  expect(await list("updated_at", "asc")).toEqual([newer, older]);
});

const THREAD = "01990000-0000-7000-8000-000000000000";

/** A core with a thread of so many turns of two items; it notes which pages are requested. */
class PagedCore {
  readonly turns: readonly Turn[];
  readonly notes: string[] = [];

  constructor(count: number) {
    this.turns = Array.from({ length: count }, (_, index) => ({
      ...{ id: `t${index}`, status: "completed", itemsView: "full" },
      items: ["a", "b"].map((name) => ({ type: "agentMessage", id: `t${index}${name}`, text: name })),
    }));
  }

  async call<Name extends Method>(_method: Name, params: Params<Name>): Promise<Result<Name>> {
    const { cursor, limit = 25 }: { cursor?: string; limit?: number } = Object(params);
    const end = cursor === undefined ? this.turns.length : Number(cursor);
    const start = Math.max(0, end - limit);
    this.notes.push(`read ${start} to ${end}`);
    const page = { turns: this.turns.slice(start, end), ...(start > 0 ? { nextCursor: String(start) } : {}) };
    const answer: unknown = page;
    // Only pages of turns are requested here.
    return answer as Result<Name>;
  }
}

/** All that a list gives, page by page. */
async function throughout(
  list: (cursor: string | null) => Promise<{ data: readonly unknown[]; nextCursor: string | null }>,
) {
  const pages: (readonly unknown[])[] = [];
  let cursor: string | null = null;
  do {
    const page: Awaited<ReturnType<typeof list>> = await list(cursor);
    pages.push(page.data);
    cursor = page.nextCursor;
  } while (cursor !== null);
  return pages;
}

describe("all turns of a thread", () => {
  test("are read in order, and released page by page", async () => {
    const core = new PagedCore(120);
    const ids = await iterateTurns(core, THREAD, ({ id }) => {
      core.notes.push("encoded");
      return id;
    });
    expect(ids).toEqual(core.turns.map(({ id }) => id));
    const [first, ...more] = core.notes.filter((note, index) => note !== core.notes[index - 1]);
    expect([first, ...more]).toEqual([
      "read 70 to 120",
      "encoded",
      "read 20 to 70",
      "encoded",
      "read 0 to 20",
      "encoded",
    ]);
  });

  test.each([1, 7, 50, 51, 200])("are listed in both directions, each once, %i at a time", async (limit) => {
    const core = new PagedCore(120);
    const list = { threadId: THREAD, limit, itemsView: "notLoaded" } as const;
    const ids = core.turns.map(({ id }) => id);
    for (const sortDirection of ["asc", "desc"] as const) {
      const pages = await throughout((cursor) => turnsPage({ ...list, sortDirection, cursor }, core));
      const expected = sortDirection === "asc" ? ids : ids.toReversed();
      expect(pages.flat()).toMatchObject(expected.map((id) => ({ id })));
      expect(pages.every((page) => page.length <= limit)).toBe(true);
    }
  });

  test.each([1, 7, 100, 200])(
    "have their items listed in both directions, each once, %i at a time",
    async (limit) => {
      const core = new PagedCore(60);
      const ids = core.turns.flatMap(({ items }) => items.map(({ id }) => id));
      for (const sortDirection of ["asc", "desc"] as const) {
        const pages = await throughout((cursor) =>
          itemsPage({ threadId: THREAD, limit, sortDirection, cursor }, core),
        );
        const expected = sortDirection === "asc" ? ids : ids.toReversed();
        expect(pages.flat()).toMatchObject(expected.map((id) => ({ item: { id } })));
      }
    },
  );

  test("are listed from the beginning if the one to continue after was removed", async () => {
    const cursor = JSON.stringify({ after: "gone" });
    const page = await turnsPage(
      { threadId: THREAD, limit: 2, sortDirection: "asc", cursor },
      new PagedCore(3),
    );
    expect(page.data).toMatchObject([{ id: "t0" }, { id: "t1" }]);
  });
});
