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
    doc: "Take tasks of this pool; repeatable (default: default)",
  },
  label: {
    type: "string",
    multiple: true,
    takes: "LABEL",
    doc: "Also take tasks that ask for this label, such as gpu or zone=eu; repeatable",
  },
  concurrency: { type: "string", takes: "N", doc: "Tasks at once (default: 1)" },
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
    doc: "Clone on this machine for tasks that come by this git remote; repeatable",
  },
  remote: {
    type: "string",
    multiple: true,
    takes: "URL",
    doc: "Let tasks in these folders also use this git remote, or those below it; repeatable (default: the repository's own)",
  },
  agents: {
    type: "string",
    takes: "AGENT,...",
    doc: "Let only these agents work; the first does tasks that name none, unless --agent names another of them",
  },
  merge: {
    type: "string",
    takes: "MODE,...",
    doc: "Let tasks bring in results these ways (default: none,branch)",
  },
  "allow-network": { type: "boolean", doc: "Let tasks allow hosts for their commands" },
  "allow-accept": { type: "boolean", doc: "Let tasks accept every approval inside the sandbox" },
  "max-time": { type: "string", takes: "SECONDS", doc: "Refuse tasks that may work longer" },
  "max-cost": { type: "string", takes: "USD", doc: "Refuse tasks that may cost more" },
  drain: {
    type: "string",
    takes: "SECONDS",
    doc: "On SIGTERM, let running tasks work this long before they are given back (default: 60)",
  },
  agent: SERVER_FLAGS.agent,
  model: SERVER_FLAGS.model,
  offline: SERVER_FLAGS.offline,
  ...HELP_FLAG,
} as const;
