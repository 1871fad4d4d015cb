import { type CommandGroup, command } from "../../command-line/command.ts";
import { HELP_FLAG, JSON_FLAG, REPLAY_FLAGS } from "../../command-line/flags.ts";

const threadFlags = { ...JSON_FLAG, ...HELP_FLAG };
const THREAD =
  "ID is a thread id, the beginning or end of one, a name, or `last` (the latest in this folder).";
const TURN = "flint threads show prints the number of each turn.";

/** The commands for stored threads. */
export const threads: CommandGroup = {
  summary: "List, show, search, replay, import, export, fork, revert and delete threads",
  aliases: { ls: "list", rm: "delete" },
  commands: {
    list: command({
      summary: "List threads, newest first",
      usage: "",
      flags: {
        here: { type: "boolean", doc: "Only threads in the current folder" },
        archived: { type: "boolean", doc: "List archived threads instead" },
        tasks: { type: "boolean", doc: "List the threads of tasks instead" },
        all: { type: "boolean", doc: "List the threads of tasks, too" },
        parent: {
          type: "string",
          takes: "ID",
          doc: "List the threads of the sub-agents of this thread instead",
        },
        limit: { type: "string", takes: "N", doc: "Maximum number of threads (default: 20)" },
        ...threadFlags,
      },
      examples: [
        "flint threads ls --here",
        "flint threads list --json --limit 100",
        "flint threads list --parent last",
      ],
      notes: [
        "The threads in which tasks work are left out. The other commands find them by id, and flint tasks open opens them.",
      ],
      run: async (given) => (await import("./list.ts")).listThreads(given),
    }),
    search: command({
      summary: "Search threads for text",
      usage: "TEXT",
      flags: {
        limit: { type: "string", takes: "N", doc: "Maximum number of threads (default: 20)" },
        ...threadFlags,
      },
      examples: ['flint threads search "login test"'],
      run: async (given) => (await import("./list.ts")).searchThreads(given),
    }),
    show: command({
      summary: "Print a thread",
      usage: "ID",
      flags: threadFlags,
      examples: ["flint threads show last"],
      notes: [THREAD],
      run: async (given) => (await import("./show.ts")).showThread(given),
    }),
    replay: command({
      summary: "Replay a thread in the terminal",
      usage: "ID",
      flags: { ...REPLAY_FLAGS, ...HELP_FLAG },
      examples: ["flint threads replay last", "flint threads replay last --turn 2 --speed 4"],
      notes: [THREAD, TURN, "Pauses of more than two seconds are shortened to two."],
      run: async (given) => (await import("./replay.ts")).replayThread(given),
    }),
    export: command({
      summary: "Export a thread as Markdown or JSON",
      usage: "ID",
      flags: {
        format: {
          type: "string",
          takes: "FORMAT",
          values: ["markdown", "json"],
          doc: "markdown (default) or json",
        },
        out: { type: "string", takes: "FILE", doc: "File to write (default: stdout)" },
        ...HELP_FLAG,
      },
      examples: ["flint threads export last --out thread.md", "flint threads export last --format json"],
      notes: [THREAD],
      run: async (given) => (await import("./show.ts")).exportThread(given),
    }),
    import: command({
      summary: "Import sessions of Claude Code and Codex as threads",
      usage: "[SESSION]",
      flags: {
        agent: {
          type: "string",
          takes: "AGENT",
          doc: "Only sessions of this agent, such as claude or codex",
        },
        here: { type: "boolean", doc: "Only sessions in the current folder" },
        last: { type: "boolean", doc: "Import the latest session" },
        all: { type: "boolean", doc: "Import all of the latest 100 sessions" },
        ...threadFlags,
      },
      examples: [
        "flint threads import",
        "flint threads import --agent claude --last",
        "flint threads import --all",
      ],
      notes: [
        "Without SESSION, lists the agents' own sessions. The next turn of an imported thread resumes the agent's session. Importing again adds new turns, unless the thread was continued in Flint.",
      ],
      run: async (given) => (await import("./import.ts")).importThreads(given),
    }),
    fork: command({
      summary: "Start a new thread with the history of another",
      usage: "ID",
      flags: {
        "last-turn": {
          type: "string",
          takes: "TURN",
          doc: "Last turn to copy, by number (#3 or 3) or id (default: the latest)",
        },
        ...threadFlags,
      },
      examples: ["flint threads fork last", "flint threads fork last --last-turn 2"],
      notes: [THREAD, TURN],
      run: async (given) => (await import("./change.ts")).forkThread(given),
    }),
    revert: command({
      summary: "Undo turns, with or without their file changes",
      usage: "ID",
      flags: {
        before: {
          type: "string",
          takes: "TURN",
          doc: "First turn to undo, by number (#3 or 3) or id (default: the latest)",
        },
        files: {
          type: "string",
          takes: "WHAT",
          values: ["keep", "restore"],
          doc: "keep (default) or restore the files",
        },
        preview: { type: "boolean", doc: "Show what would change without changing it" },
        undo: { type: "string", takes: "REVERT", doc: "Undo a revert: its id, or last" },
        ...threadFlags,
      },
      examples: [
        "flint threads revert last --files restore --preview",
        "flint threads revert last --files restore",
        "flint threads revert last --before 3",
        "flint threads revert last --undo last",
      ],
      notes: [THREAD, TURN],
      run: async (given) => (await import("./revert.ts")).revertThread(given),
    }),
    background: command({
      summary: "List or stop background commands of an agent",
      usage: "ID",
      flags: {
        stop: { type: "string", takes: "PROCESS", doc: "Stop this command, or all" },
        ...threadFlags,
      },
      examples: ["flint threads background last", "flint threads background last --stop all"],
      notes: [THREAD, "Background commands belong to the running server; without one, there are none."],
      run: async (given) => (await import("./background.ts")).backgroundCommands(given),
    }),
    name: command({
      summary: "Name a thread",
      usage: "ID NAME",
      flags: HELP_FLAG,
      examples: ['flint threads name last "login bug"'],
      notes: [THREAD],
      run: async (given) => (await import("./change.ts")).nameThread(given),
    }),
    archive: command({
      summary: "Archive a thread",
      usage: "ID",
      flags: HELP_FLAG,
      examples: ["flint threads archive last"],
      notes: [THREAD],
      run: async (given) => (await import("./change.ts")).archiveThread(given),
    }),
    unarchive: command({
      summary: "Unarchive a thread",
      usage: "ID",
      flags: HELP_FLAG,
      examples: ["flint threads unarchive 019a"],
      notes: [THREAD],
      run: async (given) => (await import("./change.ts")).unarchiveThread(given),
    }),
    delete: command({
      summary: "Delete a thread and its log permanently",
      usage: "ID",
      flags: { yes: { type: "boolean", short: "y", doc: "Do not ask for confirmation" }, ...HELP_FLAG },
      examples: ["flint threads rm last --yes"],
      notes: [THREAD],
      run: async (given) => (await import("./change.ts")).deleteThread(given),
    }),
  },
};
