import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import type { SandboxScope } from "@flint/core/ports";
import type { Endpoint } from "@flint/protocol";
import { needs, temporaryFolder } from "@flint/testkit";
import { describe, expect, onTestFinished } from "vitest";
import { CommandSandbox } from "./command-sandbox.ts";

const confined = needs("bwrap");

async function setUp(decide: (connection: Endpoint) => boolean) {
  const home = await temporaryFolder();
  const asked: Endpoint[] = [];
  const sandbox = new CommandSandbox({
    ...{ environment: process.env, mechanisms: ["bubblewrap"], scopeFolder: home.join("state") },
  });
  const scope: SandboxScope = {
    ...{ id: "t", privateGit: false },
    decide: async (connection) => {
      asked.push(connection);
      return decide(connection);
    },
  };
  onTestFinished(() => sandbox.closeScope(scope.id));
  const run = async (script: string, networkAccess = false) => {
    let output = "";
    const { exitCode } = await sandbox.launch({
      ...{ command: ["sh", "-c", script], cwd: home.path, workspace: home.path, scope },
      policy: { type: "workspaceWrite", networkAccess },
      onOutput: (text) => {
        output += text;
      },
    });
    return { exitCode, output };
  };
  return { home, sandbox, scope, run, asked };
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

describe("a confined command of a thread", () => {
  confined("is asked about for each host that it connects to, and fails if that is declined", async () => {
    const { run, asked } = await setUp(() => false);
    const { output } = await run(FETCH("https://registry.example/"));
    expect(output).toContain("registry.example");
    expect(asked).toEqual([{ host: "registry.example", port: 443 }]);
  });

  confined("reaches nothing of this machine, whatever it tries", async () => {
    const port = await serve();
    const { run, asked } = await setUp(() => true);
    const direct = await run(FETCH(`http://127.0.0.1:${port}/`));
    const connect = `node -e 'require("net").connect(${port}, "127.0.0.1").on("connect", () => console.log("connected")).on("error", (e) => console.log(e.code))'`;
    expect([direct.output, (await run(connect)).output]).not.toContain("from outside");
    expect((await run(connect)).output).toBe("ECONNREFUSED\n");
    expect(asked).toEqual([]);
  });

  confined("reaches a server that another command of the thread started", async () => {
    const { run } = await setUp(() => false);
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
    const { run, asked } = await setUp(() => false);
    expect((await run(FETCH(`http://127.0.0.1:${port}/`), true)).output).toContain("from outside");
    expect(asked).toEqual([]);
  });

  confined("opens no socket that a network namespace does not confine", async () => {
    const { run } = await setUp(() => true);
    const script =
      "import socket\nfor family in (40, 17, 38):\n  try: socket.socket(family, socket.SOCK_STREAM); print('open')\n  except OSError as e: print(e.errno)\nsocket.socket(socket.AF_INET); print('inet')";
    const { output } = await run(`python3 -c "${script}" 2>/dev/null || echo no python`);
    expect(output).toMatch(/^(?:1\n1\n1\ninet|no python)\n$/);
  });
});

confined(
  "an agent reaches the hosts that it names, and its commands as well, without a question",
  async () => {
    const port = await serve();
    const { sandbox, scope, home, asked } = await setUp(() => false);
    const running = await sandbox.start({
      ...{
        command: ["sh", "-c", FETCH(`http://127.0.0.1:${port}/`)],
        cwd: home.path,
        workspace: home.path,
        scope,
      },
      ...{ policy: { type: "readOnly" }, environment: {}, hosts: [`localhost:${port}`] },
    });
    let output = "";
    for await (const chunk of running.stdout) output += chunk;
    expect(output).toContain("from outside");
    expect(asked).toEqual([]);
    await running.exited;
  },
);
