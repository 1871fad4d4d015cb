import { spawnSync } from "node:child_process";
import { CommandSandbox, type CommandSandboxOptions, type MechanismName } from "@flint/host/sandbox";
import { describe, type TestFunction, test } from "vitest";
import { agentProgram, foundProgram } from "./agent-program.ts";
import { redisProgram } from "./redis-server.ts";

/** Registers a test, as vitest's `test` does. */
export type TestRegistrar = (title: string, body: TestFunction, timeoutMs?: number) => void;

const BWRAP =
  "--ro-bind / / --dev /dev --proc /proc --unshare-user --unshare-net --unshare-pid --cap-drop ALL --disable-userns -- true";

/** Everything that a test can need of a machine, and the command that shows by working that it is there. */
const PARTS = {
  bwrap: ["bwrap", ...BWRAP.split(" ")],
  namespaces: [
    "unshare",
    ..."--user --map-root-user --mount --pid --net --fork --mount-proc -- true".split(" "),
  ],
  root: ["sh", "-c", 'test "$(id -u)" = 0 || { echo this user is not root >&2; exit 1; }'],
  git: ["git", "--version"],
  sh: ["sh", "-c", "true"],
  curl: ["curl", "--version"],
  ip: ["ip", "-V"],
  ssh: ["ssh", "-V"],
  sshd: [agentProgram("sshd") ?? "/usr/sbin/sshd", "-V"],
  pip: ["pip", "--version"],
  npm: ["npm", "--version"],
  tmux: ["tmux", "-V"],
  redis: [redisProgram() ?? "redis-server", "--version"],
  chromium: [agentProgram("chromium") ?? "chromium", "--version"],
  claude: [agentProgram("claude") ?? "claude", "--version"],
  codex: [agentProgram("codex") ?? "codex", "--version"],
  "codex-acp": [agentProgram("codex-acp") ?? "codex-acp", "--version"],
  "claude-agent-acp": [agentProgram("claude-agent-acp") ?? "claude-agent-acp", "--version"],
  opencode: [agentProgram("opencode") ?? "opencode", "--version"],
  gemini: [agentProgram("gemini") ?? "gemini", "--version"],
  node24: [agentProgram("node24") ?? "node24", "--version"],
  // It wants a newer Node than the one of the tests may be.
  acpx: [agentProgram("node24") ?? process.execPath, agentProgram("acpx") ?? "acpx", "--version"],
  "codex-sdk": [process.execPath, agentProgram("codex-sdk") ?? "codex-sdk"],
} as const satisfies Readonly<Record<string, readonly [string, ...string[]]>>;

/** The name of a part of a machine. */
export type Part = keyof typeof PARTS;

/**
 * A `test` for what only works where the parts are there: found by the set-up, which tried it, or by trying it here. Where
 * it is missing the test is shown as skipped, with the reason in its title; where FLINT_TEST_REQUIRE names the part
 * that is an error instead.
 */
export function needs(part: Part, ...more: readonly Part[]): TestRegistrar {
  const missing = [part, ...more].flatMap((name) => {
    const reason = whyMissing(name);
    return reason === undefined ? [] : [{ part: name, reason }];
  });
  const [first] = missing;
  if (first === undefined) return (title, body, timeoutMs) => test(title, body, timeoutMs);
  const required = missing.find((each) => isRequired(each.part));
  if (required !== undefined)
    throw new Error(`FLINT_TEST_REQUIRE names ${required.part}, but ${required.reason}`);
  return (title) => test.skip(`${title} (needs ${first.part}: ${first.reason})`, () => {});
}

/** Reports whether FLINT_TEST_REQUIRE names a part, or all that a set-up can provide. */
export function isRequired(part: string): boolean {
  const required = (process.env.FLINT_TEST_REQUIRE ?? "").split(",").map((name) => name.trim());
  return required.includes(part) || (required.includes("all") && part !== "root");
}

/** The results for a part with the search path that applied then. */
const known = new Map<string, string | undefined>();

function whyMissing(part: Part): string | undefined {
  const key = `${part} ${process.env.PATH}`;
  if (!known.has(key)) known.set(key, isFound(part) ? undefined : ask(PARTS[part]));
  return known.get(key);
}

/** Reports whether a part is found on PATH, if Flint looks for it there. */
function isFound(part: Part): boolean {
  return (
    !["bwrap", "git", "curl", "ip", "ssh", "pip", "tmux"].includes(part) && foundProgram(part) !== undefined
  );
}

/** Returns the reason a part is missing; undefined if it is present. */
function ask([program, ...rest]: readonly [string, ...string[]]): string | undefined {
  const { status, error, stderr } = spawnSync(program, rest, { encoding: "utf8", timeout: 10_000 });
  if (status === 0) return undefined;
  const said = stderr?.trim().split("\n").at(-1);
  return error?.message ?? `${program} says: ${said || `exit code ${status}`}`;
}

/** The parts that each way of confinement requires of a machine. */
export const MECHANISM_PARTS = {
  bubblewrap: "bwrap",
  namespaces: "namespaces",
} as const satisfies Readonly<Record<MechanismName, Part>>;

/**
 * A suite that runs with each way of confinement, because all of them make the same promises. `%s` in its title stands
 * for the way; its tests are skipped where the machine lacks what the way needs.
 */
export function describeEachMechanism(
  title: string,
  suite: (mechanism: MechanismName, test: TestRegistrar) => void,
): void {
  const names = Object.keys(MECHANISM_PARTS) as MechanismName[]; // The keys are exactly the names, see above.
  describe.each(names)(title, (name) => suite(name, needs(MECHANISM_PARTS[name])));
}

/** The sandbox that really starts and confines, with the environment of the tests. */
export function realSandbox(options: Pick<CommandSandboxOptions, "brokerFolder"> = {}): CommandSandbox {
  return new CommandSandbox({ environment: process.env, ...options });
}

/**
 * Registers a test that proves the named requirements or safety cases, and shows them in its title.
 * Ranges such as "S0-13..16" are allowed.
 */
export function verifies(ids: string | readonly string[], name: string, body: TestFunction): void {
  const cited = typeof ids === "string" ? ids : ids.join(", ");
  test(`${name} [${cited}]`, body);
}
