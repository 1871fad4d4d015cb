import { expect, test } from "vitest";
import { isGroup } from "./command.ts";
import { commandHelp, groupHelp, overview } from "./help.ts";
import { COMMANDS } from "./table.ts";

const ALL = Object.entries(COMMANDS).flatMap(([name, row]) =>
  isGroup(row)
    ? Object.entries(row.commands).map(([sub, command]) => ({ name: `${name} ${sub}`, command }))
    : [{ name, command: row }],
);

test("the overview names every command and fits a terminal of a hundred columns", () => {
  const text = overview();
  for (const name of Object.keys(COMMANDS)) expect(text).toContain(`  ${name} `);
  const lists = text.split("\n").filter((line) => line.startsWith("  "));
  expect(Math.max(...lists.map((line) => line.length))).toBeLessThanOrEqual(100);
});

test.each(ALL)("flint $name --help names each option, and shows how it is used", ({ name, command }) => {
  const text = commandHelp(name, command);
  for (const flag of Object.keys(command.flags)) expect(text).toContain(`--${flag}`);
  expect(command.examples.length).toBeGreaterThan(0);
  for (const example of command.examples) expect(text).toContain(`  ${example}\n`);
});

test("a group shows its commands with an example of each", () => {
  for (const [name, row] of Object.entries(COMMANDS)) {
    if (!isGroup(row)) continue;
    const text = groupHelp(name, row);
    for (const sub of Object.keys(row.commands)) expect(text).toContain(`  ${sub}`);
  }
});

test("an option has the same short form and takes the same everywhere", () => {
  const known = new Map<string, string>();
  for (const { name, command } of ALL) {
    for (const [flag, { short, type }] of Object.entries(command.flags)) {
      const shape = `${short ?? ""} ${type}`;
      expect({ name, flag, shape }).toEqual({ name, flag, shape: known.get(flag) ?? shape });
      known.set(flag, shape);
    }
  }
});
