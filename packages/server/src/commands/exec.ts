import { resolve } from "node:path";
import { TurnFailedError } from "@flint/sdk";
import { embed } from "../embed.ts";
import { visible } from "../visible.ts";
import { readArguments, SERVER_FLAGS, serverOptions, UsageError } from "./arguments.ts";
import { ExecScreen } from "./exec-screen.ts";
import { askLine } from "./terminal.ts";

/** `flint exec "PROMPT"`: one turn in a new thread, shown as it happens. */
export async function exec(args: readonly string[]): Promise<number> {
  const { values, positionals } = readArguments(args, SERVER_FLAGS);
  const prompt = positionals.join(" ");
  if (prompt === "") throw new UsageError('exec needs a prompt: flint exec "what is in this folder?"');
  const options = serverOptions(values);
  const cwd = resolve(options.cwd ?? ".");
  const embedded = await embed({ ...options, cwd }, { onApproval: decide, onQuestion: answer });
  const interrupt = new AbortController();
  process.once("SIGINT", () => interrupt.abort());
  process.once("SIGTERM", () => interrupt.abort());
  try {
    return await runTurn(embedded.client, cwd, prompt, interrupt.signal);
  } finally {
    await embedded.close();
  }
}

type Client = Awaited<ReturnType<typeof embed>>["client"];
type ConnectCallbacks = NonNullable<Parameters<typeof embed>[1]>;

async function runTurn(client: Client, cwd: string, prompt: string, signal: AbortSignal): Promise<number> {
  const screen = new ExecScreen((text) => void process.stdout.write(text));
  const thread = await client.startThread({ cwd });
  try {
    const result = await thread.run(prompt, { signal, onEvent: (event) => screen.show(event) });
    if (result.status !== "completed") screen.end(`The turn was ${result.status}.`);
    return result.status === "completed" ? 0 : 1;
  } catch (error) {
    if (!(error instanceof TurnFailedError)) throw error;
    screen.end(`The turn failed: ${error.message}`);
    return 1;
  }
}

const decide: ConnectCallbacks["onApproval"] = async (request, { signal }) => {
  const shown = visible(describe(request));
  const line = await askLine(
    `\n${shown}\n\nAllow it? [y] once  [s] for this thread  [a] always  [n] no: `,
    signal,
  );
  switch (line?.toLowerCase()) {
    case "y":
      return "accept";
    case "s":
      return "acceptForSession";
    case "a":
      return "acceptAlways";
    default: {
      const message =
        line === undefined
          ? "Nobody is at a terminal to allow it. Run it in one, or with --approval never."
          : "The user said no.";
      return { decision: "decline", message };
    }
  }
};

type ApprovalRequest = Parameters<NonNullable<ConnectCallbacks["onApproval"]>>[0];

function describe(request: ApprovalRequest): string {
  const { action } = request;
  switch (action.kind) {
    case "command":
      return `The agent wants to run, in ${action.cwd}:\n  ${action.command}`;
    case "fileChange":
      return `The agent wants to change files:\n${action.changes.map((change) => change.diff).join("\n")}`;
    case "tool":
      return `The agent wants to call the tool ${action.tool} with ${JSON.stringify(action.arguments)}`;
  }
}

const answer: ConnectCallbacks["onQuestion"] = async (request, { signal }) => {
  const answers: Record<string, string> = {};
  for (const { id, question, options } of request.questions) {
    const choices = (options ?? []).map((option, place) => `\n  ${place + 1}. ${option.label}`).join("");
    const line = await askLine(`\n${visible(question + choices)}\n> `, signal);
    if (line === undefined) continue;
    const chosen = options?.[Number(line) - 1]?.label;
    answers[id] = chosen ?? line;
  }
  return answers;
};
