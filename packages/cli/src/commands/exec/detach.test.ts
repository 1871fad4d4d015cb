import { temporaryFolder } from "@flint/testkit";
import { beforeEach, expect, onTestFinished, test, vi } from "vitest";
import { UsageError } from "../../command-line/command.ts";
import { detachedRequest } from "./detach.ts";
import { EXEC_FLAGS } from "./options.ts";

type Name = keyof typeof EXEC_FLAGS;

/** Options that concern only the output of the command itself. */
const OWN: readonly Name[] = ["detach", "help", "json"];
const SAMPLES: Partial<Record<Name, string>> = {
  agent: "codex",
  network: "none",
  git: "off",
  limits: "best-effort",
};

beforeEach(async () => {
  vi.stubEnv("HOME", (await temporaryFolder()).path);
  onTestFinished(() => void vi.unstubAllEnvs());
});

/** Returns the fate of an option: it changes the task, is refused, or is ignored. */
async function fate(name: Name): Promise<string> {
  const flag = EXEC_FLAGS[name];
  const sample = SAMPLES[name] ?? "7";
  const value = flag.type === "boolean" ? true : "multiple" in flag ? [sample] : sample;
  const plain = await detachedRequest({ detach: true });
  // Expected: the option is refused.
  try {
    const task = await detachedRequest({ detach: true, [name]: value });
    return JSON.stringify(task) === JSON.stringify(plain) ? "nothing" : "followed";
  } catch (thrown) {
    expect(thrown).toEqual(new UsageError(`--detach cannot be used with --${name}.`));
    return "refused";
  }
}

// The table has its names.
test.each((Object.keys(EXEC_FLAGS) as Name[]).filter((name) => !OWN.includes(name)))(
  "a detached turn follows --%s or refuses it",
  async (name) => {
    expect(await fate(name)).not.toBe("nothing");
  },
);

test.each(["sandbox", "approval", "policy", "permissions", "yolo", "resume", "max-steps"] as const)(
  "a detached turn refuses --%s",
  async (name) => {
    expect(await fate(name)).toBe("refused");
  },
);

test("a detached turn takes what its task can follow", async () => {
  const followed = { agent: "codex", model: "gpt-5", network: "none", git: "off", "max-cost": "2" } as const;
  expect(await detachedRequest({ detach: true, json: true, quiet: false, ...followed })).toEqual({
    ...{ cwd: process.cwd(), rounds: 1, executors: [{ model: "codex/gpt-5" }] },
    ...{ network: "none", git: "off", budget: { costUsd: 2 } },
  });
  expect(await detachedRequest({ detach: true, offline: true })).toMatchObject({
    executors: [{ model: "flint/offline" }],
  });
});

test("a detached turn does not change who works: other agents do not go offline, and commands are not added", async () => {
  await expect(detachedRequest({ detach: true, offline: true, agent: "claude" })).rejects.toThrow(
    "--detach cannot be used with --offline and another agent",
  );
  await expect(detachedRequest({ detach: true, agent: "my agent" })).rejects.toThrow("the name of an agent");
});
