import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import type { Result } from "@flint/protocol";
import { needs, temporaryFolder } from "@flint/testkit";
import { describe, expect, onTestFinished, test } from "vitest";
import { composeEngine } from "./compose.ts";
import { embed } from "./embed.ts";
import { readPolicyFile } from "./policy/policy-file.ts";
import type { ServerOptions } from "./server-options.ts";
import { rendezvousPath } from "./single-instance/rendezvous.ts";

/** Sets an environment variable of this process until the test ends. */
function set(name: string, value: string): void {
  const { [name]: before } = process.env;
  process.env[name] = value;
  onTestFinished(() => {
    if (before === undefined) delete process.env[name];
    else process.env[name] = before;
  });
}

async function listenAt(path: string): Promise<void> {
  const server = createServer((socket) => socket.end());
  await new Promise<void>((resolve) => server.listen(path, resolve));
  onTestFinished(() => new Promise<void>((resolve) => server.close(() => resolve())));
}

const CONNECT = `require("net").connect(process.argv[1])
  .on("connect", () => { console.log("in"); process.exit(); })
  .on("error", () => console.log("out"))`;

/** Connects to a socket from a command that may write the workspace and use the network. */
async function attempt(path: string, workspace: string, options: ServerOptions): Promise<string> {
  return (await execute(["-e", CONNECT, path], workspace, options)).stdout;
}

/** Runs Node in a sandbox that may write the workspace and use the network. */
async function execute(args: readonly string[], workspace: string, options: ServerOptions) {
  const engine = composeEngine({ ...options, cwd: workspace });
  onTestFinished(() => engine.close());
  const session = engine.connect({ send: () => undefined, isFull: () => false });
  return new Promise<Result<"command/exec">>((resolve, reject) => {
    const params = {
      command: [process.execPath, ...args],
      cwd: workspace,
      sandboxPolicy: { type: "workspaceWrite" as const, networkAccess: true },
    };
    session.call("command/exec", params, resolve).catch(reject);
  });
}

describe("a command in the sandbox", () => {
  const test = needs("namespaces");

  test("reaches a socket in its workspace, but not those of the server", async () => {
    const folder = await temporaryFolder();
    mkdirSync(folder.join("workspace"));
    set("FLINT_HOME", folder.join("home"));
    const path = folder.join("workspace", "flint.sock");
    await listenAt(path);
    expect(await attempt(path, folder.join("workspace"), {})).toBe("in\n");
    expect(await attempt(path, folder.join("workspace"), { ownSockets: [path] })).toBe("out\n");
  });

  test("does not reach the rendezvous socket in a short folder", async () => {
    const folder = await temporaryFolder();
    mkdirSync(folder.join("workspace"));
    set("XDG_RUNTIME_DIR", folder.join("workspace"));
    set("FLINT_HOME", folder.join("x".repeat(120)));
    const path = rendezvousPath(folder.join("x".repeat(120)));
    expect(path.startsWith(folder.join("workspace"))).toBe(true);
    await listenAt(path);
    expect(await attempt(path, folder.join("workspace"), {})).toBe("out\n");
  });

  test("cannot change the policy file of the run, which is in its workspace", async () => {
    const folder = await temporaryFolder();
    set("FLINT_HOME", folder.join("home"));
    mkdirSync(folder.join("workspace"));
    const policy = folder.join("workspace", "ci.toml");
    writeFileSync(policy, "");
    const options = { policyRules: await readPolicyFile(policy) };
    const write = 'require("fs").writeFileSync(process.argv[1], "x")';
    await execute(["-e", write, policy], folder.join("workspace"), options);
    expect(readFileSync(policy, "utf8")).toBe("");
    await execute(["-e", write, `${policy}.other`], folder.join("workspace"), options);
    expect(readFileSync(`${policy}.other`, "utf8")).toBe("x");
  });
});

test("deleting a thread deletes the sessions that its agents have in Flint's state folder", async () => {
  const { path, join } = await temporaryFolder();
  const server = await embed({ root: path, cwd: path });
  onTestFinished(() => server.close());
  const [deleted, kept] = [await server.client.startThread(), await server.client.startThread()];
  for (const { id } of [deleted, kept])
    mkdirSync(join("agent-sessions", id, "0123", "files"), { recursive: true });
  await server.client.call("thread/delete", { threadId: deleted.id });
  expect(readdirSync(join("agent-sessions"))).toEqual([kept.id]);
});
