import type { ParamsInput } from "@flint/protocol";
import { UsageError } from "../../command-line/command.ts";
import { say, sayJson } from "../../command-line/output.ts";
import { withTaskServer } from "../tasks/task-server.ts";
import type { ExecOptions } from "./options.ts";

/** Why an option cannot be combined with --detach, by option. */
const WATCHED = [
  "resume",
  "continue",
  "image",
  "output-schema",
  "output-last-message",
  "ephemeral",
  "quiet",
] as const;

interface DetachedTurn {
  readonly options: ExecOptions;
  readonly cwd: string;
  readonly model: string | undefined;
  readonly prompt: string;
  readonly json: boolean;
}

/** Refuses options that a detached turn cannot follow. */
export function checkDetached(values: Readonly<Record<string, unknown>>): void {
  const given = WATCHED.find((name) => values[name] !== undefined && values[name] !== false);
  if (given !== undefined) throw new UsageError(`--detach cannot be used with --${given}.`);
}

/** `flint exec --detach`: hands the prompt over as a task, and returns at once. */
export async function execDetached({ options, cwd, model, prompt, json }: DetachedTurn): Promise<number> {
  const { seconds, costUsd, tokens } = options.limits ?? {};
  const task: ParamsInput<"task/add">["tasks"][number] = {
    ...{ prompt, cwd, rounds: 1 },
    ...(model === undefined ? {} : { executors: [{ model }] }),
    budget: {
      ...(seconds === undefined ? {} : { seconds: Math.ceil(seconds) }),
      ...(costUsd === undefined ? {} : { costUsd }),
      ...(tokens === undefined ? {} : { tokens }),
    },
  };
  const { data } = await withTaskServer((client) => client.call("task/add", { tasks: [task] }));
  const [added] = data;
  if (json) return sayJson(added);
  const number = added?.number ?? 0;
  return say(
    `Task ${number} runs in the background.\nflint tasks logs ${number} -f follows it, and flint tasks show ${number} says how it stands.\n`,
  );
}
