import { type Flags, HELP_FLAG, JSON_FLAG } from "../../command-line/flags.ts";

/** The options of `flint tasks add`. */
export const ADD_FLAGS = {
  file: { type: "string", takes: "FILE", doc: "Add the tasks of a YAML file" },
  executor: {
    type: "string",
    takes: "AGENT",
    multiple: true,
    doc: "Agent or model that does the work (repeatable: the next takes over)",
  },
  reviewer: {
    type: "string",
    takes: "AGENT",
    multiple: true,
    doc: "Agent or model that reviews it (repeatable)",
  },
  check: {
    type: "string",
    takes: "COMMAND",
    multiple: true,
    doc: "Command that has to succeed after each round (repeatable)",
  },
  rounds: { type: "string", takes: "N", doc: "Most rounds of work and review, up to 10 (default: 3)" },
  attempts: { type: "string", takes: "N", doc: "Most attempts, up to 10 (default: 2)" },
  after: {
    type: "string",
    takes: "TASK",
    multiple: true,
    doc: "Task that has to be done first (repeatable)",
  },
  "max-cost": { type: "string", takes: "USD", doc: "Most that the task may cost" },
  "max-time": { type: "string", takes: "SECONDS", doc: "Longest working time (default: 7200)" },
  merge: {
    type: "string",
    takes: "MODE",
    values: ["none", "branch", "squash", "rebase", "merge"],
    doc: "What to do with the result: none, branch (default), squash, rebase, merge",
  },
  approve: {
    type: "string",
    takes: "WHO",
    values: ["person", "reviewer"],
    doc: "Who approves the result: person (default) or reviewer",
  },
  approvals: {
    type: "string",
    takes: "MODE",
    values: ["policy", "accept"],
    doc: "What runs without asking: policy, commands in the sandbox (default); accept, also tools and network access",
  },
  base: {
    type: "string",
    takes: "COMMIT",
    doc: "Branch or commit to start from (default: what is checked out)",
  },
  network: {
    type: "string",
    takes: "HOSTS",
    doc: "Hosts that commands may connect to: none, all, or a list",
  },
  priority: { type: "string", takes: "N", doc: "From -100 to 100; higher comes first" },
  ...JSON_FLAG,
  ...HELP_FLAG,
} as const satisfies Flags;
