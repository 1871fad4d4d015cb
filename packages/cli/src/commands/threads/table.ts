import { type CommandGroup, command } from "../../command-line/command.ts";
import { HELP_FLAG, JSON_FLAG } from "../../command-line/flags.ts";

const threadFlags = { ...JSON_FLAG, ...HELP_FLAG };
const THREAD = "ID is an id, the beginning of one, a name, or `last`.";

/** Everything about stored threads. */
export const threads: CommandGroup = {
  summary: "list, show, search, export, fork, revert and delete threads",
  commands: {
    list: command({
      summary: "the threads, newest first",
      usage: "",
      flags: {
        here: { type: "boolean", doc: "only those of this folder" },
        archived: { type: "boolean", doc: "those that were put away" },
        limit: { type: "string", takes: "N", doc: "how many (default: 20)" },
        ...threadFlags,
      },
      examples: ["flint threads list --here", "flint threads list --json --limit 100"],
      run: async (given) => (await import("./list.ts")).listThreads(given),
    }),
    search: command({
      summary: "the threads in which these words were said",
      usage: "WORDS",
      flags: { limit: { type: "string", takes: "N", doc: "how many (default: 20)" }, ...threadFlags },
      examples: ['flint threads search "login test"'],
      run: async (given) => (await import("./list.ts")).searchThreads(given),
    }),
    show: command({
      summary: "what was said and done in a thread",
      usage: "ID",
      flags: threadFlags,
      examples: ["flint threads show last"],
      notes: [THREAD],
      run: async (given) => (await import("./show.ts")).showThread(given),
    }),
    export: command({
      summary: "a thread as a file",
      usage: "ID",
      flags: {
        format: {
          type: "string",
          takes: "FORMAT",
          values: ["markdown", "json"],
          doc: "markdown (default) or json",
        },
        out: { type: "string", takes: "FILE", doc: "where to (default: stdout)" },
        ...HELP_FLAG,
      },
      examples: ["flint threads export last --out talk.md", "flint threads export last --format json"],
      notes: [THREAD],
      run: async (given) => (await import("./show.ts")).exportThread(given),
    }),
    fork: command({
      summary: "a new thread with the history of another",
      usage: "ID",
      flags: { "last-turn": { type: "string", takes: "TURN", doc: "up to this turn" }, ...threadFlags },
      examples: ["flint threads fork last"],
      notes: [THREAD],
      run: async (given) => (await import("./change.ts")).forkThread(given),
    }),
    revert: command({
      summary: "go back to the moment before a turn, with or without the files",
      usage: "ID",
      flags: {
        before: { type: "string", takes: "TURN", doc: "the first turn to drop (default: the latest)" },
        files: {
          type: "string",
          takes: "WHAT",
          values: ["keep", "restore"],
          doc: "keep (default) or restore",
        },
        preview: { type: "boolean", doc: "only show what would change" },
        undo: { type: "string", takes: "REVERT", doc: "take a revert back: its id, or last" },
        ...threadFlags,
      },
      examples: [
        "flint threads revert last --files restore --preview",
        "flint threads revert last --files restore",
        "flint threads revert last --undo last",
      ],
      notes: [THREAD],
      run: async (given) => (await import("./revert.ts")).revertThread(given),
    }),
    name: command({
      summary: "give a thread a name",
      usage: "ID NAME",
      flags: HELP_FLAG,
      examples: ['flint threads name last "login bug"'],
      notes: [THREAD],
      run: async (given) => (await import("./change.ts")).nameThread(given),
    }),
    archive: command({
      summary: "put a thread away",
      usage: "ID",
      flags: HELP_FLAG,
      examples: ["flint threads archive last"],
      notes: [THREAD],
      run: async (given) => (await import("./change.ts")).archiveThread(given),
    }),
    unarchive: command({
      summary: "take a thread out of the archive",
      usage: "ID",
      flags: HELP_FLAG,
      examples: ["flint threads unarchive 019a"],
      notes: [THREAD],
      run: async (given) => (await import("./change.ts")).unarchiveThread(given),
    }),
    delete: command({
      summary: "delete a thread and its log for good",
      usage: "ID",
      flags: { yes: { type: "boolean", short: "y", doc: "do not ask" }, ...HELP_FLAG },
      examples: ["flint threads delete last --yes"],
      notes: [THREAD],
      run: async (given) => (await import("./change.ts")).deleteThread(given),
    }),
  },
};
