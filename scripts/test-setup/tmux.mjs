import { onPath, run } from "./machine.mjs";

/** A terminal without a screen, in which tests work a full-screen program as a person would. */
export const tmux = {
  name: "tmux",
  debian: "tmux",
  hint: "apt-get install tmux",
  find() {
    const path = onPath("tmux");
    if (path === undefined) return undefined;
    const version = run(path, ["-V"]);
    if (!version.ok) throw new Error(`${path} is there but does not run: ${version.reason}`);
    return { path, how: `on PATH, ${version.output}` };
  },
};
