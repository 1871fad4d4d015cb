import { TestClient, testEngine } from "@flint/testkit";
import { expect, test } from "vitest";

test("uses the client's folder for threads that name none, or else the server's", async () => {
  const { engine } = testEngine();
  const at = async (cwd?: string) => {
    const session = engine.connect({ send: () => undefined, isFull: () => false }, cwd);
    const folders: string[] = [];
    await session.call("thread/start", {}, ({ thread }) => void folders.push(thread.cwd));
    await session.call("config/read", {}, (config) => void folders.push(config.cwd));
    return folders;
  };
  const own = await new TestClient(engine).call("config/read", {});
  expect(await at("/elsewhere")).toEqual(["/elsewhere", "/elsewhere"]);
  expect(await at()).toEqual([own.cwd, own.cwd]);
  await engine.close();
});

test("prefers the folder that a call names or its thread has", async () => {
  const { engine } = testEngine();
  const session = engine.connect({ send: () => undefined, isFull: () => false }, "/elsewhere");
  let threadId = "";
  await session.call("thread/start", { cwd: "/named" }, ({ thread }) => {
    expect(thread.cwd).toBe("/named");
    threadId = thread.id;
  });
  await session.call("config/read", { threadId }, ({ cwd }) => expect(cwd).toBe("/named"));
  await engine.close();
});

test("runs commands outside of any thread in the client's folder, unless the call names one", async () => {
  const { engine, sandbox } = testEngine();
  const session = engine.connect({ send: () => undefined, isFull: () => false }, "/elsewhere");
  await session.call("command/exec", { command: ["true"] }, () => undefined);
  await session.call("command/exec", { command: ["true"], cwd: "/named" }, () => undefined);
  const launched = sandbox.launches.map(({ cwd, workspace }) => [cwd, workspace]);
  expect(launched).toEqual([
    ["/elsewhere", "/elsewhere"],
    ["/named", "/named"],
  ]);
  await engine.close();
});
