import { writeFile } from "node:fs/promises";
import { temporaryFolder } from "@flint/testkit";
import { expect, onTestFinished, test, vi } from "vitest";
import { interactiveServer, nonInteractiveServer } from "./server-options.ts";

/** A user with this configuration, and nothing else that could change what happens. */
async function userWith(config: string): Promise<string> {
  const { path } = await temporaryFolder();
  await writeFile(`${path}/config.toml`, config);
  vi.stubEnv("FLINT_CONFIG", `${path}/config.toml`);
  onTestFinished(() => void vi.unstubAllEnvs());
  return path;
}

test("by default nothing is asked or written, and the project has no influence", async () => {
  await userWith("");
  expect(await nonInteractiveServer({}, {})).toMatchObject({
    approvalPolicy: "never",
    sandboxPolicy: { type: "readOnly" },
    chosen: ["approvalPolicy", "sandboxPolicy"],
  });
});

test("uses the user's sandbox if the command line has none", async () => {
  await userWith('sandbox = "workspace-write"\nnetwork_access = true\napproval_policy = "always"\n');
  const configured = { type: "workspaceWrite", networkAccess: true };
  expect(await nonInteractiveServer({}, {})).toMatchObject({
    approvalPolicy: "never",
    sandboxPolicy: configured,
  });
  expect((await nonInteractiveServer({ sandbox: "read-only" }, {})).sandboxPolicy).toEqual({
    type: "readOnly",
  });
});

test("adds folders and network access to a sandbox that supports them", async () => {
  const cwd = await userWith("");
  const settings = { networkAccess: true, writableRoots: ["/srv"] };
  const flags = { cwd, sandbox: "workspace-write", addedFolders: ["more"] };
  expect((await nonInteractiveServer(flags, settings)).sandboxPolicy).toEqual({
    type: "workspaceWrite",
    networkAccess: true,
    writableRoots: ["/srv", `${cwd}/more`],
  });
  expect((await nonInteractiveServer({ ...flags, sandbox: "read-only" }, settings)).sandboxPolicy).toEqual({
    type: "readOnly",
  });
});

test.each([
  ["never", "never", "never"],
  ["on-request", "onRequest", "never"],
  ["on-failure", "onRequest", "never"],
  ["untrusted", "unlessTrusted", "unlessTrusted"],
] as const)(
  "%s means %s with a client that can answer, and %s without one",
  async (approval, asked, unapproved) => {
    await userWith("");
    expect((await interactiveServer({}, { approval })).approvalPolicy).toBe(asked);
    expect((await nonInteractiveServer({}, { approval })).approvalPolicy).toBe(unapproved);
  },
);

test("uses the user's configuration for an attended server", async () => {
  await userWith('model = "flint/offline"\n');
  const { model, approvalPolicy, sandboxPolicy, chosen } = await interactiveServer({}, {});
  expect({ model, approvalPolicy, sandboxPolicy, chosen }).toEqual({ model: "flint/offline", chosen: [] });
});

test("rejects a sandbox that Codex does not have", async () => {
  await userWith("");
  await expect(nonInteractiveServer({ sandbox: "external-sandbox" }, {})).rejects.toThrow("read-only");
  await expect(nonInteractiveServer({}, { sandbox: "none" })).rejects.toThrow('not "none"');
});

test("drops the user's MCP server if the command line disables or redefines it", async () => {
  await userWith('[mcp_servers.lamps]\ncommand = "lamps"\n[mcp_servers.stay]\ncommand = "stay"\n');
  const far = { type: "http", name: "lamps", url: "http://127.0.0.1:1/mcp", headers: {} } as const;
  const given = { mcpServers: [far], withoutMcpServers: ["lamps"] };
  const { mcpServers } = await interactiveServer({}, given);
  expect(mcpServers).toEqual([expect.objectContaining({ name: "stay" }), far]);
});
