import { type CommandGroup, command } from "../../command-line/command.ts";
import { HELP_FLAG, JSON_FLAG } from "../../command-line/flags.ts";
import { ADD_FLAGS } from "./add-flags.ts";

const taskFlags = { ...JSON_FLAG, ...HELP_FLAG };
const TASK = "TASK is the number of a task, as shown by flint tasks list.";

/** The commands for tasks. */
export const tasks: CommandGroup = {
  summary: "Delegate work to agents and get it back checked and reviewed",
  aliases: { ls: "list", rm: "remove" },
  bare: "list",
  commands: {
    add: command({
      summary: "Add a task, or all tasks in a file",
      usage: "[PROMPT]",
      flags: ADD_FLAGS,
      examples: [
        'flint tasks add "port the config module to TOML" --executor claude --reviewer codex --check "npm test"',
        "flint tasks add --file tasks.yaml",
      ],
      notes: [
        "The executor works in its own worktree; your checkout and branches do not change. The task runs in the background server and continues when you close the terminal.",
      ],
      run: async (given) => (await import("./add.ts")).addTasks(given),
    }),
    list: command({
      summary: "List tasks, those waiting for you first",
      usage: "",
      flags: {
        all: { type: "boolean", doc: "Include finished tasks" },
        asking: { type: "boolean", doc: "Only tasks that need an answer or an approval" },
        mine: { type: "boolean", doc: "Only tasks that you added, in a fleet with other users" },
        label: {
          type: "string",
          takes: "LABEL",
          multiple: true,
          doc: "Only tasks with this label; repeatable",
        },
        ...taskFlags,
      },
      examples: ["flint tasks", "flint tasks ls --asking", "flint tasks ls --all --label gpu"],
      run: async (given) => (await import("./list.ts")).listTasks(given),
    }),
    watch: command({
      summary: "Follow tasks until they are done or need you",
      usage: "[TASK]",
      flags: {
        bell: { type: "boolean", doc: "Ring the terminal bell when a task needs you or ends" },
        ...HELP_FLAG,
      },
      examples: ["flint tasks watch", "flint tasks watch 7"],
      notes: [TASK, "Exits with 10 if a task needs you, 11 if one is suspended, and 1 if one failed."],
      run: async (given) => (await import("./watch.ts")).watchTasks(given),
    }),
    show: command({
      summary: "Show a task: rounds, checks, findings, cost",
      usage: "TASK",
      flags: taskFlags,
      examples: ["flint tasks show 7"],
      notes: [TASK],
      run: async (given) => (await import("./show.ts")).showTask(given),
    }),
    open: command({
      summary: "Open the thread of a task's executor in a session",
      usage: "TASK",
      flags: HELP_FLAG,
      examples: ["flint tasks open 7"],
      notes: [TASK],
      run: async (given) => (await import("./show.ts")).openTask(given),
    }),
    logs: command({
      summary: "Show what happened to a task, with its agents' reasoning",
      usage: "TASK",
      flags: {
        follow: { type: "boolean", short: "f", doc: "Keep printing until the task is done or needs you" },
        json: { type: "boolean", doc: "Print each event as a line of JSON" },
        ...HELP_FLAG,
      },
      examples: ["flint tasks logs 7", "flint tasks logs 7 -f"],
      notes: [TASK],
      run: async (given) => (await import("./logs.ts")).showLogs(given),
    }),
    diff: command({
      summary: "Show the result of a task as a diff",
      usage: "TASK",
      flags: HELP_FLAG,
      examples: ["flint tasks diff 7"],
      notes: [TASK],
      run: async (given) => (await import("./show.ts")).showDiff(given),
    }),
    approve: command({
      summary: "Approve the result of a task",
      usage: "TASK",
      flags: {
        yes: { type: "boolean", short: "y", doc: "Approve without showing the diff" },
        ...taskFlags,
      },
      examples: ["flint tasks approve 7"],
      notes: [TASK],
      run: async (given) => (await import("./decide.ts")).approveTask(given),
    }),
    merge: command({
      summary: "Merge a result that is done but not merged",
      usage: "TASK",
      flags: {
        merge: {
          type: "string",
          takes: "MODE",
          values: ["branch", "squash", "rebase", "merge", "pr"],
          doc: "How to merge: branch, squash, rebase, merge or pr (default: as the task was added, or branch if that was none)",
        },
        yes: { type: "boolean", short: "y", doc: "Merge without showing the diff" },
        ...taskFlags,
      },
      examples: ["flint tasks merge 7", "flint tasks merge 7 --merge squash"],
      notes: [
        TASK,
        "Use it for a task that was added with --merge none, or whose merge needs an answer, for example because the branch moved or no pull request could be opened.",
      ],
      run: async (given) => (await import("./decide.ts")).mergeTask(given),
    }),
    reject: command({
      summary: "Request changes to the result of a task",
      usage: "TASK COMMENTS",
      flags: taskFlags,
      examples: ['flint tasks reject 7 "keep the old key as an alias"'],
      notes: [TASK],
      run: async (given) => (await import("./decide.ts")).rejectTask(given),
    }),
    answer: command({
      summary: "Answer a task's question",
      usage: "TASK [MESSAGE]",
      flags: {
        accept: { type: "boolean", doc: "Accept the result as it is" },
        fail: { type: "boolean", doc: "Give up on the task" },
        decline: { type: "boolean", doc: "Decline the action that the agent asked about" },
        ...taskFlags,
      },
      examples: [
        "flint tasks answer 7",
        'flint tasks answer 7 "use the v2 API"',
        "flint tasks answer 7 --accept",
      ],
      notes: [
        TASK,
        "Without an option the task continues, and the action that the agent asked about is allowed once.",
      ],
      run: async (given) => (await import("./decide.ts")).answerTask(given),
    }),
    steer: command({
      summary: "Send a message to the executor of a task",
      usage: "TASK MESSAGE",
      flags: taskFlags,
      examples: ['flint tasks steer 7 "leave the tests alone"'],
      notes: [TASK],
      run: async (given) => (await import("./decide.ts")).steerTask(given),
    }),
    suspend: command({
      summary: "Suspend a task, or all of them",
      usage: "[TASK]",
      flags: {
        all: { type: "boolean", doc: "Suspend all tasks that have not ended and do not wait for you" },
        ...taskFlags,
      },
      examples: ["flint tasks suspend 7", "flint tasks suspend --all"],
      notes: [TASK],
      run: async (given) => (await import("./suspend.ts")).suspendTask(given),
    }),
    resume: command({
      summary: "Resume a suspended task now, or all of them",
      usage: "[TASK]",
      flags: { all: { type: "boolean", doc: "Resume all suspended tasks" }, ...taskFlags },
      examples: ["flint tasks resume 7", "flint tasks resume --all"],
      notes: [TASK],
      run: async (given) => (await import("./suspend.ts")).resumeTask(given),
    }),
    cancel: command({
      summary: "Cancel a task",
      usage: "TASK",
      flags: taskFlags,
      examples: ["flint tasks cancel 7"],
      notes: [TASK],
      run: async (given) => (await import("./decide.ts")).cancelTask(given),
    }),
    retry: command({
      summary: "Run a finished task again",
      usage: "TASK",
      flags: {
        from: {
          type: "string",
          takes: "ROUND",
          doc: "Start from the result of a round: r2 of the last attempt, a1.r2 of attempt 1, or a1, its last round",
        },
        ...taskFlags,
      },
      examples: ["flint tasks retry 7", "flint tasks retry 7 --from r2", "flint tasks retry 7 --from a1.r2"],
      notes: [
        TASK,
        "The task starts again from its base, in a new worktree. flint tasks show lists its rounds.",
      ],
      run: async (given) => (await import("./decide.ts")).retryTask(given),
    }),
    key: command({
      summary: "Print the key that signs this machine's tasks",
      usage: "",
      flags: HELP_FLAG,
      examples: ["flint tasks key", 'flint worker --trust "$(flint tasks key)"'],
      notes: ["Workers on other machines run your tasks if they trust this key."],
      run: async (given) => (await import("./key.ts")).printKey(given),
    }),
    clean: command({
      summary: "Remove the worktrees of finished tasks",
      usage: "[TASK...]",
      flags: {
        "dry-run": { type: "boolean", short: "n", doc: "List what would be removed, with sizes" },
        "older-than": {
          type: "string",
          takes: "AGE",
          doc: "Only tasks that ended at least this long ago, such as 12h or 7d",
        },
        force: {
          type: "boolean",
          doc: "Include failed and cancelled tasks, and discard uncommitted changes",
        },
        ...taskFlags,
      },
      examples: [
        "flint tasks clean --dry-run",
        "flint tasks clean --older-than 7d",
        "flint tasks clean 7 --force",
      ],
      notes: [
        "Without TASK, removes the worktrees of all tasks that are done; a named task may also have failed or been cancelled. The tasks stay listed and their commits stay under refs/flint/tasks. A task that you run again gets a new worktree. Unfinished tasks always keep theirs.",
      ],
      run: async (given) => (await import("./clean.ts")).cleanTasks(given),
    }),
    remove: command({
      summary: "Remove a finished task and its worktree",
      usage: "TASK",
      flags: taskFlags,
      examples: ["flint tasks rm 7"],
      notes: [TASK, "The commits of the task stay under refs/flint/tasks."],
      run: async (given) => (await import("./decide.ts")).removeTask(given),
    }),
  },
};
