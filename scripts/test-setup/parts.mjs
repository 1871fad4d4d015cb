import { acpx, claudeAgentAcp, codexAcp } from "./acp.mjs";
import { claude, codex } from "./agents.mjs";
import { bwrap } from "./bwrap.mjs";
import { chromium } from "./chromium.mjs";
import { codexSdk } from "./codex-sdk.mjs";
import { installDebian, mayInstall } from "./machine.mjs";
import { node24 } from "./node24.mjs";
import { redis } from "./redis.mjs";
import { tmux } from "./tmux.mjs";

/** Every part that can be looked for. */
export const PARTS = [
  bwrap,
  redis,
  chromium,
  node24,
  codex,
  claude,
  codexAcp,
  claudeAgentAcp,
  acpx,
  codexSdk,
  tmux,
];

/** The parts that tests use today. */
const USUAL = ["bwrap"];

/** Reads from the environment which parts to look for, which must be there, and which large ones to fetch. */
export function plan(environment = process.env) {
  const required = names(environment.FLINT_TEST_REQUIRE);
  const agents =
    environment.FLINT_TEST_AGENTS === "1"
      ? ["codex", "claude", "codex-acp", "claude-agent-acp", "acpx", "node24", "codex-sdk", "tmux"]
      : [];
  const wanted = [...new Set([...USUAL, ...names(environment.FLINT_TEST_PARTS), ...required, ...agents])];
  const unknown = wanted.filter((name) => !PARTS.some((part) => part.name === name));
  if (unknown.length > 0) {
    throw new Error(
      `unknown part ${unknown.join(", ")}; known are ${PARTS.map((part) => part.name).join(", ")}`,
    );
  }
  return { wanted, required, large: [...required, ...agents] };
}

/** Looks for a part, gets it where that is allowed, and returns what was found or why nothing was. */
export function provide(part, { large, say }) {
  try {
    return part.find() ?? obtain(part, { large, say });
  } catch (error) {
    return { reason: error.message };
  }
}

function obtain(part, { large, say }) {
  if (part.fetch && (!part.large || large.includes(part.name))) {
    say(`.. ${part.name} is being fetched`);
    part.fetch();
  } else if (part.debian && mayInstall()) {
    say(`.. ${part.name} is being installed`);
    installDebian(part.debian);
  } else {
    return { reason: "not found" };
  }
  return part.find() ?? { reason: "not found even after it was fetched" };
}

function names(list = "") {
  return list
    .split(",")
    .map((name) => name.trim())
    .filter(Boolean);
}
