import type { ParamsInput } from "@flint/protocol";
import { type ParsedArguments, UsageError } from "../../command-line/command.ts";
import { print, printJson } from "../../command-line/output.ts";
import { isCommandLine, serverOptions } from "../../command-line/server-options.ts";
import { withTaskServer } from "../tasks/task-server.ts";
import { isPiped, readPiped, textInput } from "./input.ts";
import { type EXEC_FLAGS, readExecOptions } from "./options.ts";

type Values = ParsedArguments<typeof EXEC_FLAGS>["values"];
type Task = ParamsInput<"task/add">["tasks"][number];

/** The options that a task follows, or that concern only what this command itself prints. All others are refused. */
const FOLLOWED: ReadonlySet<string> = new Set<keyof typeof EXEC_FLAGS>([
  ...(["detach", "help", "json"] as const),
  ...(["cwd", "model", "agent", "offline", "network", "git"] as const),
  ...(["max-tokens", "max-cost", "max-time", "limits"] as const),
]);

/** `flint exec --detach`: hands the prompt over as a task, and returns at once. */
export async function execDetached({
  values,
  positionals,
}: ParsedArguments<typeof EXEC_FLAGS>): Promise<number> {
  const request = await detachedRequest(values);
  const log = (text: string): void => void process.stderr.write(text);
  const piped = isPiped(process.stdin) ? await readPiped(process.stdin, log) : undefined;
  const texts = textInput(positionals, piped);
  const prompt = texts.map((part) => (part.type === "text" ? part.text : "")).join("\n\n");
  const task = { ...request, prompt };
  const { data } = await withTaskServer((client) => client.call("task/add", { tasks: [task] }));
  const [added] = data;
  if (values.json === true) return printJson(added);
  const number = added?.number ?? 0;
  return print(
    `Task ${number} runs in the background.\nflint tasks logs ${number} -f follows it, and flint tasks show ${number} shows its status.\n`,
  );
}

/** Refuses options that a detached turn cannot follow: none may be dropped silently. */
function checkDetached(values: Values): void {
  const given = Object.entries(values).filter(([, value]) => value !== undefined && value !== false);
  const other = given.map(([name]) => name).find((name) => !FOLLOWED.has(name));
  if (other !== undefined) throw new UsageError(`--detach cannot be used with --${other}.`);
  if (values.offline === true && values.agent !== undefined && values.agent !== "flint")
    throw new UsageError("--detach cannot be used with --offline and another agent: leave out --agent.");
  if (values.agent !== undefined && isCommandLine(values.agent))
    throw new UsageError("--detach needs the name of an agent. Add the command to your configuration.");
}

/**
 * Returns the request for a task with these options; the configuration of its server has the rest. Throws for
 * options that no task follows.
 */
export async function detachedRequest(values: Values): Promise<Omit<Task, "prompt">> {
  checkDetached(values);
  const { limits = {}, enforcement } = readExecOptions(values);
  const server = await serverOptions(values);
  const isChosen = (name: keyof typeof server) => server.chosen?.includes(name) === true;
  const { seconds, costUsd, tokens } = limits;
  return {
    ...{ cwd: server.cwd, rounds: 1 },
    ...(isChosen("model") ? { executors: [{ model: server.model }] } : {}),
    ...(isChosen("network") ? { network: server.network } : {}),
    ...(isChosen("git") ? { git: server.git } : {}),
    budget: {
      ...(seconds === undefined ? {} : { seconds: Math.ceil(seconds) }),
      ...(costUsd === undefined ? {} : { costUsd }),
      ...(tokens === undefined ? {} : { tokens }),
      ...(enforcement === undefined ? {} : { enforcement }),
    },
  };
}
