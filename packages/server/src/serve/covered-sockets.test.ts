import { mkdirSync, mkdtempSync, realpathSync, renameSync, rmSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { CommandSandbox } from "@flint/host/sandbox";
import type { SandboxPolicy } from "@flint/protocol";
import { describeEachMechanism, TestClock, testEngine } from "@flint/testkit";
import { expect, onTestFinished } from "vitest";
import { Frontends } from "../frontends.ts";
import { Clients } from "../listeners/clients.ts";
import { UnixListener } from "../listeners/unix-listener.ts";
import { Listening } from "./listening.ts";

const ONLINE: SandboxPolicy = { type: "workspaceWrite", networkAccess: true };
const CONNECT = `node -e 'require("net").connect(process.argv[1]).on("connect", function () { console.log("in"); this.destroy() }).on("error", () => console.log("out"))'`;

function newWorkspace(): string {
  const path = realpathSync(mkdtempSync("/var/tmp/flint-covered-"));
  onTestFinished(() => rmSync(path, { recursive: true, force: true }));
  return path;
}

/** Another server than the one whose commands run. */
async function serverAt(path: string): Promise<UnixListener> {
  const clients = new Clients(new Frontends(testEngine().engine), new TestClock());
  const listener = await UnixListener.start({ path, protocol: "flint", clients });
  onTestFinished(() => listener.close());
  return listener;
}

/** A server, as far as it listens at a path. */
function listening(path: string): Promise<Listening> {
  const bare = { token: undefined, allowOrigins: [], allowHosts: [], presence: undefined } as const;
  const plan = { ...bare, addresses: [{ kind: "unix", path }], protocol: "flint", root: "flint" } as const;
  return Listening.start(new Frontends(testEngine().engine), plan, new TestClock());
}

describeEachMechanism("the socket of another Flint server, under %s", (name, test) => {
  const sandbox = new CommandSandbox({ environment: process.env, mechanisms: [name] });

  async function printed(workspace: string, script: string, policy = ONLINE): Promise<string> {
    let text = "";
    const output = (piece: string) => {
      text += piece;
    };
    await sandbox.launch({
      command: ["sh", "-c", script],
      cwd: workspace,
      workspace,
      policy,
      onOutput: output,
    });
    return text;
  }

  test("in the workspace cannot be reached by commands there; another program's can", async () => {
    const workspace = newWorkspace();
    mkdirSync(join(workspace, "run"));
    const [flint, database] = [join(workspace, "run", "flint.sock"), join(workspace, "database.sock")];
    const server = createServer((socket) => socket.end());
    await new Promise<void>((done) => server.listen(database, done));
    onTestFinished(() => new Promise<void>((closed) => server.close(() => closed())));
    const listener = await serverAt(flint);
    const moved = `mv run moved 2>/dev/null; ${CONNECT} "$PWD/moved/flint.sock"`;
    const script = [`${CONNECT} ${flint}`, `${CONNECT} ${database}`, moved].join("\n");
    expect(await printed(workspace, script)).toBe("out\nin\nout\n");
    expect(await printed(workspace, `${CONNECT} ${flint}`, { type: "readOnly" })).toBe("out\n");
    await listener.close();
    // Nothing of a server that has ended is in the way of a program that takes its place.
    renameSync(database, flint);
    expect(await printed(workspace, `${CONNECT} ${flint}`)).toBe("in\n");
  });

  test("is not opened in a folder where a running command could reach it", async () => {
    const workspace = newWorkspace();
    const command = ["sh", "-c", "echo works; cat"];
    const request = { command, cwd: workspace, workspace, policy: ONLINE, environment: {} };
    const working = await sandbox.start(request);
    onTestFinished(() => working.stop(0));
    await new Promise((resolve) => working.stdout.once("data", resolve));
    const path = join(workspace, "deep", "flint.sock");
    await expect(listening(path)).rejects.toThrow(`running in ${workspace}`);
    await working.stop(0);
    const open = await listening(path);
    await open.withdraw();
    await open.close();
  });
});
