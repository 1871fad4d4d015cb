import { command } from "../../command-line/command.ts";
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
    "Tasks come from servers with tasks.redis in their configuration. A task that wants more than the options allow is not run: it asks, and says which option.",
    "SIGTERM and Ctrl-C take no more tasks, wait for what runs, and give the rest back; a second one does not wait. Exits with 1 if Redis is absent, rejects the password, is read-only or evicts, or if another version of Flint wrote its tasks.",
  ],
  run: async (given) => (await import("./worker.ts")).runWorker(given),
});
