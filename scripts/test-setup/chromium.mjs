import { isExecutable, onPath } from "./machine.mjs";

/** A browser without a window, that tests let web pages run in. */
export const chromium = {
  name: "chromium",
  debian: "chromium-headless-shell",
  hint: "set FLINT_CHROMIUM, or apt-get install chromium-headless-shell",
  find() {
    const chosen = process.env.FLINT_CHROMIUM;
    if (chosen && !isExecutable(chosen))
      throw new Error(`FLINT_CHROMIUM names ${chosen}, which cannot be run`);
    if (chosen) return { path: chosen, how: "FLINT_CHROMIUM" };
    const path = onPath("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome");
    return path === undefined ? undefined : { path, how: "on PATH" };
  },
};
