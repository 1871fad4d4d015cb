import type { LaunchResult } from "@flint/core/ports";
import { integer, optional, string } from "../input.ts";
import { defineTool, done, failed, type Tool } from "../tool.ts";
import { runAsItem } from "../tool-call-item.ts";
import type { BackgroundCommand, BackgroundCommands } from "./background.ts";

const processId = string("The process number from shell.", { maxLength: 20 });

/** Returns what a background command printed since the last call. */
export function shellOutputTool(background: BackgroundCommands): Tool {
  return defineTool({
    name: "shell_output",
    description: "Returns the new output of a background command, and whether it is still running.",
    readOnly: true,
    input: {
      process_id: processId,
      wait_ms: optional(integer("How long to wait for new output; not at all by default.", 0, 60_000)),
    },
    run: (input, context) =>
      runAsItem(
        { tool: "shell_output", title: `Reads the output of process ${input.process_id}`, input },
        context,
        async () => {
          const found = background.get(input.process_id);
          if (found === undefined) return failed(noProcess(input.process_id, background));
          await found.waitForOutput(input.wait_ms ?? 0, context.signal);
          return done(report(found));
        },
      ),
  });
}

/** Stops a background command and everything that it started. */
export function shellStopTool(background: BackgroundCommands): Tool {
  return defineTool({
    name: "shell_stop",
    description: "Stops a background command and returns the rest of its output.",
    readOnly: false,
    input: { process_id: processId },
    run: (input, context) =>
      runAsItem(
        { tool: "shell_stop", title: `Stops process ${input.process_id}`, input },
        context,
        async () => {
          const found = background.get(input.process_id);
          if (found === undefined) return failed(noProcess(input.process_id, background));
          await found.stop();
          return done(report(found));
        },
      ),
  });
}

function noProcess(id: string, background: BackgroundCommands): string {
  return `There is no process ${id}. ${background.describe()}`;
}

function report(command: BackgroundCommand): string {
  const output = command.takeOutput();
  const line = `(${stateOf(command.ending)})`;
  return output === "" || output.endsWith("\n") ? output + line : `${output}\n${line}`;
}

function stateOf(ending: LaunchResult | Error | undefined): string {
  if (ending === undefined) return "It is still running.";
  if (ending instanceof Error) return `It could not be started: ${ending.message}`;
  switch (ending.ended) {
    case "exited":
      return `It ended with exit code ${ending.exitCode}.`;
    case "timedOut":
      return "It was killed at its time limit.";
    case "aborted":
      return "It was stopped.";
  }
}
