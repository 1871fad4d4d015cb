import type { LaunchResult } from "@flint/core/ports";
import { integer, optional, string } from "../input.ts";
import { defineTool, done, failed, type Tool } from "../tool.ts";
import { runAsItem } from "../tool-call-item.ts";
import type { BackgroundCommand, BackgroundCommands } from "./background.ts";

const processId = string("The number that shell gave.", { maxLength: 20 });

/** Shows what a command in the background printed since it was last looked at. */
export function shellOutputTool(background: BackgroundCommands): Tool {
  return defineTool({
    name: "shell_output",
    description: "Gives the new output of a command in the background, and whether it still runs.",
    readOnly: true,
    input: {
      process_id: processId,
      wait_ms: optional(integer("How long to wait for something new; not at all if not given.", 0, 60_000)),
    },
    run: (input, context) =>
      runAsItem(
        { tool: "shell_output", title: `Looks at process ${input.process_id}`, input },
        context,
        async () => {
          const found = background.get(input.process_id);
          if (found === undefined) return failed(noSuch(input.process_id, background));
          await found.waitForOutput(input.wait_ms ?? 0, context.signal);
          return done(report(found));
        },
      ),
  });
}

/** Ends a command in the background, with all that it started. */
export function shellStopTool(background: BackgroundCommands): Tool {
  return defineTool({
    name: "shell_stop",
    description: "Ends a command in the background and gives the rest of its output.",
    readOnly: false,
    input: { process_id: processId },
    run: (input, context) =>
      runAsItem(
        { tool: "shell_stop", title: `Ends process ${input.process_id}`, input },
        context,
        async () => {
          const found = background.get(input.process_id);
          if (found === undefined) return failed(noSuch(input.process_id, background));
          await found.stop();
          return done(report(found));
        },
      ),
  });
}

function noSuch(id: string, background: BackgroundCommands): string {
  return `There is no process ${id}. ${background.describe()}`;
}

function report(command: BackgroundCommand): string {
  const output = command.takeOutput();
  const line = `(${stateOf(command.ending)})`;
  return output === "" || output.endsWith("\n") ? output + line : `${output}\n${line}`;
}

function stateOf(ending: LaunchResult | Error | undefined): string {
  if (ending === undefined) return "It still runs.";
  if (ending instanceof Error) return `It could not be started: ${ending.message}`;
  switch (ending.ended) {
    case "exited":
      return `It ended with exit code ${ending.exitCode}.`;
    case "timedOut":
      return "It was ended at its time limit.";
    case "aborted":
      return "It was stopped.";
  }
}
