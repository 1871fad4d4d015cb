import { expect, test } from "vitest";
import { isGroup } from "./command.ts";
import { commandHelp, groupHelp, overview } from "./help.ts";
import { COMMANDS, SECTIONS } from "./table.ts";

const ALL = Object.entries(COMMANDS).flatMap(([name, row]) =>
  isGroup(row)
    ? Object.entries(row.commands).map(([sub, command]) => ({ name: `${name} ${sub}`, command }))
    : [{ name, command: row }],
);

test("the overview lists every command and fits in a hundred columns", () => {
  const text = overview();
  for (const name of Object.keys(COMMANDS)) expect(text).toContain(`  ${name} `);
  const lists = text.split("\n").filter((line) => line.startsWith("  "));
  expect(Math.max(...lists.map((line) => line.length))).toBeLessThanOrEqual(100);
});

test("commands for integrators are listed last, under a heading of their own", () => {
  const text = overview();
  const heading = text.indexOf("Protocol and integration:");
  const after = [
    "app-server",
    "codex-shim",
    "connect",
    "conformance",
    "harness",
    "model",
    "replay",
    "schema",
  ];
  for (const name of after) expect(text.indexOf(`\n  ${name} `)).toBeGreaterThan(heading);
  for (const name of ["exec", "threads", "doctor"])
    expect(text.indexOf(`\n  ${name} `)).toBeLessThan(heading);
});

test("no command is in two sections", () => {
  const names = SECTIONS.flatMap(({ commands }) => Object.keys(commands));
  expect(new Set(names).size).toBe(names.length);
});

test.each(ALL)("flint $name --help names each option and shows examples", ({ name, command }) => {
  const text = commandHelp(name, command);
  for (const flag of Object.keys(command.flags)) expect(text).toContain(`--${flag}`);
  expect(command.examples.length).toBeGreaterThan(0);
  for (const example of command.examples) expect(text).toContain(`  ${example}\n`);
});

test("a group lists its commands and their aliases", () => {
  for (const [name, row] of Object.entries(COMMANDS)) {
    if (!isGroup(row)) continue;
    const text = groupHelp(name, row);
    for (const sub of Object.keys(row.commands)) expect(text).toContain(`  ${sub}`);
    for (const [alias, sub] of Object.entries(row.aliases ?? {})) {
      expect(Object.keys(row.commands)).toContain(sub);
      expect(text).toContain(`  ${sub}, ${alias}`);
    }
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

test("summaries are capitalised phrases without a full stop", () => {
  for (const { name, command } of ALL) {
    expect({ name, summary: command.summary }).toEqual({
      name,
      summary: expect.stringMatching(/^[A-Z].*[^.]$/),
    });
  }
});

test("values are written in kebab-case", () => {
  for (const { command } of ALL) {
    for (const { values = [] } of Object.values(command.flags)) {
      for (const value of values) expect(value).toMatch(/^[a-z0-9]+(-[a-z0-9]+)*$/);
    }
  }
});

test.each(ALL)(
  "no line of flint $name --help is wider than 98 columns, but for examples",
  ({ name, command }) => {
    const [prose = ""] = commandHelp(name, command).split("\nExamples:\n");
    const lines = prose.split("\n").filter((line) => !line.startsWith("Usage: "));
    expect(lines.filter((line) => line.length > 98)).toEqual([]);
  },
);
