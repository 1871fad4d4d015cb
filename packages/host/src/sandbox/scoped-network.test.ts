import { existsSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import type { FailedConnection, SandboxScope } from "@flint/core/ports";
import { SYSTEM_CLOCK } from "@flint/core/ports";
import type { Endpoint } from "@flint/protocol";
import { describeEachMechanism, needs, temporaryFolder } from "@flint/testkit";
import { expect, onTestFinished, vi } from "vitest";
import { CommandSandbox } from "./command-sandbox.ts";
import { Bubblewrap } from "./mechanisms/bubblewrap.ts";
import type { MechanismName } from "./mechanisms/launch.ts";
import { MechanismSearch } from "./mechanisms/mechanism-search.ts";
import { Namespaces } from "./mechanisms/namespaces.ts";

async function setUp(mechanism: MechanismName, decide: (connection: Endpoint) => boolean) {
  const home = await temporaryFolder();
  const asked: Endpoint[] = [];
  const failed: FailedConnection[] = [];
  const sandbox = new CommandSandbox({
    ...{ environment: process.env, mechanisms: [mechanism], scopeFolder: home.join("state") },
  });
  const scope: SandboxScope = {
    ...{ id: "t", privateGit: false },
    decide: async (connection) => {
      asked.push(connection);
      return decide(connection) ? { allowed: true } : { allowed: false, reason: "it was declined" };
    },
    onFailedConnection: (connection) => failed.push(connection),
  };
  onTestFinished(() => sandbox.closeScope(scope.id));
  const run = async (script: string, networkAccess = false) => {
    let output = "";
    const { exitCode } = await sandbox.launch({
      ...{ command: ["sh", "-c", script], cwd: home.path, workspace: home.path, scope, itemId: "i" },
      policy: { type: "workspaceWrite", networkAccess },
      onOutput: (text) => {
        output += text;
      },
    });
    return { exitCode, output };
  };
  return { home, sandbox, scope, run, asked, failed };
}

/** A web server on this machine. */
async function serve(): Promise<number> {
  const server = createServer((_request, response) => response.end("from outside\n"));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void server.close());
  const address = server.address() as AddressInfo;
  return address.port;
}

const FETCH = (url: string) =>
  `node -e 'fetch("${url}").then((r) => r.text()).then(console.log, (e) => console.log(e.cause?.message ?? e.message))'`;

describeEachMechanism("a confined command of a thread, with %s", (mechanism, confined) => {
  confined("is asked about for each host that it connects to, and fails if that is declined", async () => {
    const { run, asked, failed } = await setUp(mechanism, () => false);
    const { output } = await run(FETCH("https://registry.example/"));
    expect(output).toContain("registry.example");
    const requested = { host: "registry.example", port: 443, itemId: "i" };
    expect(asked).toEqual([requested]);
    expect(failed).toEqual([{ ...requested, allowed: false, reason: "it was declined" }]);
  });

  confined("reaches nothing of this machine, whatever it tries", async () => {
    const port = await serve();
    const { run, asked } = await setUp(mechanism, () => true);
    const direct = await run(FETCH(`http://127.0.0.1:${port}/`));
    const connect = `node -e 'require("net").connect(${port}, "127.0.0.1").on("connect", () => console.log("connected")).on("error", (e) => console.log(e.code))'`;
    expect([direct.output, (await run(connect)).output]).not.toContain("from outside");
    expect((await run(connect)).output).toBe("ECONNREFUSED\n");
    expect(asked).toEqual([]);
  });

  confined("reaches a server that another command of the thread started", async () => {
    const { run } = await setUp(mechanism, () => false);
    const serving = run(
      `node -e 'require("http").createServer((q, s) => s.end("from inside", () => process.exit())).listen(4321)'`,
    );
    const reached = await run(
      `for i in 1 2 3 4 5 6 7 8 9; do node -e 'fetch("http://localhost:4321").then((r) => r.text()).then(console.log, () => process.exit(1))' && break; done`,
    );
    expect(reached.output).toContain("from inside");
    await serving;
  });

  confined("uses the network of the machine where its policy allows that", async () => {
    const port = await serve();
    const { run, asked } = await setUp(mechanism, () => false);
    expect((await run(FETCH(`http://127.0.0.1:${port}/`), true)).output).toContain("from outside");
    expect(asked).toEqual([]);
  });

  confined("an agent reaches the hosts that it names, as do its commands, without a question", async () => {
    const port = await serve();
    const { sandbox, scope, home, asked } = await setUp(mechanism, () => false);
    const running = await sandbox.start({
      ...{ command: ["sh", "-c", FETCH(`http://127.0.0.1:${port}/`)], cwd: home.path, workspace: home.path },
      ...{ scope, policy: { type: "readOnly" }, environment: {}, hosts: [`localhost:${port}`] },
    });
    let output = "";
    for await (const chunk of running.stdout) output += chunk;
    expect(output).toContain("from outside");
    expect(asked).toEqual([]);
    await running.exited;
  });
});

needs("namespaces")("plain namespaces enforce everything, so the state names no limitation", async () => {
  const { sandbox } = await setUp("namespaces", () => false);
  expect(await sandbox.state()).toEqual({
    ...{ available: true, mechanism: "namespaces" },
  });
});

