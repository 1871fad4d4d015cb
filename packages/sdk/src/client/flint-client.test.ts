import { METHODS } from "@flint/protocol";
import { describe, expect, test } from "vitest";
import { connect } from "../connect.ts";
import { FakeServer, SETTINGS } from "../testing/fake-server.ts";

describe("every method of the protocol", () => {
  test("is a function under its own name, and there are no others", async () => {
    const server = new FakeServer().answer("thread/list", () => ({ data: [], nextCursor: "more" }));
    const client = await connect({ transport: server.transport });
    expect(Object.keys(client.methods).sort()).toEqual(Object.keys(METHODS).sort());
    expect(await client.methods["thread/list"]({ limit: 2 })).toEqual({ data: [], nextCursor: "more" });
    expect(await client.methods["thread/list"]()).toEqual({ data: [], nextCursor: "more" });
    expect(server.received.filter(({ method }) => method === "thread/list")).toEqual([
      { method: "thread/list", params: { limit: 2 } },
      { method: "thread/list", params: {} },
    ]);
    await client.close();
  });

  test("selectors are listed, set and read, for a thread or for new ones [S0-100]", async () => {
    const option = { type: "select", id: "effort", name: "Effort", options: [{ id: "high", name: "High" }] };
    let value = "low";
    const options = () => [{ ...option, value }];
    const server = new FakeServer()
      .answer("config/list", () => ({ options: options() }))
      .answer("config/set", (params) => {
        value = params.value;
        return { options: options() };
      })
      .answer("config/read", () => ({
        ...SETTINGS,
        options: options(),
        sandbox: { available: true, mechanism: "none" },
        durability: "full",
      }));
    const client = await connect({ transport: server.transport });
    expect(await client.configList()).toEqual([{ ...option, value: "low" }]);
    expect(await client.configSet("effort", "high", "thread-1")).toEqual([{ ...option, value: "high" }]);
    expect(await client.configRead("thread-1")).toMatchObject({ options: [{ value: "high" }] });
    expect(server.received.slice(2).map(({ params }) => params)).toEqual([
      {},
      { id: "effort", value: "high", threadId: "thread-1" },
      { threadId: "thread-1" },
    ]);
    await client.close();
  });
});
