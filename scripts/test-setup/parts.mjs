import { bwrap, chromium, curl, git, ip, pip, redis, ssh, sshd, tmux } from "./debian-programs.mjs";
import {
  acpx,
  claude,
  claudeAgentAcp,
  codex,
  codexAcp,
  codexSdk,
  gemini,
  node24,
  opencode,
} from "./npm-programs.mjs";

/**
 * A program that some tests need.
 * @typedef {object} Part
 * @property {string} name
 * @property {() => Promise<Found | Missing | undefined>} find looks without changing anything
 * @property {() => Promise<void>} fetch gets it without touching the system, or rejects with the reason
 * @property {"agents"} [serves] only the tests with real agents need it
 * @property {boolean} [onPath] Flint itself looks for it on PATH, and so finds a private copy there in tests
 * @property {string} hint how a user installs it
 *
 * @typedef {{ path: string, how: string }} Found
 * @typedef {{ reason: string }} Missing
 */

/** Every part that can be looked for. */
export const PARTS = [
  bwrap,
  git,
  curl,
  ip,
  ssh,
  sshd,
  pip,
  redis,
  chromium,
  node24,
  codex,
  claude,
  codexAcp,
  claudeAgentAcp,
  opencode,
  gemini,
  acpx,
  codexSdk,
  tmux,
];

/** Reads from the environment which parts to look for, and which of them must be there. */
export function plan(environment = process.env) {
  const withAgents = environment.FLINT_TEST_AGENTS !== "0";
  const usual = PARTS.filter(({ serves }) => withAgents || serves !== "agents");
  const expand = (list) =>
    names(list).flatMap((name) => (name === "all" ? usual.map((part) => part.name) : [name]));
  const required = expand(environment.FLINT_TEST_REQUIRE);
  const without = names(environment.FLINT_TEST_WITHOUT);
  const asked = [...expand("all"), ...names(environment.FLINT_TEST_PARTS), ...required];
  const unknown = [...new Set([...asked, ...without])].filter(
    (name) => !PARTS.some((part) => part.name === name),
  );
  if (unknown.length > 0) {
    throw new Error(
      `unknown part ${unknown.join(", ")}; known are ${PARTS.map((part) => part.name).join(", ")}`,
    );
  }
  const requested = PARTS.filter(({ name }) => asked.includes(name) && !without.includes(name));
  return { requested, required: required.filter((name) => !without.includes(name)) };
}

/** Looks for a part, fetches it if it is not there or broken, and returns what was found or why nothing was. */
export async function provide(part, say) {
  try {
    const found = await part.find();
    if (found?.path !== undefined) return found;
    const started = performance.now();
    try {
      await part.fetch();
    } catch (error) {
      return { reason: [found?.reason, error.message].filter(Boolean).join("; ") };
    }
    say(`.. ${part.name} fetched in ${seconds(performance.now() - started)}`);
    return (await part.find()) ?? { reason: "not found even after it was fetched" };
  } catch (error) {
    return { reason: error.message };
  }
}

/**
 * Looks once more for a part that was not found. A program that was tried while others were fetched and unpacked may only
 * have been too slow to answer.
 */
export async function tryAgain(part, result) {
  if (result.path !== undefined) return result;
  try {
    const found = await part.find();
    return found?.path === undefined ? result : found;
  } catch {
    // The reason of the first try is the one to tell.
    return result;
  }
}

/** A duration for people. */
export function seconds(milliseconds) {
  return `${(milliseconds / 1000).toFixed(1)} s`;
}

function names(list = "") {
  return list
    .split(",")
    .map((name) => name.trim())
    .filter(Boolean);
}
