import type { BridgedProgram, McpServerConfig, ProcessSpec } from "@flint/core/ports";
import { FlintError, type SandboxPolicy } from "@flint/protocol";
import { expect, test } from "vitest";
import { NO_SANDBOX } from "../testing/session-spec.ts";
import { agentServers } from "./mcp-servers.ts";

const DOCS: McpServerConfig = {
  ...{ type: "stdio", name: "docs", command: "docs-server", args: ["--stdio"] },
  ...{ env: { DOCS_KEY: "secret" }, network: ["docs.example"], writable: ["/cache"] },
};
const ISSUES: McpServerConfig = { type: "http", name: "issues", url: "https://issues.example", headers: {} };
const POLICY: SandboxPolicy = { type: "readOnly" };

/** The servers as an agent gets them, and what is started when it connects to the first program. */
async function connected(problems: readonly (string | undefined)[] = [], hasBroker = true) {
  const left = [...problems];
  const started: ProcessSpec[] = [];
  const failed: string[] = [];
  const bridged: BridgedProgram[] = [];
  const servers = await agentServers({
    spec: {
      mcpServers: [DOCS, ISSUES],
      mcpProblem: async ({ name }) => (name === "docs" ? left.shift() : undefined),
      mcpFailed: ({ name }, reason) => failed.push(`${name}: ${reason}`),
      sandbox: {
        ...NO_SANDBOX,
        start: (spec) => {
          started.push(spec);
          return Promise.reject(new FlintError("agentFailed", "docs-server: command not found"));
        },
      },
    },
    settings: { cwd: "/work", sandboxPolicy: POLICY },
    broker: hasBroker
      ? {
          bridge: (program) => {
            bridged.push(program);
            return ["/node", "/run/flint-run", "token"];
          },
        }
      : undefined,
  });
  const outcome = await bridged[0]?.start().catch((thrown: unknown) => String(thrown));
  return { servers, started, failed, outcome };
}

test("a program is reached by a command without its variables, and runs with them in a sandbox of its own", async () => {
  const { servers, started } = await connected();
  const bridge = { command: "/node", args: ["/run/flint-run", "token"], env: {} };
  expect(servers).toEqual([{ type: "stdio", name: "docs", ...bridge }, ISSUES]);
  expect(started).toMatchObject([
    {
      ...{ command: ["docs-server", "--stdio"], cwd: "/work", workspace: "/work", policy: POLICY },
      ...{ environment: { DOCS_KEY: "secret" }, hosts: ["docs.example"], ownPaths: ["/cache"] },
    },
  ]);
});

test("a program that cannot be started is reported to the user as well as to the agent", async () => {
  const { failed, outcome } = await connected();
  expect(failed).toEqual(["docs: docs-server: command not found"]);
  expect(outcome).toContain("command not found");
});

test("a program that must not be started is left out, and its files are compared again at each start", async () => {
  const { servers } = await connected(["not trusted"]);
  expect(servers).toEqual([ISSUES]);
  const { started, outcome } = await connected([undefined, "its files have changed"]);
  expect(outcome).toContain("its files have changed");
  expect(started).toEqual([]);
});

test("without a broker the agent starts the program itself", async () => {
  expect((await connected([], false)).servers).toEqual([DOCS, ISSUES]);
});
