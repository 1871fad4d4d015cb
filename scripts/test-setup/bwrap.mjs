import { onPath, run } from "./machine.mjs";

/** The namespaces the sandbox needs; a container may have the program and still forbid them. */
const TRIAL =
  "--ro-bind / / --dev /dev --proc /proc --unshare-user --unshare-net --unshare-pid --cap-drop ALL --disable-userns";

/** Bubblewrap, which holds commands in their sandbox. Being there is not enough: it has to work. */
export const bwrap = {
  name: "bwrap",
  debian: "bubblewrap",
  hint: "apt-get install bubblewrap, and allow user namespaces",
  find() {
    const path = onPath("bwrap");
    if (path === undefined) return undefined;
    const trial = run(path, [...TRIAL.split(" "), "--die-with-parent", "--", "true"]);
    if (!trial.ok) throw new Error(`${path} is there but cannot make a sandbox: ${trial.reason}`);
    return { path, how: "on PATH, trial run passed" };
  },
};
