import { LIMITS, sandboxPolicyOf } from "@flint/protocol";
import type { FreeHandlers } from "./handler.ts";

const DEFAULT_TIMEOUT_MS = 60_000;

/** Commands outside of any thread. */
export const commandHandlers: Pick<FreeHandlers, "command/exec"> = {
  async "command/exec"({ command, cwd, sandboxPolicy, timeoutMs }, { services }) {
    const defaults = await services.defaultSettings();
    const settings = await services.withOverrides(defaults, { cwd });
    const kept = { stdout: "", stderr: "" };
    let omitted = 0;
    const { exitCode, ended } = await services.options.sandbox.launch({
      command,
      cwd: settings.cwd,
      workspace: settings.cwd,
      policy: sandboxPolicy === undefined ? settings.sandboxPolicy : sandboxPolicyOf(sandboxPolicy),
      timeoutMs: timeoutMs ?? DEFAULT_TIMEOUT_MS,
      output(text, stream) {
        const room = Math.max(0, LIMITS.output - kept[stream].length);
        kept[stream] += text.slice(0, room);
        omitted += Math.max(0, text.length - room);
      },
    });
    const result = { exitCode, ...kept, timedOut: ended === "timedOut" };
    return { result: omitted === 0 ? result : { ...result, omittedOutputBytes: omitted } };
  },
};
