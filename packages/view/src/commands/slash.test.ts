import { expect, test } from "vitest";
import { isAvailable, reasonUnavailable } from "./command.ts";
import { completeCommand, readCommand } from "./slash.ts";
import { COMMAND_IDS, COMMANDS, commandOf, commandSections, paletteCommands, usageOf } from "./table.ts";

const EXPECTED =
  "new resume fork rewind diff review compact plan goal agent model permissions mcp usage limits status export copy theme keys help doctor quit";

test("everything that a session offers can be typed", () => {
  for (const name of EXPECTED.split(" ")) expect(readCommand(`/${name}`)?.type).toBe("command");
});

test("no two commands have the same typed name, and each has a title", () => {
  const names = COMMAND_IDS.flatMap((id) => commandOf(id).slash ?? []);
  expect(new Set(names).size).toBe(names.length);
  for (const id of COMMAND_IDS) expect(commandOf(id).title).toMatch(/^[A-Z].*[^.]$/);
});

test("reads a command and its argument", () => {
  expect(readCommand("/model  claude/opus \n")).toEqual({
    type: "command",
    id: "chooseModel",
    argument: "claude/opus",
  });
  expect(readCommand("/NEW fix\nit")).toEqual({ type: "command", id: "newThread", argument: "fix\nit" });
  expect(readCommand("/rename")).toEqual({ type: "incomplete", id: "renameThread", missing: "name" });
  expect(readCommand("/frontend:lint src")).toEqual({
    type: "unknown",
    name: "frontend:lint",
    argument: "src",
  });
});

test.each(["fix it", "/usr/bin/env is missing", "/", "//", "a /new"])("%j is not a command", (input) =>
  expect(readCommand(input)).toBeUndefined(),
);

test("completes by the start of the name, then by its words", () => {
  expect(completeCommand("re")).toEqual(
    expect.arrayContaining(["resumeThread", "rewindThread", "renameThread", "startReview"]),
  );
  expect(completeCommand("re")).not.toContain("showTranscript");
  expect(completeCommand("changes")).toEqual(expect.arrayContaining(["rewindThread", "showDiff"]));
  expect(completeCommand("").length).toBe(COMMAND_IDS.filter((id) => usageOf(id) !== undefined).length);
});

test("shows what is typed, with its arguments", () => {
  expect([usageOf("rewindThread"), usageOf("renameThread"), usageOf("openPalette")]).toEqual([
    "/rewind [turn]",
    "/rename NAME",
    undefined,
  ]);
});

test("says why a command makes no sense now", () => {
  const context = {
    ...{ thread: true, turns: true, idle: false },
    ...{ running: true, queued: false, waiting: false },
  };
  expect(isAvailable(COMMANDS.rewindThread, context)).toBe(false);
  expect(reasonUnavailable(COMMANDS.rewindThread, context)).toBe("a turn is running");
  expect(reasonUnavailable(COMMANDS.showDiff, context)).toBeUndefined();
});

test("the palette has no mere keys, and the help page has everything once", () => {
  expect(paletteCommands()).not.toContain("cursorLeft");
  expect(paletteCommands()).toContain("openPalette");
  expect(
    commandSections()
      .flatMap(({ ids }) => ids)
      .sort(),
  ).toEqual([...COMMAND_IDS].sort());
});
