import type { TaskAnswer, TaskAsk, TaskRow } from "@flint/protocol";
import type { FlintClient } from "@flint/sdk";
import type { CommandId } from "@flint/view/commands";
import { hasEnded, isMergeable, roundChoice } from "@flint/view/tasks";

/** The keys of a task's page. */
export type TaskCommand = Extract<CommandId, `task${string}`>;

/** The action of a key on a task. */
export type TaskAction = {
  readonly command: TaskCommand;
  /** Description of the key, in a word or two. */
  readonly label: string;
} & (
  | { readonly kind: "open" }
  /** Opens the result first; the same key there carries it out, for exactly that result. */
  | { readonly kind: "judge"; readonly done: string; run(client: FlintClient, tree: string | null): Call }
  /** `confirm` is what pressing the key again does. */
  | { readonly kind: "do"; readonly confirm?: string; readonly done: string; run(client: FlintClient): Call }
  | {
      readonly kind: "write";
      readonly prompt: string;
      readonly isRequired: boolean;
      readonly done: string;
      run(client: FlintClient, text: string): Call;
    }
);

type Call = Promise<unknown>;

/** Returns the actions on a task in its phase, beginning with what it waits for. */
export function actionsFor(task: TaskRow): readonly TaskAction[] {
  return [...decisions(task), ...views(task), ...controls(task)];
}

function decisions(task: TaskRow): TaskAction[] {
  const taskId = task.id;
  if (task.phase === "asking" && task.ask !== undefined) return answers(task, task.ask);
  if (task.phase === "approving")
    return [
      {
        kind: "judge",
        command: "taskApprove",
        label: "approve",
        done: "Approved.",
        run: (client, tree) => client.call("task/approve", { taskId, tree }),
      },
      {
        kind: "write",
        command: "taskReply",
        label: "request changes",
        isRequired: true,
        prompt: "What should change?",
        done: "Sent back to the executor.",
        run: (client, comments) => client.call("task/reject", { taskId, comments }),
      },
    ];
  if (isMergeable(task))
    return [
      {
        kind: "judge",
        command: "taskMerge",
        label: "merge",
        done: "It is being merged.",
        run: (client, tree) => client.call("task/merge", { taskId, tree }),
      },
    ];
  if (hasEnded(task)) return [];
  return [
    {
      kind: "write",
      command: "taskReply",
      label: "message",
      isRequired: true,
      prompt: "Message to the executor",
      done: "Sent to the executor.",
      run: (client, content) => client.call("task/steer", { taskId, content }),
    },
  ];
}

function answers({ id: taskId, result }: TaskRow, { id: askId, reason }: TaskAsk): TaskAction[] {
  const send = (client: FlintClient, answer: TaskAnswer) =>
    client.call("task/answer", { taskId, askId, answer });
  const words = (text: string) => (text === "" ? {} : { message: text });
  const giveUp: TaskAction = {
    kind: "do",
    command: "taskGiveUp",
    label: "give up",
    done: "Given up.",
    confirm: "give up on this task",
    run: (client) => send(client, { choice: "fail" }),
  };
  if (reason === "approval")
    return [
      {
        kind: "do",
        command: "taskApprove",
        label: "allow once",
        done: "Allowed once.",
        run: (client) => send(client, { choice: "continue", response: { outcome: "allow" } }),
      },
      {
        kind: "write",
        command: "taskReply",
        label: "decline",
        isRequired: false,
        done: "Declined.",
        prompt: "Why not? (may be empty)",
        run: (client, text) =>
          send(client, { choice: "continue", ...words(text), response: { outcome: "deny" } }),
      },
      giveUp,
    ];
  const reply: TaskAction = {
    kind: "write",
    command: "taskReply",
    isRequired: false,
    done: "Answered; the task continues.",
    label: reason === "question" ? "answer" : "continue",
    prompt: reason === "question" ? "Your answer" : "What should the executor do? (may be empty)",
    run: (client, text) => send(client, { choice: "continue", ...words(text) }),
  };
  const accept: TaskAction = {
    kind: "judge",
    command: "taskApprove",
    label: "accept as it is",
    done: "Accepted.",
    run: (client) => send(client, { choice: "accept" }),
  };
  return [reply, ...(result === undefined ? [] : [accept]), giveUp];
}

function views({ result, thread }: TaskRow): TaskAction[] {
  return [
    ...(result === undefined ? [] : [{ kind: "open", command: "taskDiff", label: "diff" } as const]),
    { kind: "open", command: "taskLog", label: "log" },
    ...(thread === undefined ? [] : [{ kind: "open", command: "taskThread", label: "thread" } as const]),
  ];
}

async function retry(client: FlintClient, taskId: string, from: string): Call {
  const chosen = from === "" ? {} : roundChoice(from);
  if (chosen === undefined) throw new Error("Write a round as r2, an attempt as a1, or both as a1.r2.");
  return client.call("task/retry", { taskId, ...chosen });
}

function controls(task: TaskRow): TaskAction[] {
  const taskId = task.id;
  if (hasEnded(task))
    return [
      {
        kind: "write",
        command: "taskRetry",
        label: "run again",
        isRequired: false,
        prompt: "From which round, such as r2 or a1.r2? (empty: from the start)",
        done: "It runs again.",
        run: (client, text) => retry(client, taskId, text.trim()),
      },
    ];
  const isWaiting = task.phase === "asking" || task.phase === "approving";
  const pause: TaskAction =
    task.phase === "suspended"
      ? {
          kind: "do",
          command: "taskSuspend",
          label: "resume",
          done: "Resumed.",
          run: (client) => client.call("task/resume", { taskId }),
        }
      : {
          kind: "do",
          command: "taskSuspend",
          label: "suspend",
          done: "Suspended.",
          run: (client) => client.call("task/suspend", { taskId }),
        };
  return [
    ...(isWaiting ? [] : [pause]),
    {
      kind: "do",
      command: "taskCancel",
      label: "cancel",
      done: "Cancelled. Its commits are kept.",
      confirm: "cancel this task",
      run: (client) => client.call("task/cancel", { taskId }),
    },
  ];
}
