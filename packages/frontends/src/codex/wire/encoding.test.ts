import type { Thread, Turn } from "@flint/protocol";
import { describe, expect, test } from "vitest";
import { threadOf } from "../events/threads.ts";
import { listedTurn } from "../events/turns.ts";
import { pageFrom } from "../requests/history.ts";
import { encodeTurn, encodeWithTurns } from "./encoding.ts";

const THREAD: Thread = {
  id: "01990000-0000-7000-8000-000000000000",
  preview: "",
  modelProvider: "flint",
  model: "flint/offline",
  cwd: "/repo",
  createdAt: 1,
  updatedAt: 1,
  archived: false,
  ephemeral: false,
  status: { type: "idle" },
};

function turn(id: string, status: Turn["status"] = "completed", text = `said “${id}”`): Turn {
  return { id, status, items: [{ type: "agentMessage", id: `m${id}`, text }], itemsView: "full" };
}

describe("an answer with many turns", () => {
  const thread = threadOf(THREAD, null);

  test("is the same as if it were encoded at once, and the list is emptied", () => {
    const turns = [turn("1"), turn("2")];
    const texts = turns.map(encodeTurn);
    const json = encodeWithTurns({ thread, model: 'a "model"', page: null }, texts);
    expect(JSON.parse(json)).toEqual({
      model: 'a "model"',
      page: null,
      thread: { ...thread, turns: turns.map((one) => listedTurn(one, "full")) },
    });
    expect(texts).toEqual([]);
  });

  test("is the same with only a thread, and without turns", () => {
    expect(JSON.parse(encodeWithTurns({ thread }, []))).toEqual({ thread });
    expect(JSON.parse(encodeWithTurns({ thread, model: "m" }, []))).toEqual({ thread, model: "m" });
  });
});

describe("the page of turns that comes with a thread", () => {
  const page = (ids: readonly string[], nextCursor: string | null = null) => ({
    data: ids.map((id) => listedTurn(turn(id, "completed", "old"), "full")),
    nextCursor,
    backwardsCursor: null,
  });
  const ids = ({ data }: ReturnType<typeof pageFrom>) => data.map(({ id }) => id);

  test("has turns that changed since it was read as they are now, in the requested detail", () => {
    const { data } = pageFrom(page(["2", "1"], "more"), { itemsView: "full" }, [turn("2", "inProgress")]);
    expect(data).toEqual([
      listedTurn(turn("2", "inProgress"), "full"),
      listedTurn(turn("1", "completed", "old"), "full"),
    ]);
    const [bare] = pageFrom(page(["2"]), { itemsView: "notLoaded" }, [turn("2")]).data;
    expect(bare).toMatchObject({ itemsView: "notLoaded", items: [] });
  });

  test("has turns that started since at its newer end, and nothing of another page", () => {
    const latest = [turn("1"), turn("2"), turn("3")];
    expect(ids(pageFrom(page(["2"], "more"), {}, latest))).toEqual(["3", "2"]);
    expect(ids(pageFrom(page(["1", "2"]), { sortDirection: "asc" }, latest))).toEqual(["1", "2", "3"]);
    expect(ids(pageFrom(page(["1"], "more"), { sortDirection: "asc" }, latest))).toEqual(["1"]);
    expect(ids(pageFrom(page([]), {}, [turn("1")]))).toEqual(["1"]);
  });
});
