import { mkdir, rename } from "node:fs/promises";
import { join } from "node:path";
import type { WorkerCeiling } from "@flint/tasks/fleet";
import { needs } from "@flint/testkit";
import { describe, expect } from "vitest";
import { addToFleet, runGit, setUpFleet, untilInFleet, writesFile } from "../testing/fleet-fixture.ts";

const fleetTest = needs("redis", "bwrap", "git");
const ALLOWED = { merge: ["none" as const, "branch" as const], network: false, allowTools: false };

/** A server and workers whose clones of a bare repository are at paths of their own. */
async function setUpClones() {
  const worked: string[] = [];
  const fleet = await setUpFleet((name, _prompt, cwd) => {
    worked.push(`${name}:${cwd.split("/").at(-1)}`);
    return writesFile(cwd);
  });
  const { home, git } = fleet;
  const bare = home.join("shared.git");
  await runGit(home.path, "init", "-q", "--bare", bare);
  await mkdir(join(fleet.cwd, "lib"));
  await git("remote", "add", "origin", bare);
  await git("push", "-q", "origin", "main");
  // Not pushed by the user: the worker gets it all the same.
  await git("commit", "-q", "--allow-empty", "-m", "second");
  const clone = async (name: string) => {
    const folder = home.join(`${name}-clone`);
    await runGit(home.path, "clone", "-q", `file://${bare}`, folder);
    return folder;
  };
  const startWorkerIn = (name: string, ceiling: Pick<WorkerCeiling, "folders" | "projects" | "remotes">) =>
    fleet.startWorker(name, { ceiling: { ...ALLOWED, ...ceiling } });
  const startWorker = (name: string, folder: string) =>
    startWorkerIn(name, { folders: [folder], projects: [{ url: `${bare}/`, folder }] });
  return { ...fleet, bare, clone, startWorker, startWorkerIn, worked };
}

describe("a task with a remote", () => {
  fleetTest("is done in a second clone, taken over in a third, and its branch is at the remote", async () => {
    const { client, cwd, git, bare, clone, startWorker, worked } = await setUpClones();
    const id = await addToFleet(client, cwd, { remote: { url: "origin" }, merge: "branch" });
    const folder = await clone("w1");
    const first = await startWorker("w1", folder);
    const { result } = await untilInFleet(client, id, "approving", "failed", "asking");
    expect(await runGit(folder, "log", "--format=%s", result?.commit ?? "")).toBe("Port it\nsecond\nfirst");
    // The server reads the result, although it was made elsewhere.
    expect((await client.call("task/diff", { taskId: id })).diff).toContain("b.txt");
    await first.drain(0);
    await startWorker("w2", await clone("w2"));
    await client.call("task/approve", { taskId: id, tree: result?.tree ?? null });
    const done = await untilInFleet(client, id, "done", "failed", "asking");
    expect(done, JSON.stringify(done.ask)).toMatchObject({ phase: "done" });
    expect(await runGit(bare, "rev-parse", "refs/heads/flint/port-it")).toBe(result?.commit);
    expect(worked).toEqual(["w1:tree"]);
    // No branch of anybody has changed.
    expect(await runGit(bare, "log", "--format=%s", "main")).toBe("first");
    expect(await git("for-each-ref", "--format=%(refname)", "refs/heads")).toBe("refs/heads/main");
    await client.call("task/remove", { taskId: id });
    expect(await runGit(bare, "for-each-ref", "--format=%(refname)", "refs/flint/tasks")).toBe("");
  });

  fleetTest("asks if the remote is gone, before any work, and goes on when it is back", async () => {
    const { client, cwd, bare, clone, startWorker, worked } = await setUpClones();
    const id = await addToFleet(client, cwd, { remote: { url: "origin" } });
    const folder = await clone("w1");
    await rename(bare, `${bare}.away`);
    await startWorker("w1", folder);
    const { ask } = await untilInFleet(client, id, "approving", "failed", "asking");
    expect(ask?.message).toContain(`The work cannot be fetched from ${bare}`);
    expect(worked).toEqual([]);
    await rename(`${bare}.away`, bare);
    await client.call("task/answer", { taskId: id, askId: ask?.id ?? "", answer: { choice: "continue" } });
    expect(await untilInFleet(client, id, "approving", "failed", "asking")).toMatchObject({
      phase: "approving",
    });
  });

  fleetTest("is refused or asks, and says what is missing", async () => {
    const { client, cwd, clone, startWorker, bare } = await setUpClones();
    const refused = (remote: string, more: object = {}) =>
      expect(addToFleet(client, cwd, { remote: { url: remote }, ...more })).rejects;
    await refused("upstream").toThrow("has no remote upstream");
    await refused(`${bare}.none`).toThrow(`cannot be pushed to ${bare}.none`);
    await refused("ext::sh -c true").toThrow("is not the address of a git remote");
    await refused("https://me:secret@git.example/x").toThrow("https://git.example/x has a password in it");
    await refused("origin", { merge: "squash" }).toThrow("merges by none, branch or pr, not by squash");
    await startWorker("w1", await clone("w1"));
    const other = `${bare}2`;
    await runGit(cwd, "init", "-q", "--bare", other);
    const id = await addToFleet(client, cwd, { remote: { url: other } });
    expect((await untilInFleet(client, id, "asking", "approving")).ask?.message).toBe(
      `Worker w1 does not let a task work on ${other}: it has no clone. Start it with --project ${other}=DIR.`,
    );
  });

  fleetTest("does not send the work of a folder to a remote that the folder does not have", async () => {
    const { client, cwd, git, home, bare, worked, startWorkerIn } = await setUpClones();
    const other = home.join("other.git");
    await runGit(home.path, "init", "-q", "--bare", other);
    const elsewhere = await addToFleet(client, cwd, { remote: { url: other } });
    const id = await addToFleet(client, cwd, { remote: { url: "origin" } });
    const worker = await startWorkerIn("w1", { folders: [cwd] });
    expect((await untilInFleet(client, elsewhere, "asking", "approving")).ask?.message).toBe(
      `Worker w1 does not let a task use the remote ${other}: it is none of ${cwd}. Allow it with --remote ${other}.`,
    );
    expect(await untilInFleet(client, id, "asking", "approving")).toMatchObject({ phase: "approving" });
    expect(worked).toHaveLength(1);
    expect(await git("remote", "get-url", "origin")).toBe(bare);
    await worker.drain(0);
    await startWorkerIn("w2", { folders: [cwd], remotes: [home.path] });
    const allowed = await addToFleet(client, cwd, { remote: { url: other } });
    expect(await untilInFleet(client, allowed, "asking", "approving")).toMatchObject({ phase: "approving" });
  });
});
