import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { needs } from "@flint/testkit";
import { expect, test } from "vitest";
import { effortOf, T3_HELLO, T3_MODES, T3_TOKEN, T3Client, T3Mcp } from "./clients/t3code.ts";
import { spawnServer, TEST_MS, text, WAIT } from "./codex/flint-codex.ts";
import { environmentIn, FLINT_CODEX, sdkFixture } from "./codex/sdk.ts";

needs("codex")(
  "t3code works with Flint as with Codex, and every message matches the schemas of Codex",
  async () => {
    const { workspace, home } = await sdkFixture();
    const mcp = await T3Mcp.start();
    const probe = await T3Client.start(workspace, home);
    const { model } = await probe.probe(workspace);
    await probe.end();

    const client = await T3Client.start(workspace, home, mcp);
    await client.greet();
    const opening = { cwd: workspace, ...T3_MODES["auto-accept-edits"].thread, model };
    const threadId = await client.startThread(opening);
    const settings = { threadId, ...T3_MODES["auto-accept-edits"].turn, model, ...effortOf(model) };

    const plain = await client.turn({ ...settings, input: text("hello") });
    expect(plain).toMatchObject({ status: "completed" });
    expect(mcp.authorizations).toContain(`Bearer ${T3_TOKEN}`);

    const accepted = client.turn({ ...settings, input: text("run `touch t3.txt`") });
    await client.decide("item/commandExecution/requestApproval", "accept");
    expect(await accepted).toMatchObject({ status: "completed" });
    expect(existsSync(join(workspace, "t3.txt"))).toBe(true);

    const declined = client.turn({ ...settings, input: text("run `touch no.txt`") });
    await client.decide("item/commandExecution/requestApproval", "decline");
    expect(await declined).toMatchObject({ status: "completed" });
    expect(existsSync(join(workspace, "no.txt"))).toBe(false);

    const written = client.turn({ ...settings, input: text("write `lantern` to t3b.txt") });
    await client.decide("item/fileChange/requestApproval", "acceptForSession");
    expect(await written).toMatchObject({ status: "completed" });
    expect(await readFile(join(workspace, "t3b.txt"), "utf8")).toContain("lantern");

    const asked = client.turn({ ...settings, input: text("ask me which colour: red or blue") });
    await client.choose("blue");
    expect(await asked).toMatchObject({ status: "completed" });

    const watched = { ...settings, ...T3_MODES["approval-required"].turn };
    const refused = client.turn({ ...watched, input: text("write `no` to no.txt") });
    await client.decide("item/fileChange/requestApproval", "decline");
    expect(await refused).toMatchObject({ status: "completed" });
    expect(existsSync(join(workspace, "no.txt"))).toBe(false);
    const allowed = client.turn({ ...watched, input: text("run `touch allowed.txt`") });
    await client.decide("item/commandExecution/requestApproval", "accept");
    expect(await allowed).toMatchObject({ status: "completed" });
    expect(existsSync(join(workspace, "allowed.txt"))).toBe(true);

    const long = client.turn({ ...settings, input: text("count to 100000") });
    await client.interrupt(threadId);
    expect(await long).toMatchObject({ status: "interrupted" });

    const turns = await client.turnsOf("thread/read", { threadId, includeTurns: true });
    expect(turns).toHaveLength(8);
    const left = await client.turnsOf("thread/rollback", { threadId, numTurns: 1 });
    expect(left).toHaveLength(7);
    await client.compact(threadId);
    await client.end();

    const later = await T3Client.start(workspace, home, mcp);
    await later.greet();
    const resumed = await later.call("thread/resume", { threadId, ...opening, excludeTurns: true });
    expect(resumed).toMatchObject({ cwd: workspace, model, thread: { id: threadId } });
    const again = await later.turn({ ...settings, input: text("what did I ask before?") });
    expect(again).toMatchObject({ status: "completed" });
    const missing = "01a1e316-321b-7052-93ed-a40b0e39ea25";
    // The word and one of these make t3code begin a new thread instead.
    await expect(later.wire.request("thread/resume", { ...opening, threadId: missing })).rejects.toThrow(
      /thread.*(not found|missing|no such|unknown|does not exist|no rollout found)|(no such|unknown|missing) thread/i,
    );
    await later.end();
    for (const each of [probe, client, later]) {
      expect(await each.problems()).toEqual([]);
      // Each line there is a warning in t3code's window.
      expect(each.wire.stderr).toBe("");
    }
  },
  TEST_MS,
);

test(
  "t3code's full-access mode needs the user's permission, and the error explains how to give it",
  async () => {
    const { workspace, home } = await sdkFixture();
    const open = async () => {
      const wire = spawnServer(workspace, home);
      await wire.request("initialize", T3_HELLO, WAIT);
      const params = { cwd: workspace, ...T3_MODES["full-access"].thread };
      const opened = await wire.request("thread/start", params, WAIT).catch((error: Error) => error.message);
      wire.end();
      await wire.exited;
      return opened;
    };
    expect(await open()).toContain("--allow-unconfined");
    await writeFile(join(home, "config.toml"), "allow_unconfined = true\n");
    expect(await open()).toMatchObject({ approvalPolicy: "never", sandbox: { type: "dangerFullAccess" } });
  },
  TEST_MS,
);

test(
  "titles and commit messages that t3code requests by `codex exec` are in the file it names",
  async () => {
    const { workspace, home } = await sdkFixture();
    const [schema, output] = [join(home, "schema.json"), join(home, "output.json")];
    const properties = { title: { type: "string" } };
    await writeFile(schema, JSON.stringify({ type: "object", properties, required: ["title"] }));
    await writeFile(output, "");
    const args = [
      ...["exec", "--ephemeral", "--skip-git-repo-check", "-s", "read-only", "--model", "flint/offline"],
      ...["--config", 'model_reasoning_effort="low"'],
      ...["--output-schema", schema, "--output-last-message", output, "-"],
    ];
    const options = { cwd: workspace, env: environmentIn(home), input: "Write a title for: fix the lamp" };
    const { status, stderr } = spawnSync(FLINT_CODEX, args, { ...options, encoding: "utf8" });
    expect({ status, stderr }).toMatchObject({ status: 0 });
    expect(JSON.parse(await readFile(output, "utf8"))).toEqual({ title: expect.any(String) });
  },
  TEST_MS,
);
