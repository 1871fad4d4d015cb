import { readFile, writeFile } from "node:fs/promises";
import type { Decision } from "@flint/protocol";
import { needs } from "@flint/testkit";
import { describe, expect, test } from "vitest";
import { openBench } from "../testing/acp-fixture.ts";

const DENY: Decision = { outcome: "deny", scope: "once" };

describe("permissions and questions", () => {
  test("a call that is announced only in its request is shown, asked once, and written", async () => {
    const { run, folder } = await openBench();
    const path = folder.join("sudden.txt");
    const { turn, said } = await run(`sudden ${path}`);
    expect(said).toBe("yes");
    expect(turn.actions).toMatchObject([{ kind: "fileChange", changes: [{ path, kind: "add" }] }]);
    expect(turn.completedItems).toContainEqual(
      expect.objectContaining({ type: "fileChange", status: "completed" }),
    );
    expect(await readFile(path, "utf8")).toBe("sudden\n");
  });

  test("a no is told to the agent, which does nothing, and the item is declined", async () => {
    const { run, folder } = await openBench();
    const { turn, said } = await run(`sudden ${folder.join("no.txt")}`, { decide: () => DENY });
    expect(said).toBe("no");
    expect(turn.completedItems).toContainEqual(
      expect.objectContaining({ type: "fileChange", status: "declined" }),
    );
  });

  test("a yes for the session is a yes to the one call, so that Flint and not the agent remembers it", async () => {
    const { run } = await openBench();
    const { said } = await run("run true", { decide: () => ({ outcome: "allow", scope: "session" }) });
    expect(said).toBe("Done.");
  });

  test("a form of the agent is asked field by field, and asked again where an answer does not fit", async () => {
    const { run } = await openBench();
    const answers = {
      name: { answers: ["Ada"] },
      age: { answers: ["36"] },
      colour: { answers: ["Green"] },
    };
    const { turn, said } = await run("elicit", { answers });
    expect(JSON.parse(said)).toEqual({ action: "accept", content: { name: "Ada", age: 36, colour: "g" } });
    expect(turn.questions).toMatchObject([
      [{ id: "name" }, { id: "age" }, { id: "colour", options: [{}, {}] }],
    ]);
    const unfit = { ...answers, age: { answers: ["old"] } };
    const again = await run("elicit", { answers: unfit });
    expect(JSON.parse(again.said)).toEqual({ action: "decline" });
    expect(again.turn.questions).toHaveLength(3);
    expect(again.turn.questions.at(-1)).toMatchObject([{ id: "age", question: /has to be a number/ }]);
  });
});

describe("files through Flint", () => {
  test("a file of the workspace is read, one outside is not", async () => {
    const { run, folder } = await openBench();
    await writeFile(folder.join("a.txt"), "the text\n");
    expect((await run(`read ${folder.join("a.txt")}`)).said).toBe("the text\n");
    expect((await run(`read ${folder.join("none.txt")}`)).said).toContain("error -32002");
    expect((await run("read /etc/passwd")).said).toContain("outside of the workspace");
  });

  test("a write is asked about with its exact difference, and done only if allowed [S3-36]", async () => {
    const { run, folder } = await openBench();
    const path = folder.join("new/b.txt");
    const denied = await run(`write ${path}`, { decide: () => DENY });
    expect(denied.said).toContain("error");
    expect(denied.turn.completedItems).toContainEqual(expect.objectContaining({ status: "declined" }));
    const { turn, said } = await run(`write ${path}`);
    const diff = "--- /dev/null\n+++ b/new/b.txt\n@@ -0,0 +1,1 @@\n+written\n";
    expect(turn.actions).toMatchObject([{ kind: "fileChange", changes: [{ path, kind: "add", diff }] }]);
    expect(said).toBe("written");
    expect(await readFile(path, "utf8")).toBe("written\n");
  });

  test("what steers agents and what lies outside is not written, whatever the user would say", async () => {
    const { run, folder } = await openBench();
    for (const path of [folder.join(".git/hooks/pre-commit"), "/etc/flint-was-here"]) {
      const { turn, said } = await run(`write ${path}`);
      expect(said).toContain("error");
      expect(turn.actions).toEqual([]);
    }
  });

  needs("namespaces")("the sandbox of the thread holds for these writes too", async () => {
    const { run, folder } = await openBench({ policy: { type: "workspaceWrite" } });
    expect((await run(`write ${folder.join("fine.txt")}`)).said).toBe("written");
    expect((await run(`write ${folder.join(".git/config")}`)).said).toContain("could not be written");
    const closed = await openBench({ policy: { type: "readOnly" } });
    const { said, turn } = await closed.run(`write ${closed.folder.join("no.txt")}`);
    expect(said).toContain("readOnly");
    expect(turn.actions).toEqual([]);
  });
});

describe("commands through Flint", () => {
  test("run where the profile allows it, asked about, with their output in the call [S3-38, S3-39]", async () => {
    const { run } = await openBench({ profile: { offersTerminals: true } });
    const { turn, said } = await run("terminal echo one; echo two");
    expect(said).toBe("0 one\ntwo\n");
    expect(turn.actions).toMatchObject([{ kind: "command", command: "echo one; echo two" }]);
    expect(turn.completedItems).toContainEqual(
      expect.objectContaining({ type: "commandExecution", aggregatedOutput: "one\ntwo\n", exitCode: 0 }),
    );
  });

  test("do not run if the user says no, or if the profile does not allow it", async () => {
    const { run } = await openBench({ profile: { offersTerminals: true } });
    expect((await run("terminal true", { decide: () => DENY })).said).toContain("error");
    const plain = await openBench();
    const { turn, said } = await plain.run("terminal true");
    expect(said).toContain("error -32601");
    expect(turn.actions).toEqual([]);
  });

  test("end as soon as the agent wants it [S3-42]", async () => {
    const { run } = await openBench({ profile: { offersTerminals: true } });
    expect((await run("kill sleep 1000")).said).toBe("ended by us");
  });

  test("end with the turn", async () => {
    const { begin } = await openBench({ profile: { offersTerminals: true } });
    const { turn, ended } = begin("terminal sleep 1000");
    await turn.waitFor((event) => event.type === "item/started");
    turn.stop();
    expect(await ended).toEqual({ status: "interrupted" });
  });
});
