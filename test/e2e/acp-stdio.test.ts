import { access, readFile } from "node:fs/promises";
import type { RequestPermissionRequest } from "@agentclientprotocol/sdk";
import { describe, expect, test } from "vitest";
import { type EditorOptions, promptOf, startEditor } from "./clients/acp-editor.ts";
import { commandFixture } from "./flint.ts";

/** The official client with the built command as its agent, which finds no model on this machine. */
function editor(
  { cwd, home }: { readonly cwd: string; readonly home: string },
  choose: EditorOptions["choose"],
  options: Pick<EditorOptions, "name" | "flags"> = {},
) {
  const env = { PATH: process.env.PATH, HOME: home, LANG: "C.UTF-8", OLLAMA_HOST: "127.0.0.1:9" };
  return startEditor({ cwd, env, choose, ...options });
}

describe("flint acp on stdio", () => {
  test("writes a file once it is allowed, and loads the session in a new process [S3-1, S3-28, S3-29, S3-30, S3-34, S3-41]", async () => {
    const fixture = await commandFixture();
    const permissions: RequestPermissionRequest[] = [];
    const first = await editor(fixture, async (request) => {
      permissions.push(request);
      return "allow_once";
    });
    const { sessionId } = await first.agent.request("session/new", { cwd: fixture.cwd, mcpServers: [] });
    const answer = await first.agent.request(
      "session/prompt",
      promptOf(sessionId, "write `hello` to hello.txt"),
    );
    expect(answer).toMatchObject({ stopReason: "end_turn" });
    expect(await readFile(`${fixture.cwd}/hello.txt`, "utf8")).toMatch(/^hello/);
    expect(permissions[0]?.toolCall).toMatchObject({
      kind: "edit",
      content: [{ type: "diff", oldText: null }],
    });
    expect(await first.leave()).toBe(0);

    const second = await editor(fixture, async () => "reject_once");
    await second.agent.request("session/load", { sessionId, cwd: fixture.cwd, mcpServers: [] });
    expect(second.updates.map(({ sessionUpdate }) => sessionUpdate)).toEqual(
      expect.arrayContaining(["user_message_chunk", "tool_call", "agent_message_chunk"]),
    );
    const { sessions } = await second.agent.request("session/list", { cwd: fixture.cwd });
    expect(sessions).toMatchObject([{ sessionId, cwd: fixture.cwd }]);
    await second.agent.request("session/prompt", promptOf(sessionId, "write `no` to no.txt"));
    await expect(access(`${fixture.cwd}/no.txt`)).rejects.toMatchObject({ code: "ENOENT" });
    expect(await second.leave()).toBe(0);
  });

  test("cancels a prompt that waits for permission, and leaves nothing behind [S3-31]", async () => {
    const fixture = await commandFixture();
    let cancel: (() => void) | undefined;
    const { agent, leave } = await editor(fixture, async () => {
      cancel?.();
      return "none of these";
    });
    const { sessionId } = await agent.request("session/new", { cwd: fixture.cwd, mcpServers: [] });
    cancel = () => void agent.notify("session/cancel", { sessionId });
    const answer = await agent.request("session/prompt", promptOf(sessionId, "write `late` to late.txt"));
    expect(answer).toMatchObject({ stopReason: "cancelled" });
    await expect(access(`${fixture.cwd}/late.txt`)).rejects.toMatchObject({ code: "ENOENT" });
    expect(await leave()).toBe(0);
  });

  test.each([
    ["the configuration", ["config", "set", "acp.auto_resume", "true"], []],
    ["a flag", ["config", "keys"], ["--auto-resume"]],
  ])(
    "continues the last session of an editor in a new process, turned on by %s [S3-21]",
    async (_by, first, flags) => {
      const fixture = await commandFixture();
      expect(await fixture.flint(first)).toMatchObject({ code: 0 });
      const promptNew = async (name: string, text: string) => {
        const { agent, updates, leave } = await editor(fixture, async () => "allow_once", { name, flags });
        const { sessionId } = await agent.request("session/new", { cwd: fixture.cwd, mcpServers: [] });
        await agent.request("session/prompt", promptOf(sessionId, text));
        const history = updates.flatMap((update) =>
          update.sessionUpdate === "user_message_chunk" && update.content.type === "text"
            ? [update.content.text]
            : [],
        );
        expect(await leave()).toBe(0);
        return { sessionId, history };
      };
      const { sessionId } = await promptNew("zed", "hello");
      expect((await promptNew("emacs", "hello")).sessionId).not.toBe(sessionId);
      expect(await promptNew("zed", "what did I ask before?")).toEqual({ sessionId, history: ["hello"] });
    },
  );

  test("runs the login command of an agent, and rejects an unknown agent with a list of known ones [S3-7]", async () => {
    const { flint } = await commandFixture();
    const { code, stderr } = await flint(["acp", "--login", "unknown"]);
    expect(code).toBe(2);
    expect(stderr).toContain("--login must be one of claude, codex, opencode, gemini, goose");
    const missing = await flint(["acp", "--login", "codex"], { env: { PATH: "/nowhere" } });
    expect(missing).toMatchObject({
      code: 1,
      stderr: expect.stringContaining("Install it with flint agents install codex"),
    });
  });
});
