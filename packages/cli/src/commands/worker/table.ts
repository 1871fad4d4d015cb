import { type CommandGroup, command } from "../../command-line/command.ts";
import { HELP_FLAG, JSON_FLAG } from "../../command-line/flags.ts";
import { WORKER_FLAGS } from "./flags.ts";

/** `flint worker`. */
export const worker = command({
  summary: "Run the tasks of a fleet on this machine",
  usage: "[--redis URL] [--trust KEY]",
  flags: WORKER_FLAGS,
  examples: [
    "flint worker --redis redis://queue.example:6379 --trust flint-key:… --folder /srv/repos --concurrency 4",
    "flint worker --pool linux --pool gpu --label zone=eu",
  ],
  notes: [
    "Tasks come from servers with tasks.redis in their configuration. A task that needs more than these options allow does not run: it asks you, and names the option.",
    "On SIGTERM or Ctrl-C, the worker takes no new tasks, waits for the running ones and returns the rest to the queue; a second signal skips the wait. Exits with 1 if Redis cannot be reached, rejects the password, is read-only or evicts keys, or if another version of Flint wrote its tasks.",
  ],
  run: async (given) => (await import("./worker.ts")).runWorker(given),
});

/** The commands for the workers of a fleet. */
export const workers: CommandGroup = {
  summary: "List and drain the workers that run tasks",
  aliases: { ls: "list" },
  bare: "list",
  commands: {
    list: command({
      summary: "List workers, what they run and which tasks they take",
      usage: "",
      flags: { ...JSON_FLAG, ...HELP_FLAG },
      examples: ["flint workers", "flint workers ls --json"],
      notes: [
        "Without tasks.redis in the configuration, the server runs tasks itself, as the worker named local.",
      ],
      run: async (given) => (await import("./workers.ts")).listWorkers(given),
    }),
    drain: command({
      summary: "Stop a worker once its running tasks are finished",
      usage: "NAME",
      flags: { ...JSON_FLAG, ...HELP_FLAG },
      examples: ["flint workers drain build-2"],
      notes: [
        "As with SIGTERM, the worker waits as long as its --drain allows, and returns unfinished tasks to the queue.",
      ],
      run: async (given) => (await import("./workers.ts")).drainWorker(given),
    }),
  },
};
