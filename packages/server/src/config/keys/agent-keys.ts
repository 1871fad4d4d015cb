import * as z from "zod/mini";
import { PERMISSION_MODES } from "../permission-modes.ts";
import { BOOLEAN, type ConfigKey, choice, HOSTS, key, PAIRS, pairs, string, strings } from "./key.ts";
import { APPROVAL_NAMES, GIT_MODES, SANDBOX_NAMES } from "./policy-names.ts";

const PROCESS_SPANS = ["thread", "turn"] as const;

/** The kinds of agents that a name of the user's own can stand for. */
const DRIVERS = ["claude", "codex", "acp"] as const;

/** The keys of one agent. */
export const AGENT_KEYS = {
  "agents.*.command": key(
    strings,
    "a list with a program and its arguments",
    "Command that starts the agent: claude, codex, or any ACP agent.",
    "user",
  ),
  "agents.*.driver": key(
    z.enum(DRIVERS),
    choice(DRIVERS),
    "Driver of an agent with another name, such as a second Claude account.",
    "user",
  ),
  "agents.*.home": key(
    string,
    "a folder",
    "For claude and codex: the agent's own folder, with its login, settings and sessions; `~/` is your home.",
    "user",
  ),
  "agents.*.model": key(string, "a name", "Default model of this agent, without the agent's name.", "user"),
  "agents.*.process": key(
    z.enum(PROCESS_SPANS),
    choice(PROCESS_SPANS),
    "For claude: one process per thread while it is in use, or one per turn.",
    "user",
  ),
  "agents.*.env": key(pairs, PAIRS, "Environment variables for this agent only.", "user"),
  "agents.*.enabled": key(z.boolean(), BOOLEAN, "Set to false to hide this agent.", "user"),
  "agents.*.permissions": key(
    z.enum(PERMISSION_MODES),
    choice(PERMISSION_MODES),
    "Permission mode of new threads with this agent, in place of `permissions`. The four keys below override parts of it.",
    "user",
  ),
  "agents.*.approval_policy": key(
    z.enum(APPROVAL_NAMES),
    choice(APPROVAL_NAMES),
    "When to ask for approval in new threads with this agent.",
    "user",
  ),
  "agents.*.sandbox": key(
    z.enum(SANDBOX_NAMES),
    choice(SANDBOX_NAMES),
    "What commands may access in new threads with this agent.",
    "user",
  ),
  "agents.*.network": key(
    strings,
    HOSTS,
    "Hosts that this agent's commands in a sandbox may connect to without asking.",
    "user",
  ),
  "agents.*.git": key(
    z.enum(GIT_MODES),
    choice(GIT_MODES),
    "Whether commits that this agent makes in the sandbox are added to your repository.",
    "user",
  ),
} as const satisfies Readonly<Record<string, ConfigKey>>;
