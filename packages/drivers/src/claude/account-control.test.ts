import { access, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { AccountListener } from "@flint/core/ports";
import { agentFolder, agentProgram, needs, realSandbox } from "@flint/testkit";
import { expect } from "vitest";
import { ClaudeDriver } from "./driver.ts";

const real = needs("claude");

async function account(environment: Readonly<Record<string, string>> = {}) {
  const { path } = await agentFolder();
  const login = join(path, ".credentials.json");
  await writeFile(login, JSON.stringify({ claudeAiOauth: { accessToken: "a", refreshToken: "r" } }));
  const command = [agentProgram("claude") ?? "claude"];
  const program = { command, environment: { CLAUDE_CONFIG_DIR: path, HOME: path, ...environment } };
  const driver = new ClaudeDriver({ program: async () => program, sandbox: realSandbox(), version: "0" });
  const control = await driver.accountControl();
  if (control === undefined) throw new Error("Claude has no account");
  const changes: string[] = [];
  const listener: AccountListener = {
    loginEnded: () => changes.push("login"),
    accountChanged: () => changes.push("account"),
  };
  return { driver, control, login, listener, changes };
}

real("[S2-25] Claude is logged out with its own command", async () => {
  const { driver, control, login, listener, changes } = await account();
  expect(await driver.account()).toMatchObject({ account: { type: "claude" }, requiresLogin: false });
  await control.logout(listener);
  await expect(access(login)).rejects.toThrow(/ENOENT/);
  expect(await driver.account()).toMatchObject({ account: null, requiresLogin: true });
  expect(changes).toEqual(["account"]);
});

real("[S2-24] a login to Claude needs its terminal, and a key is no login", async () => {
  const { control, listener } = await account({ ANTHROPIC_API_KEY: "k" });
  await expect(control.startLogin({ type: "chatgpt" }, listener)).rejects.toThrow(
    "Claude Code can log in only in a terminal: run flint acp --login claude, or set ANTHROPIC_API_KEY.",
  );
  await expect(control.logout(listener)).rejects.toThrow(
    /works with ANTHROPIC_API_KEY.*remove that variable/,
  );
});
