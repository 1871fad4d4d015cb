import { HELP_FLAG, SERVER_FLAGS } from "../../command-line/flags.ts";

/** The options of `flint worker`, besides those of every server. */
export const WORKER_FLAGS = {
  redis: {
    type: "string",
    takes: "URL",
    doc: "Redis of the fleet (default: tasks.redis of the configuration)",
  },
  namespace: { type: "string", takes: "NAME", doc: "Fleet within that Redis (default: default)" },
  name: { type: "string", takes: "NAME", doc: "Name of this worker (default: the host's name)" },
  pool: {
    type: "string",
    multiple: true,
    takes: "POOL",
    doc: "Take tasks from this pool; repeatable (default: default)",
  },
  label: {
    type: "string",
    multiple: true,
    takes: "LABEL",
    doc: "Also take tasks with this label, such as gpu or zone=eu; repeatable",
  },
  concurrency: { type: "string", takes: "N", doc: "How many tasks to run at once (default: 1)" },
  trust: {
    type: "string",
    multiple: true,
    takes: "KEY",
    doc: "Run tasks signed with this key (flint tasks key prints it); repeatable",
  },
  folder: {
    type: "string",
    multiple: true,
    takes: "DIR",
    doc: "Let tasks work on repositories in this folder; repeatable (default: the current folder)",
  },
  project: {
    type: "string",
    multiple: true,
    takes: "URL=DIR",
    doc: "Use the clone in DIR for tasks whose git remote is URL; repeatable",
  },
  remote: {
    type: "string",
    multiple: true,
    takes: "URL",
    doc: "Also let tasks use this git remote, or any below it; repeatable (default: the repository's own remotes)",
  },
  agents: {
    type: "string",
    takes: "AGENT,...",
    doc: "Allow only these agents; the first is the default, unless --agent names another",
  },
  merge: {
    type: "string",
    takes: "MODE,...",
    doc: "What tasks may do with their results (default: none,branch)",
  },
  "allow-network": { type: "boolean", doc: "Let tasks give their commands network access" },
  "allow-tools": { type: "boolean", doc: "Let tasks run with --allow tools, inside the sandbox" },
  "max-time": { type: "string", takes: "SECONDS", doc: "Refuse tasks with a longer time limit" },
  "max-cost": { type: "string", takes: "USD", doc: "Refuse tasks with a higher cost limit" },
  drain: {
    type: "string",
    takes: "SECONDS",
    doc: "On SIGTERM, let running tasks continue this long before they return to the queue (default: 60)",
  },
  agent: SERVER_FLAGS.agent,
  model: SERVER_FLAGS.model,
  offline: SERVER_FLAGS.offline,
  ...HELP_FLAG,
} as const;
