import { join } from "node:path";
import { needs, realSandbox } from "@flint/testkit";
import { expect } from "vitest";
import { CLAUDE } from "../claude/descriptor.ts";
import { claudeSessions } from "../claude/import/sessions.ts";
import { realClaude, turnOf } from "../claude/testing/claude-fixture.ts";
import { sessionSpec } from "../testing/session-spec.ts";
import { InstanceDriver } from "./instance.ts";

const test = needs("claude");

test("a second Claude runs under its own name, in its own folder", async () => {
  const fixture = await realClaude({ script: [[{ text: "Done." }]] });
  const work = new InstanceDriver({ ...CLAUDE, id: "work", displayName: "work" }, fixture.driver);
  expect(await work.defaultModel()).toBe("work/default");
  expect(work.qualify("work/opus")).toBe("work/opus");
  expect(work.qualify("claude/opus")).toBeUndefined();
  const settings = { ...fixture.settings, model: "work/opus" };
  const sandbox = realSandbox({ brokerFolder: join(fixture.config, "..", "run2") });
  const session = await work.open(sessionSpec(settings, sandbox, {}));
  const turn = turnOf(fixture, "go", { settings });
  const outcome = await session.run(turn).finally(() => turn.end());
  await session.close();
  expect(outcome).toEqual({ status: "completed" });
  expect(turn.completedItems).toMatchObject([{ type: "agentMessage", text: "Done." }]);
  const [made] = await claudeSessions(fixture.config).list(1);
  const sessions = await work.nativeSessions();
  expect((await sessions?.read(made?.id ?? ""))?.model).toMatch(/^work\//);
});
