// Makes the pictures of the guides from the real program: `npm run screens`. It needs tmux and a built command.
import { execFile } from "node:child_process";
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { TmuxPane } from "../test/e2e/terminal/tmux-pane.ts";
import { ROOT } from "../test/source/files.ts";
import { SCRIPT, STORY } from "./screens/story.ts";
import { svgOf, THEMES } from "./screens/svg.ts";

const [COLUMNS, ROWS] = [100, 30];
const READING_MS = 1_000;
const FLINT = join(ROOT, "packages/cli/bin/flint.cjs");

// Paths are in the pictures, so this one is the same each time. It fails if the folder is there already.
const folder = join(tmpdir(), "flint-demo");
mkdirSync(folder);
const [project, state] = [join(folder, "shop"), join(folder, "state")];
for (const each of [state, join(project, ".git")]) mkdirSync(each, { recursive: true });
writeFileSync(join(project, ".git", "HEAD"), "ref: refs/heads/main\n");
writeFileSync(
  join(project, "total.js"),
  "export const total = (prices) => prices.reduce((a, b) => a - b, 0);\n",
);
writeFileSync(
  join(project, "total.test.js"),
  'import { total } from "./total.js";\nconsole.log(total([1, 2]) === 3 ? "ok" : "not ok: total([1, 2]) is " + total([1, 2]));\n',
);
writeFileSync(join(folder, "script.json"), JSON.stringify(SCRIPT));

const env = {
  ...{ PATH: process.env.PATH ?? "", HOME: folder, LANG: "C.UTF-8", FLINT_HOME: state },
  ...{ FLINT_CONFIG: join(state, "config.toml"), FLINT_OFFLINE_SCRIPT: join(folder, "script.json") },
};
const command = [process.execPath, FLINT, "--offline"];
const pane = await TmuxPane.open({
  ...{ command, cwd: project, env, folder, columns: COLUMNS, rows: ROWS },
});
try {
  for (const { name, theme, keys, until } of STORY) {
    // Keys that come too soon after a question do not answer it.
    await new Promise((resolve) => setTimeout(resolve, READING_MS));
    for (const key of keys) await ("type" in key ? pane.type(key.type) : pane.press(key.press));
    await pane.until((screen) => screen.includes(until), until, "screen");
    if (name === undefined) continue;
    const rows = trimmed(await pane.picture());
    const picture = svgOf(rows, COLUMNS, THEMES[theme ?? "dark"], `flint in a terminal: ${name}`);
    writeFileSync(join(ROOT, "docs/images", `${name}.svg`), picture);
    console.log(`wrote docs/images/${name}.svg`);
  }
} finally {
  await pane.close();
  await promisify(execFile)(process.execPath, [FLINT, "server", "stop"], { env, cwd: project });
  rmSync(folder, { recursive: true, force: true });
}

/** Without the empty rows at the end. */
function trimmed(rows: readonly string[]): readonly string[] {
  const last = rows.findLastIndex((row) => row.trim() !== "");
  return rows.slice(0, last + 1);
}
