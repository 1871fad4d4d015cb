import { describe, expect, test } from "vitest";
import {
  CLAUDE_LOGIN,
  CODEX_LOGIN,
  GEMINI_LOGINS,
  isRenewal,
  isSameShape,
  type LoginFile,
  OPENCODE_LOGINS,
} from "./login-files.ts";

const [OPENCODE_LOGIN = CLAUDE_LOGIN] = OPENCODE_LOGINS;
const [GEMINI_LOGIN = CLAUDE_LOGIN] = GEMINI_LOGINS;

function renews(file: LoginFile, before: object | undefined, after: object): boolean {
  return isRenewal(file, before && JSON.stringify(before), JSON.stringify(after));
}

describe("a login file", () => {
  const claude = { claudeAiOauth: { accessToken: "a", scopes: ["x"] }, pluginSecrets: { p: { key: "k" } } };

  test("may be made, and its known entries may change", () => {
    expect(renews(CLAUDE_LOGIN, undefined, { claudeAiOauth: { accessToken: "a" } })).toBe(true);
    expect(renews(CLAUDE_LOGIN, claude, { ...claude, claudeAiOauth: { accessToken: "b", scopes: [] } })).toBe(
      true,
    );
    expect(renews(CODEX_LOGIN, { OPENAI_API_KEY: "a" }, { OPENAI_API_KEY: null, tokens: {} })).toBe(true);
    expect(renews(GEMINI_LOGIN, { scope: "s" }, { scope: "s", access_token: "t", expiry_date: 1 })).toBe(
      true,
    );
  });

  test.each<[string, LoginFile, object | undefined, object]>([
    ["an entry that is not known", CLAUDE_LOGIN, claude, { ...claude, apiKeyHelper: "evil" }],
    ["a changed entry that is not Claude's", CLAUDE_LOGIN, claude, { ...claude, pluginSecrets: {} }],
    ["a removed entry", CLAUDE_LOGIN, claude, { pluginSecrets: claude.pluginSecrets }],
    ["nothing", CLAUDE_LOGIN, undefined, {}],
    ["a list", CODEX_LOGIN, undefined, ["tokens"]],
    ["a program", CODEX_LOGIN, undefined, { tokens: { apiKeyHelper: "evil" } }],
    ["a program by another spelling", CODEX_LOGIN, undefined, { tokens: { auth_command: ["evil"] } }],
    ["a prototype", CODEX_LOGIN, undefined, JSON.parse('{"tokens":{"__proto__":{"a":1}}}')],
    ["a text of several lines", GEMINI_LOGIN, undefined, { access_token: "a\nexport X=1" }],
    ["a text without end", GEMINI_LOGIN, undefined, { access_token: "a".repeat(70_000) }],
    ["hooks", GEMINI_LOGIN, { scope: "s" }, { scope: "s", hooks: {} }],
    [
      "a provider whose settings come from the network",
      OPENCODE_LOGIN,
      {},
      { "https://evil.example": { type: "wellknown", key: "NODE_OPTIONS", token: "--import=/evil" } },
    ],
    [
      "a changed provider of that kind",
      OPENCODE_LOGIN,
      { "https://a.example": { type: "wellknown", key: "A_TOKEN", token: "a" } },
      { "https://a.example": { type: "wellknown", key: "NODE_OPTIONS", token: "a" } },
    ],
  ])("is not stored with %s", (_, file, before, after) => {
    expect(renews(file, before, after)).toBe(false);
  });

  test("is not stored if one of them is not JSON", () => {
    expect(isRenewal(CODEX_LOGIN, undefined, '{"tokens":')).toBe(false);
    expect(isRenewal(CODEX_LOGIN, "{", '{"tokens":{}}')).toBe(false);
  });

  test("may hold several providers of OpenCode", () => {
    const before = { "https://a.example": { type: "wellknown", key: "A_TOKEN", token: "a" } };
    const after = { ...before, anthropic: { type: "oauth", access: "a", refresh: "b", expires: 1 } };
    expect(renews(OPENCODE_LOGIN, before, after)).toBe(true);
  });
});

test("a login file of an unknown agent keeps its shape", () => {
  const before = { token: "a", nested: { expires: 1, list: ["x"] } };
  const is = (after: object) => isSameShape(JSON.stringify(before), JSON.stringify(after));
  expect(is({ token: "b", nested: { expires: 2, list: ["x"] } })).toBe(true);
  expect(is({ ...before, more: 1 })).toBe(false);
  expect(is({ token: "b" })).toBe(false);
  expect(is({ ...before, token: { command: "evil" } })).toBe(false);
  expect(is({ ...before, nested: { expires: 1, list: ["evil"] } })).toBe(false);
  expect(isSameShape(undefined, "{}")).toBe(false);
  expect(isSameShape('{"command":"a"}', '{"command":"evil"}')).toBe(false);
});
