import { type Flags, HELP_FLAG, JSON_FLAG } from "../../command-line/flags.ts";
import { LIMIT_FLAGS } from "../../command-line/limit-flags.ts";

/** The options of `flint tasks add`. */
export const ADD_FLAGS = {
  file: { type: "string", takes: "FILE", doc: "Add all tasks in a YAML file" },
  executor: {
    type: "string",
    takes: "AGENT",
    multiple: true,
    doc: "Agent or model that does the work; repeat for fallbacks",
  },
  reviewer: {
    type: "string",
    takes: "AGENT",
    multiple: true,
    doc: "Agent or model that reviews it; repeat for several, see --reviews",
  },
  reviews: {
    type: "string",
    takes: "WHO",
    values: ["first", "all", "any"],
    doc: "Which of several reviewers decide: first (default; the others are fallbacks), all (each must approve) or any (one approval is enough)",
  },
  check: {
    type: "string",
    takes: "COMMAND",
    multiple: true,
    doc: "Command that must succeed after each round (repeatable)",
  },
  setup: {
    type: "string",
    takes: "COMMAND",
    doc: "Command that prepares the worktree, such as npm ci",
  },
  rounds: {
    type: "string",
    takes: "N",
    doc: "Maximum rounds of work and review, up to 10 (default: 3, or 1 without a check and a reviewer)",
  },
  attempts: { type: "string", takes: "N", doc: "Maximum attempts, up to 10 (default: 2)" },
  after: {
    type: "string",
    takes: "TASK",
    multiple: true,
    doc: "Task that must be done first (repeatable)",
  },
  at: {
    type: "string",
    takes: "TIME",
    doc: "Start at this time: 22:00 (the next one) or 2026-11-20 22:00",
  },
  "max-cost": { type: "string", takes: "USD", doc: "Maximum cost of the task" },
  "max-time": { type: "string", takes: "SECONDS", doc: "Maximum working time (default: 7200)" },
  limits: LIMIT_FLAGS.limits,
  "at-limit": {
    type: "string",
    takes: "MODE",
    values: ["auto", "ask", "never"],
    doc: "What to do at a usage limit: auto (default; continue after the reset), ask, or never (fail)",
  },
  "max-wait": {
    type: "string",
    takes: "SECONDS",
    doc: "Ask if a usage limit resets later than this, from 60 to 1209600 (default: 86400)",
  },
  merge: {
    type: "string",
    takes: "MODE",
    values: ["none", "branch", "squash", "rebase", "merge", "pr"],
    doc: "What to do with the result: none, branch (default), squash, rebase, merge, pr (with gh or glab)",
  },
  "approved-by": {
    type: "string",
    takes: "WHO",
    values: ["user", "reviewer"],
    doc: "Who approves the result: user (default) or reviewer",
  },
  allow: {
    type: "string",
    takes: "SET",
    values: ["sandbox", "tools"],
    doc: "What may run without asking: sandbox (default; commands in it) or tools (also MCP tools and network access)",
  },
  base: {
    type: "string",
    takes: "COMMIT",
    doc: "Branch or commit to start from (default: what is checked out)",
  },
  remote: {
    type: "string",
    takes: "REMOTE",
    doc: "Git remote (name or address) that workers on other machines clone from",
  },
  network: {
    type: "string",
    takes: "HOSTS",
    doc: "Hosts that commands may connect to without asking, separated by commas; none, or all",
  },
  git: {
    type: "string",
    takes: "MODE",
    values: ["off", "ask", "auto"],
    doc: "off: the agents cannot commit, and Flint commits their work (default: they commit in a copy of .git)",
  },
  pool: { type: "string", takes: "POOL", doc: "Let only workers of this pool run it (default: default)" },
  label: {
    type: "string",
    takes: "LABEL",
    multiple: true,
    doc: "Let only workers with this label run it, such as gpu; repeatable",
  },
  priority: { type: "string", takes: "N", doc: "Priority from -100 to 100; higher runs first (default: 0)" },
  ...JSON_FLAG,
  ...HELP_FLAG,
} as const satisfies Flags;
