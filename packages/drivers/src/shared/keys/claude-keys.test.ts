import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { temporaryFolder } from "@flint/testkit";
import { describe, expect, test } from "vitest";
import { relayKeys } from "./agent-keys.ts";
import { claudeKeys } from "./claude-keys.ts";

type Variables = Readonly<Record<string, string>>;

/** Returns Claude's keys for these variables and settings. */
async function keysOf(environment: Variables, { user = {}, managed = {}, overridesSettings = true } = {}) {
  const { path: folder } = await temporaryFolder();
  const managedSettings = join(folder, "managed.json");
  await writeFile(join(folder, "settings.json"), JSON.stringify({ env: user }));
  await writeFile(managedSettings, JSON.stringify({ env: managed }));
  return claudeKeys({
    ...{ environment, folder, managedSettings, overridesSettings },
    start: (variables) => ({ environment: { ...environment, ...variables }, command: [] }),
  });
}

const KEY = { ANTHROPIC_API_KEY: "the-key" };
const GATEWAY = { ANTHROPIC_BASE_URL: "https://gateway.example/anthropic" };

describe("the keys of Claude", () => {
  test("go to Anthropic, or where the user's variables and settings say", async () => {
    const given = [
      await keysOf(KEY),
      await keysOf({ ...KEY, ...GATEWAY }),
      await keysOf(KEY, { user: GATEWAY }),
    ];
    expect(given.map((keys) => keys?.upstream.href)).toEqual([
      "https://api.anthropic.com/",
      "https://gateway.example/anthropic",
      "https://gateway.example/anthropic",
    ]);
  });

  test("are those of the variables, where Claude's settings have no other", async () => {
    const all = { ...KEY, ANTHROPIC_AUTH_TOKEN: "t", CLAUDE_CODE_OAUTH_TOKEN: "" };
    expect(await keysOf(all)).toMatchObject({ variables: ["ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN"] });
    expect(await keysOf(all, { user: KEY })).toMatchObject({ variables: ["ANTHROPIC_AUTH_TOKEN"] });
    expect(await keysOf({}, { user: KEY })).toBeUndefined();
  });

  test("stay with Claude where a relay would not be used", async () => {
    expect(await keysOf(KEY, { managed: GATEWAY })).toBeUndefined();
    expect(await keysOf(KEY, { user: GATEWAY, overridesSettings: false })).toBeUndefined();
    expect(await keysOf({ ...KEY, CLAUDE_CODE_USE_BEDROCK: "1" })).toBeUndefined();
    expect(await keysOf({ ...KEY, ANTHROPIC_BASE_URL: "gateway" })).toBeUndefined();
  });

  test("are replaced in the variables of the process, and what is no key is not", async () => {
    const environment = {
      ...KEY,
      ANTHROPIC_CUSTOM_HEADERS: "X-Key: one two\nno header\nX-Empty:",
      OTHER: "1",
    };
    const keys = await keysOf(environment);
    expect(keys).toBeDefined();
    if (keys === undefined) return;
    const { environment: started, close } = await relayKeys(keys);
    await close();
    const standIn = "flint-[0-9a-f]{48}";
    expect(started).toEqual({
      ANTHROPIC_API_KEY: expect.stringMatching(new RegExp(`^${standIn}$`)),
      ANTHROPIC_CUSTOM_HEADERS: expect.stringMatching(new RegExp(`^X-Key: ${standIn}\nno header\nX-Empty:$`)),
      ANTHROPIC_BASE_URL: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+$/),
      ...{ _CLAUDE_CODE_ASSUME_FIRST_PARTY_BASE_URL: "1", OTHER: "1" },
    });
  });
});
