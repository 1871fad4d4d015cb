import { mkdir, readFile, symlink, writeFile } from "node:fs/promises";
import type { Decision } from "@flint/protocol";
import { needs } from "@flint/testkit";
import { describe, expect, test } from "vitest";
import { openFixture } from "../testing/acp-fixture.ts";
import { readText } from "./files.ts";

const DENY: Decision = { outcome: "deny", scope: "once" };

describe("permissions and elicitation", () => {
  test("shows a call that only its permission request announces, and writes it after one approval", async () => {
    const { run, folder } = await openFixture();
    const path = folder.join("sudden.txt");
    const { turn, answer } = await run(`sudden ${path}`);
    expect(answer).toBe("yes");
    expect(turn.actions).toMatchObject([{ kind: "fileChange", changes: [{ path, kind: "add" }] }]);
    expect(turn.completedItems).toContainEqual(
      expect.objectContaining({ type: "fileChange", status: "completed" }),
    );
    expect(await readFile(path, "utf8")).toBe("sudden\n");
  });

  test("declines the item of a rejected call, which does not run", async () => {
    const { run, folder } = await openFixture();
    const { turn, answer } = await run(`sudden ${folder.join("no.txt")}`, { decide: () => DENY });
    expect(answer).toBe("no");
    expect(turn.completedItems).toContainEqual(
      expect.objectContaining({ type: "fileChange", status: "declined" }),
    );
  });

  test("allows one call for an approval of the session, which Flint remembers", async () => {
    const { run } = await openFixture();
    const { answer } = await run("run true", { decide: () => ({ outcome: "allow", scope: "session" }) });
    expect(answer).toBe("Done.");
  });

  test("asks a form field by field, and again for an invalid answer", async () => {
    const { run } = await openFixture();
    const answers = {
      name: { answers: ["Ada"] },
      age: { answers: ["36"] },
      colour: { answers: ["Green"] },
    };
    const { turn, answer } = await run("elicit", { answers });
    expect(JSON.parse(answer)).toEqual({ action: "accept", content: { name: "Ada", age: 36, colour: "g" } });
    expect(turn.questions).toMatchObject([
      [{ id: "name" }, { id: "age" }, { id: "colour", options: [{}, {}] }],
    ]);
    const unfit = { ...answers, age: { answers: ["old"] } };
    const again = await run("elicit", { answers: unfit });
    expect(JSON.parse(again.answer)).toEqual({ action: "decline" });
    expect(again.turn.questions).toHaveLength(3);
    expect(again.turn.questions.at(-1)).toMatchObject([{ id: "age", question: /has to be a number/ }]);
  });
});

describe("files through Flint", () => {
  test("reads a file of the workspace, and none outside", async () => {
    const { run, folder } = await openFixture();
    await writeFile(folder.join("a.txt"), "the text\n");
    expect((await run(`read ${folder.join("a.txt")}`)).answer).toBe("the text\n");
    expect((await run(`read ${folder.join("none.txt")}`)).answer).toContain("error -32002");
    expect((await run("read /etc/passwd")).answer).toContain("outside of the workspace");
  });

  test("reads nothing through a link that replaced a folder after the path was checked", async () => {
    const { folder } = await openFixture();
    await mkdir(folder.join("secret"));
    await writeFile(folder.join("secret/token"), "secret\n");
    await symlink(folder.join("secret"), folder.join("d"));
    await expect(readText(folder.join("d/token"), "d/token")).rejects.toThrow("was moved while it was read");
    expect(await readText(folder.join("secret/token"), "secret/token")).toBe("secret\n");
  });

  test("writes a file only after approval of the exact diff [S3-36]", async () => {
    const { run, folder } = await openFixture();
    const path = folder.join("new/b.txt");
    const denied = await run(`write ${path}`, { decide: () => DENY });
    expect(denied.answer).toContain("error");
    expect(denied.turn.completedItems).toContainEqual(expect.objectContaining({ status: "declined" }));
    const { turn, answer } = await run(`write ${path}`);
    const diff = "--- /dev/null\n+++ b/new/b.txt\n@@ -0,0 +1,1 @@\n+written\n";
    expect(turn.actions).toMatchObject([{ kind: "fileChange", changes: [{ path, kind: "add", diff }] }]);
    expect(answer).toBe("written");
    expect(await readFile(path, "utf8")).toBe("written\n");
  });

  test("never writes hidden files or files outside of the workspace", async () => {
    const { run, folder } = await openFixture();
    for (const path of [folder.join(".git/hooks/pre-commit"), "/etc/flint-was-here"]) {
      const { turn, answer } = await run(`write ${path}`);
      expect(answer).toContain("error");
      expect(turn.actions).toEqual([]);
    }
  });

  needs("namespaces")("the sandbox of the thread holds for these writes too", async () => {
    const { run, folder } = await openFixture({ policy: { type: "workspaceWrite" } });
    expect((await run(`write ${folder.join("fine.txt")}`)).answer).toBe("written");
    expect((await run(`write ${folder.join(".git/config")}`)).answer).toContain("could not be written");
    const closed = await openFixture({ policy: { type: "readOnly" } });
    const { answer, turn } = await closed.run(`write ${closed.folder.join("no.txt")}`);
    expect(answer).toContain("readOnly");
    expect(turn.actions).toEqual([]);
  });
});

describe("commands through Flint", () => {
  test("run after approval where the profile offers terminals, with their output in the call [S3-38, S3-39]", async () => {
    const { run } = await openFixture({ profile: { offersTerminals: true } });
    const { turn, answer } = await run("terminal echo one; echo two");
    expect(answer).toBe("0 one\ntwo\n");
    expect(turn.actions).toMatchObject([{ kind: "command", command: "echo one; echo two" }]);
    expect(turn.completedItems).toContainEqual(
      expect.objectContaining({ type: "commandExecution", aggregatedOutput: "one\ntwo\n", exitCode: 0 }),
    );
  });

  test("do not run if declined, or if the profile offers no terminals", async () => {
    const { run } = await openFixture({ profile: { offersTerminals: true } });
    expect((await run("terminal true", { decide: () => DENY })).answer).toContain("error");
    const plain = await openFixture();
    const { turn, answer } = await plain.run("terminal true");
    expect(answer).toContain("error -32601");
    expect(turn.actions).toEqual([]);
  });

  test("end when the agent kills them [S3-42]", async () => {
    const { run } = await openFixture({ profile: { offersTerminals: true } });
    expect((await run("kill sleep 1000")).answer).toBe("ended by a signal");
  });

  test("end with the turn", async () => {
    const { begin } = await openFixture({ profile: { offersTerminals: true } });
    const { turn, ended } = begin("terminal sleep 1000");
    await turn.waitFor((event) => event.type === "item/started");
    turn.stop();
    expect(await ended).toEqual({ status: "interrupted" });
  });
});
