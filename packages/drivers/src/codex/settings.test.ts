import type { ThreadSettings } from "@flint/protocol";
import type { CodexModel } from "@flint/protocol/codex";
import { expect, test } from "vitest";
import { modelRows, selectorsOf } from "./models.ts";
import { commandSandbox, inputOf, threadParams, turnParams } from "./settings.ts";

const SETTINGS: ThreadSettings = {
  ...{ model: "codex/default", cwd: "/a/b", config: {} },
  ...{ approvalPolicy: "unlessTrusted", sandboxPolicy: { type: "workspaceWrite" } },
};

const MODEL: CodexModel = {
  ...{ id: "m", model: "m", displayName: "M", description: "A model.", hidden: false, isDefault: true },
  supportedReasoningEfforts: [
    { reasoningEffort: "low", description: "Fast." },
    { reasoningEffort: "ultra", description: "Slow." },
  ],
  ...{ defaultReasoningEffort: "low", supportsPersonality: true },
};

test("makes Codex rely on Flint's sandbox", () => {
  const external = { type: "externalSandbox", networkAccess: "restricted" };
  expect(commandSandbox({ type: "readOnly" })).toEqual(external);
  expect(commandSandbox({ type: "workspaceWrite", writableRoots: ["/x"] })).toEqual(external);
  expect(commandSandbox({ type: "externalSandbox" })).toEqual(external);
  expect(commandSandbox({ type: "dangerFullAccess" })).toEqual({ type: "dangerFullAccess" });
});

test("says where Codex can commit, and where it cannot", () => {
  const words = (more: Partial<ThreadSettings>) =>
    threadParams({ ...SETTINGS, ...more }, [], "/t").developerInstructions;
  expect(words({})).toMatch(/At the top of a repository, commits are made in a private copy .* further down/);
  for (const closed of [{ git: "off" }, { sandboxPolicy: { type: "readOnly" } }] as const)
    expect(words(closed)).toContain("The git directory is read-only");
  expect(words({ sandboxPolicy: { type: "dangerFullAccess" } })).toBeUndefined();
});

test("[S2-6] starts a thread with its instructions, before those about the sandbox", () => {
  const wordsIn = (sandboxPolicy: ThreadSettings["sandboxPolicy"]) =>
    threadParams({ ...SETTINGS, sandboxPolicy, developerInstructions: "Be brief." }, [], "/t")
      .developerInstructions;
  expect(wordsIn({ type: "dangerFullAccess" })).toBe("Be brief.");
  expect(wordsIn({ type: "readOnly" })).toMatch(/^Be brief\.\n\nCommands run in the sandbox/);
});

test("makes Codex request every approval, also under never, so that Flint's rules apply", () => {
  const asked = (["always", "unlessTrusted", "never"] as const).map((approvalPolicy) => [
    threadParams({ ...SETTINGS, approvalPolicy }, [], "/t").approvalPolicy,
    turnParams({ ...SETTINGS, approvalPolicy }, "m").approvalPolicy,
  ]);
  expect(asked.flat()).toEqual(Array.from({ length: 6 }, () => "untrusted"));
});

test("starts a thread read-only, with no trusted folder and with the user's MCP servers", () => {
  const servers = [
    { type: "stdio", name: "s", command: "c", args: ["1"], env: { K: "v" } },
    { type: "http", name: "h", url: "http://x", headers: { A: "b" } },
  ] as const;
  const opening = threadParams(SETTINGS, servers, "/t");
  const untrusted = { trust_level: "untrusted" };
  expect(opening).toMatchObject({ model: null, sandbox: "read-only", approvalsReviewer: "user" });
  expect(opening.config).toEqual({
    projects: { "/a/b": untrusted, "/a": untrusted, "/": untrusted },
    "shell_environment_policy.exclude": ["OPENAI_API_KEY", "CODEX_API_KEY"],
    "shell_environment_policy.set": { TMPDIR: "/t" },
    mcp_servers: {
      s: { command: "c", args: ["1"], env: { K: "v" } },
      h: { url: "http://x", http_headers: { A: "b" } },
    },
  });
});

test("gives a turn the chosen selectors, and the model of the thread if none was chosen", () => {
  const config = { reasoning_effort: "ultra", personality: "default", collaboration_mode: "plan" };
  expect(turnParams({ ...SETTINGS, config }, "m")).toMatchObject({
    model: "m",
    effort: "ultra",
    personality: "none",
    collaborationMode: { mode: "plan", settings: { model: "m", reasoning_effort: "ultra" } },
  });
  const plain = turnParams({ ...SETTINGS, model: "codex/other" }, "m");
  expect(plain).toMatchObject({ model: "other" });
  expect(plain).not.toHaveProperty("effort");
  expect(plain).not.toHaveProperty("collaborationMode");
});

test("sends images, skills and mentions with absolute paths", () => {
  const input = inputOf(
    [
      { type: "localImage", path: "x.png" },
      { type: "image", url: "data:," },
      { type: "mention", name: "n", path: "/n" },
      { type: "skill", name: "s" },
      { type: "skill", name: "s", path: "s.md" },
    ],
    "/a",
  );
  expect(input).toEqual([
    { type: "localImage", path: "/a/x.png" },
    { type: "image", url: "data:," },
    { type: "mention", name: "n", path: "/n" },
    { type: "text", text: "$s", text_elements: [] },
    { type: "skill", name: "s", path: "/a/s.md" },
  ]);
});

test("[S0-76] offers the model's own efforts, and a personality if the model supports it", () => {
  const options = selectorsOf("codex/m", [MODEL], { reasoning_effort: "ultra", personality: "no such" });
  const shown = options.map(({ id, value, options: choices }) => [
    id,
    value,
    choices.map((choice) => choice.id),
  ]);
  expect(shown).toEqual([
    ["reasoning_effort", "ultra", ["low", "ultra"]],
    ["personality", "default", ["default", "pragmatic", "friendly"]],
    ["collaboration_mode", "default", ["default", "review", "plan"]],
  ]);
  expect(selectorsOf("codex/unknown", [MODEL], {}).map(({ id }) => id)).toEqual(["collaboration_mode"]);
  expect(selectorsOf("codex/default", [MODEL], {})[0]?.value).toBe("low");
});

test("[S2-27] lists Codex's own choice first, without hidden models", () => {
  const models = modelRows([MODEL, { ...MODEL, model: "h", hidden: true }]);
  expect(models.map(({ id, isDefault }) => [id, isDefault])).toEqual([
    ["codex/default", true],
    ["codex/m", false],
  ]);
});
