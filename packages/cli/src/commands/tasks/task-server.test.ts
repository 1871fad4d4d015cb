import { type FlintClient, FlintConnectionError } from "@flint/sdk";
import { describe, expect, test, vi } from "vitest";
import { followTasks } from "./task-server.ts";

/** Clients of one server after the other; what follows uses nothing else of them. */
function client() {
  return { close: vi.fn(async () => undefined) } as unknown as FlintClient;
}

const gone = () => {
  throw new FlintConnectionError("closed", "The connection was closed.");
};

describe("what follows tasks", () => {
  test("goes on with the next server once there is one, and starts none itself", async () => {
    const [first, second] = [client(), client()];
    const joined = [undefined, undefined, second];
    const used: FlintClient[] = [];
    const pause = vi.fn(async () => undefined);
    const stderr = vi.spyOn(process.stderr, "write").mockReturnValue(true);
    const result = await followTasks(
      async (each) => {
        used.push(each);
        return each === first ? gone() : "done";
      },
      async () => first,
      { join: async () => joined.shift(), pause },
    );
    expect(stderr.mock.calls).toEqual([
      ["flint: The server stopped. Waiting for the next one, with which the tasks continue.\n"],
    ]);
    stderr.mockRestore();
    expect([result, used, pause.mock.calls.length]).toEqual(["done", [first, second], 3]);
    expect([first.close, second.close].map((close) => vi.mocked(close).mock.calls.length)).toEqual([1, 1]);
  });

  test("says so after a minute without one, and passes on other errors", async () => {
    const none = { join: async () => undefined, pause: async () => undefined };
    const stderr = vi.spyOn(process.stderr, "write").mockReturnValue(true);
    await expect(followTasks(gone, async () => client(), none)).rejects.toThrow("no other one was started");
    stderr.mockRestore();
    const failed = async () => {
      throw new Error("No such task.");
    };
    await expect(followTasks(failed, async () => client(), none)).rejects.toThrow("No such task.");
  });
});
