import { chmodSync, existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { temporaryFolder } from "@flint/testkit";
import { expect, test } from "vitest";
import { editExternally } from "./external-editor.ts";

/** Edits a text with a shell script that gets the file as its first argument. */
async function edit(text: string, script: string, command?: string) {
  const folder = await temporaryFolder();
  writeFileSync(folder.join("editor"), `#!/bin/sh\n${script}\n`);
  chmodSync(folder.join("editor"), 0o755);
  const calls: string[] = [];
  const result = await editExternally(text, {
    command: command ?? folder.join("editor"),
    searchPath: async () => process.env.PATH ?? "",
    folder: folder.join("state"),
    release: () => calls.push("release"),
    restore: () => calls.push("restore"),
  });
  return {
    folder,
    result,
    calls,
    left: existsSync(folder.join("state")) ? readdirSync(folder.join("state")) : [],
  };
}

test("gives back the edited text, without the last line break, and leaves no file", async () => {
  const { result, calls, left } = await edit("one", 'printf "%s\\nzwei\\r\\n" "$(cat "$1")" > "$1"');
  expect(result).toEqual({ type: "edited", text: "one\nzwei" });
  expect([calls, left]).toEqual([["release", "restore"], []]);
});

test("writes a private file, and passes arguments of the command on", async () => {
  const folder = await temporaryFolder();
  writeFileSync(folder.join("editor"), '#!/bin/sh\nstat -c %a "$2" > "$2"; echo "$1" >> "$2"\n', {
    mode: 0o755,
  });
  const { result } = await edit("x", "", `${folder.join("editor")} --wait`);
  expect(result).toEqual({ type: "edited", text: "600\n--wait" });
});

test("leaves Ctrl-C to the editor", async () => {
  let isInterrupted = false;
  const onInterrupt = () => {
    isInterrupted = true;
  };
  process.on("SIGINT", onInterrupt);
  const { result } = await edit("same", `kill -INT ${process.pid}`);
  expect([result, isInterrupted]).toEqual([{ type: "unchanged" }, false]);
  expect(process.listeners("SIGINT")).toContain(onInterrupt);
  process.off("SIGINT", onInterrupt);
});

test("says so if nothing was changed", async () => {
  expect((await edit("same", "exit 0")).result).toEqual({ type: "unchanged" });
});

test.each([
  ["fails", "exit 3", "exit code 3"],
  ["is killed", "kill -9 $$", "exit code 137"],
])("keeps the text if the editor %s, and restores the terminal", async (_name, script, reason) => {
  const { result, calls, left } = await edit("precious", script);
  expect(result).toMatchObject({ type: "failed", problem: expect.stringContaining(reason) });
  expect([calls, left]).toEqual([["release", "restore"], []]);
});

test("keeps what a failed editor has saved, and says where", async () => {
  const { result } = await edit("precious", 'echo saved > "$1"; exit 1');
  const [, file] = /The file it saved is (.*)\.$/.exec(result.type === "failed" ? result.problem : "") ?? [];
  expect(readFileSync(file ?? "", "utf8")).toBe("saved\n");
});

test("says which command is missing", async () => {
  const { result, calls } = await edit("x", "", "/no/such/editor");
  expect(result).toMatchObject({ type: "failed", problem: expect.stringContaining("/no/such/editor") });
  expect(calls).toEqual(["release", "restore"]);
});

test("is looked up where it is said, with the programs that it starts", async () => {
  const folder = await temporaryFolder();
  writeFileSync(folder.join("own-editor"), '#!/bin/sh\necho "$PATH" > "$1"\n', { mode: 0o755 });
  const searchPath = `${folder.path}:/bin`;
  const edit = (command: string) =>
    editExternally("x", {
      ...{ command, searchPath: async () => searchPath, folder: folder.join("state") },
      ...{ release: () => {}, restore: () => {} },
    });
  expect(await edit("own-editor")).toEqual({ type: "edited", text: searchPath });
  expect(await edit("npx-of-the-project")).toMatchObject({
    type: "failed",
    problem: expect.stringContaining("Programs of the project are not used."),
  });
});

test("keeps the text if the editor removed the file or made it huge", async () => {
  expect((await edit("x", 'rm "$1"')).result.type).toBe("failed");
  expect((await edit("x", 'head -c 2000000 /dev/zero > "$1"')).result.type).toBe("failed");
});

test("drops control characters of what was edited", async () => {
  expect((await edit("x", 'printf "a\\033[31mb\\007" > "$1"')).result).toEqual({
    type: "edited",
    text: "a[31mb",
  });
});

test("says so if no file can be written", async () => {
  const folder = await temporaryFolder();
  writeFileSync(folder.join("file"), "");
  const result = await editExternally("x", {
    command: "true",
    searchPath: async () => "",
    folder: folder.join("file", "below"),
    release: () => expect.unreachable(),
    restore: () => expect.unreachable(),
  });
  expect(result.type).toBe("failed");
});
