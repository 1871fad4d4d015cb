import { createHash } from "node:crypto";
import { readdirSync, statSync } from "node:fs";
import { mkdir, rm, rmdir, stat, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { temporaryFolder } from "@flint/testkit";
import { describe, expect, test } from "vitest";
import { TrustFile, WorkspaceFiles } from "./workspace-files.ts";

const CONFIG = 'model = "flint/offline"\napproval_policy = "never"\n';
const MCP = JSON.stringify({ mcpServers: { evil: { command: "/bin/evil", args: ["x"], other: 1 } } });

async function workspace(files: Readonly<Record<string, string>>) {
  const { path } = await temporaryFolder();
  const cwd = join(path, "project");
  const trustPath = join(path, "state", "trust.json");
  await mkdir(join(cwd, ".flint"), { recursive: true });
  for (const [name, text] of Object.entries(files)) await writeFile(join(cwd, name), text);
  return { cwd, trustPath, workspaces: new WorkspaceFiles(new TrustFile(trustPath)) };
}

function hash(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}

describe("the files of a workspace", () => {
  test("have no effect before they are trusted, and a notice reports it [P35]", async () => {
    const { cwd, workspaces } = await workspace({ ".flint/config.toml": CONFIG, ".mcp.json": MCP });
    const config = await workspaces.configOf(cwd);
    expect(config).toEqual({ mcpServers: [], notices: [expect.any(String), expect.any(String)] });
    expect(config.notices[0]).toContain(".flint/config.toml");
    expect(config.notices[0]).toContain("flint trust");
  });

  test("apply once their exact content is trusted, until it changes [P35]", async () => {
    const { cwd, workspaces, trustPath } = await workspace({
      ".flint/config.toml": CONFIG,
      ".mcp.json": MCP,
    });
    await workspaces.trust(cwd, [
      { path: ".flint/config.toml", sha256: hash(CONFIG) },
      { path: ".mcp.json", sha256: hash(MCP) },
    ]);
    expect(await workspaces.configOf(cwd)).toEqual({
      model: "flint/offline",
      approvalPolicy: "never",
      mcpServers: [{ type: "stdio", name: "evil", command: "/bin/evil", args: ["x"], env: {} }],
      notices: [],
    });
    expect((await stat(trustPath)).mode & 0o777).toBe(0o600);
    await writeFile(join(cwd, ".mcp.json"), MCP.replace("/bin/evil", "/bin/worse"));
    const changed = await workspaces.configOf(cwd);
    expect(changed.mcpServers).toEqual([]);
    expect(changed.notices.join()).toContain(".mcp.json");
  });

  test("cannot be trusted with the wrong hash [P35]", async () => {
    const { cwd, workspaces } = await workspace({ ".mcp.json": MCP });
    const swapped = workspaces.trust(cwd, [{ path: ".mcp.json", sha256: hash("something else") }]);
    await expect(swapped).rejects.toThrow("has changed or is missing");
    const elsewhere = workspaces.trust(cwd, [{ path: "../other", sha256: hash(MCP) }]);
    await expect(elsewhere).rejects.toThrow("has changed or is missing");
    expect((await workspaces.files(cwd))[0]?.trusted).toBe(false);
  });

  test("do not apply after their trust is revoked", async () => {
    const { cwd, workspaces } = await workspace({ ".mcp.json": MCP });
    await workspaces.trust(cwd, [{ path: ".mcp.json", sha256: hash(MCP) }]);
    await workspaces.distrust(cwd);
    expect((await workspaces.files(cwd)).map((file) => file.trusted)).toEqual([false]);
  });

  test("are listed once and trusted together for an agent that reads them too", async () => {
    const { cwd, trustPath } = await workspace({ ".mcp.json": MCP });
    const agents = [{ name: "Claude Code (ACP)", files: [".mcp.json"] }];
    const workspaces = new WorkspaceFiles(new TrustFile(trustPath), { agents });
    const steering = async () => (await workspaces.steering(cwd, [".mcp.json"])).untrusted.length;
    const [file, ...others] = await workspaces.files(cwd);
    expect([file?.path, others, await steering()]).toEqual([".mcp.json", [], 1]);
    await workspaces.trust(cwd, [{ path: ".mcp.json", sha256: hash(MCP) }]);
    expect([(await workspaces.configOf(cwd)).mcpServers.length, await steering()]).toEqual([1, 0]);
  });

  test("are not trusted in another folder [P35]", async () => {
    const first = await workspace({ ".mcp.json": MCP });
    const second = await workspace({ ".mcp.json": MCP });
    await first.workspaces.trust(first.cwd, [{ path: ".mcp.json", sha256: hash(MCP) }]);
    expect((await first.workspaces.configOf(second.cwd)).mcpServers).toEqual([]);
  });

  test("are listed with their problem and have no effect if invalid, trusted or not", async () => {
    const broken = 'modle = "x"\n';
    const { cwd, workspaces } = await workspace({ ".flint/config.toml": broken, ".mcp.json": "{" });
    await workspaces.trust(cwd, [{ path: ".flint/config.toml", sha256: hash(broken) }]);
    const [config, mcp] = await workspaces.files(cwd);
    expect(config?.problem).toContain('Did you mean "model"?');
    expect(mcp?.problem).toBe(".mcp.json is not JSON.");
    expect((await workspaces.configOf(cwd)).notices.join("\n")).toContain('unknown key "modle"');
  });

  test("are not followed if they are links [P35]", async () => {
    const { cwd, workspaces } = await workspace({});
    await writeFile(join(cwd, "elsewhere"), MCP);
    await symlink(join(cwd, "elsewhere"), join(cwd, ".mcp.json"));
    expect(await workspaces.files(cwd)).toEqual([]);
    await rm(cwd, { recursive: true });
    expect(await workspaces.files(cwd)).toEqual([]);
  });

  test("cannot read the user's environment [P35]", async () => {
    const text = JSON.stringify({
      mcpServers: { a: { url: "http://x.example", headers: { k: "{env:HOME}" } } },
    });
    const { cwd, workspaces } = await workspace({ ".mcp.json": text });
    await workspaces.trust(cwd, [{ path: ".mcp.json", sha256: hash(text) }]);
    const { mcpServers } = await workspaces.configOf(cwd);
    expect(mcpServers).toEqual([
      { type: "http", name: "a", url: "http://x.example", headers: { k: "{env:HOME}" } },
    ]);
  });
});

test("concurrent changes of trust are all stored, in one private file", async () => {
  const folder = await temporaryFolder();
  const file = new TrustFile(folder.join("trust.json"));
  await file.change(new Map([["old", "1"]]));
  const given = Array.from({ length: 20 }, (_, at) => file.change(new Map([[`path-${at}`, `hash-${at}`]])));
  await Promise.all([...given, file.change(new Map([["old", undefined]]))]);
  const trusted = await file.read();
  expect(trusted.size).toBe(20);
  expect(trusted.get("path-7")).toBe("hash-7");
  expect(readdirSync(folder.path)).toEqual(["trust.json"]);
  expect(statSync(folder.join("trust.json")).mode & 0o777).toBe(0o600);
});

test("a change that cannot be written rejects, and the next one is made", async () => {
  const folder = await temporaryFolder();
  await mkdir(folder.join("trust.json"));
  const file = new TrustFile(folder.join("trust.json"));
  await expect(file.change(new Map([["a", "1"]]))).rejects.toThrow();
  await rmdir(folder.join("trust.json"));
  await file.change(new Map([["b", "2"]]));
  expect([...(await file.read())]).toEqual([["b", "2"]]);
  expect(readdirSync(folder.path)).toEqual(["trust.json"]);
});