describeEachMechanism("where no network can be made, with %s", (mechanism, confined) => {
  /** A sandbox whose mechanism works, but whose scopes find no way to hold a namespace. */
  async function broken() {
    const made = await setUp(mechanism, () => true);
    vi.spyOn(
      mechanism === "bubblewrap" ? Bubblewrap.prototype : Namespaces.prototype,
      "networkHolder",
      "get",
    ).mockReturnValue(["/bin/sh", "-c", "echo the kernel said no >&2; exit 1", "sh"]);
    onTestFinished(() => void vi.restoreAllMocks());
    return made;
  }

  confined("refuses to start an agent, and names the ways out", async () => {
    const { sandbox, scope, home } = await broken();
    const spec = { command: ["touch", "started"], cwd: home.path, workspace: home.path, scope } as const;
    const policy = { type: "workspaceWrite" } as const;
    const starting = sandbox.start({ ...spec, policy, environment: {}, hosts: ["model.example"] });
    await expect(starting).rejects.toMatchObject({
      kind: "sandboxUnavailable",
      message: expect.stringMatching(
        /^Did not start touch: .*the kernel said no.*bubblewrap.*--network all.*--sandbox danger-full-access/,
      ),
    });
    expect(existsSync(home.join("started"))).toBe(false);
    // With the whole network there is nothing to limit.
    const open = { ...policy, networkAccess: true };
    const running = await sandbox.start({ ...spec, policy: open, environment: {}, hosts: ["model.example"] });
    expect(await running.exited).toEqual({ exitCode: 0 });
  });

  confined("a command runs without any network, and the state says so", async () => {
    const { run, sandbox } = await broken();
    const port = await serve();
    const { output } = await run(`echo ran; ${FETCH(`http://127.0.0.1:${port}/`)}`);
    expect(output).toMatch(/^ran\n/);
    expect(output).not.toContain("from outside");
    const { limitations } = await sandbox.state();
    expect(limitations?.[0]).toMatch(
      /single hosts \(the kernel said no\).*agents.*do not start.*--network all/,
    );
  });
});

describeEachMechanism("where no seccomp filter can be loaded, with %s", (mechanism, confined) => {
  /** A sandbox whose mechanism works, but cannot load a filter. */
  async function unfiltered() {
    const made = await setUp(mechanism, () => true);
    const type = mechanism === "bubblewrap" ? Bubblewrap : Namespaces;
    const { mechanism: found } = await new MechanismSearch({
      ...{ environment: { PATH: process.env.PATH ?? "" }, searchPath: process.env.PATH ?? "" },
      ...{ clock: SYSTEM_CLOCK, mechanisms: [mechanism] },
    }).mechanism();
    expect(found).toBeInstanceOf(type);
    const without = new Proxy(found ?? expect.unreachable(), {
      get: (target, name) => {
        const value: unknown = name === "loadsFilter" ? false : Reflect.get(target, name, target);
        return typeof value === "function" ? value.bind(target) : value;
      },
    });
    vi.spyOn(MechanismSearch.prototype, "mechanism").mockResolvedValue({ mechanism: without, failures: [] });
    onTestFinished(() => void vi.restoreAllMocks());
    return made;
  }

  confined("commands and agents are refused, and the state says so", async () => {
    const { run, sandbox, scope, home } = await unfiltered();
    const refused = {
      kind: "sandboxUnavailable",
      message: expect.stringMatching(
        /^Did not run ".*": .*seccomp filter.*bubblewrap or perl.*--network all/,
      ),
    };
    await expect(run("touch started")).rejects.toMatchObject(refused);
    const spec = { command: ["touch", "started"], cwd: home.path, workspace: home.path, scope } as const;
    const starting = sandbox.start({
      ...{ ...spec, policy: { type: "readOnly" }, environment: {}, hosts: ["model.example"] },
    });
    await expect(starting).rejects.toMatchObject(refused);
    expect(existsSync(home.join("started"))).toBe(false);
    expect((await sandbox.state()).limitations).toEqual([expect.stringContaining("seccomp filter")]);
  });

  confined("a command with the whole network runs, because nothing of it is closed", async () => {
    const { run } = await unfiltered();
    expect(await run("echo ran", true)).toEqual({ exitCode: 0, output: "ran\n" });
  });
});

needs("bwrap")("sandboxes that begin at the same moment share their files", async () => {
  const { path: folder } = await temporaryFolder();
  const made = Array.from(
    { length: 20 },
    () => new CommandSandbox({ environment: process.env, scopeFolder: folder }),
  );
  const states = await Promise.all(made.map((sandbox) => sandbox.state()));
  for (const state of states) expect(state).toEqual({ available: true, mechanism: states[0]?.mechanism });
});

describeEachMechanism("files of a thread in a folder that sandboxes mask, with %s", (mechanism, test) => {
  test("are shown to its commands", async () => {
    const [state, workspace] = [await temporaryFolder(), await temporaryFolder()];
    const environment = { PATH: process.env.PATH ?? "" };
    const sandbox = new CommandSandbox({ environment, mechanisms: [mechanism], scopeFolder: state.path });
    onTestFinished(() => sandbox.closeScope("t"));
    const decide = async () => ({ allowed: false, reason: "it was declined" }) as const;
    let printed = "";
    const { exitCode } = await sandbox.launch({
      ...{ command: ["sh", "-c", "echo fine"], cwd: workspace.path, workspace: workspace.path },
      ...{ policy: { type: "workspaceWrite" }, scope: { id: "t", privateGit: false, decide } },
      onOutput: (text) => {
        printed += text;
      },
    });
    expect([exitCode, printed]).toEqual([0, "fine\n"]);
  });
});
