import { LIMITS, type ParamsInput } from "@flint/protocol";
import { testEngine, verifies } from "@flint/testkit";
import { describe, expect, test } from "vitest";

describe("command/exec", () => {
  verifies(
    "S2-30",
    "runs one command in the sandbox, with the current or the requested policy and folder",
    async () => {
      const server = testEngine({ sandboxPolicy: { type: "readOnly" } });
      server.sandbox.play = async (spec) => {
        spec.onOutput("out", "stdout");
        spec.onOutput("err", "stderr");
        spec.onOutput("put", "stdout");
        return { exitCode: 3, durationMs: 1, ended: "exited" };
      };
      const client = server.connect();
      expect(await client.call("command/exec", { command: ["ls", "-l"] })).toEqual({
        exitCode: 3,
        stdout: "output",
        stderr: "err",
        timedOut: false,
      });
      await client.call("command/exec", {
        command: ["pwd"],
        cwd: "/there",
        sandboxPolicy: "workspace-write",
        timeoutMs: 5,
      });
      expect(server.sandbox.launches).toMatchObject([
        {
          command: ["ls", "-l"],
          cwd: "/code",
          workspace: "/code",
          policy: { type: "readOnly" },
          timeoutMs: 60_000,
        },
        {
          command: ["pwd"],
          cwd: "/there",
          workspace: "/there",
          policy: { type: "workspaceWrite" },
          timeoutMs: 5,
        },
      ]);
    },
  );

  test("keeps the beginning and the end of each stream, in whole characters, and states how much is missing", async () => {
    const server = testEngine();
    server.sandbox.play = async (spec) => {
      for (let count = 0; count < 3; count += 1) spec.onOutput("é".repeat(300_000), "stdout");
      spec.onOutput("small", "stderr");
      return { exitCode: 0, durationMs: 1, ended: "timedOut" };
    };
    const result = await server.connect().call("command/exec", { command: ["yes"] });
    const [head = "", omitted, tail = ""] = result.stdout.split(/\n\[\.\.\. (\d+) bytes left out \.\.\.\]\n/);
    const kept = Buffer.byteLength(head + tail);
    expect(head + tail).toBe("é".repeat(kept / 2));
    expect(kept).toBeLessThanOrEqual(LIMITS.output);
    expect(kept).toBeGreaterThan(0.9 * LIMITS.output);
    expect(result).toMatchObject({
      stderr: "small",
      timedOut: true,
      omittedOutputBytes: 1_800_000 - kept,
    });
    expect(Number(omitted)).toBe(1_800_000 - kept);
  });

  test("rejects a sandbox that confines nothing unless the server allows it, as for threads", async () => {
    const wide: Omit<ParamsInput<"command/exec">, "command">[] = [
      { sandboxPolicy: "dangerFullAccess" },
      { sandboxPolicy: { type: "externalSandbox" } },
      { cwd: "/" },
      { cwd: "/link-to-root" },
      { sandboxPolicy: { type: "workspaceWrite", writableRoots: ["/home"] } },
      { sandboxPolicy: { type: "workspaceWrite", writableRoots: ["/link-to-root"] } },
    ];
    const realPath = (path: string) => (path === "/link-to-root" ? "/" : path);
    const refused = { kind: "invalidParams", message: expect.stringContaining("--allow-unconfined") };
    const server = testEngine({ home: "/home/me", realPath });
    const client = server.connect();
    for (const { sandboxPolicy: sandbox, cwd } of wide) {
      const command = { command: ["ls"], sandboxPolicy: sandbox, cwd };
      await expect(client.call("command/exec", command)).rejects.toMatchObject(refused);
      const thread = { approvalPolicy: "never", sandbox, cwd } as const;
      await expect(client.call("thread/start", thread)).rejects.toMatchObject(refused);
    }
    expect(server.sandbox.launches).toEqual([]);
    await client.call("command/exec", { command: ["ls"], cwd: "/", sandboxPolicy: "read-only" });
    const free = testEngine({ allowUnconfined: true });
    for (const params of wide) await free.connect().call("command/exec", { command: ["ls"], ...params });
    expect(free.sandbox.launches).toHaveLength(wide.length);
  });

  test("is rejected for a folder that does not exist, and when the sandbox is not available", async () => {
    const server = testEngine({ folders: ["/code"] });
    const client = server.connect();
    await expect(client.call("command/exec", { command: ["ls"], cwd: "/gone" })).rejects.toMatchObject({
      kind: "invalidParams",
      data: { field: "cwd" },
    });
    server.sandbox.play = async () => {
      throw new Error("no namespaces");
    };
    await expect(client.call("command/exec", { command: ["ls"] })).rejects.toThrow("no namespaces");
  });
});
