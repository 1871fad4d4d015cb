import { needs } from "@flint/testkit";
import { expect } from "vitest";
import { realClaude, run } from "./testing/claude-fixture.ts";

const real = needs("claude");

real("reports the slash commands of Claude with the first turn of a process, once [S3-16]", async () => {
  const fixture = await realClaude({ script: [[{ text: "One." }], [{ text: "Two." }]] });
  const first = await run(fixture, "go");
  const reported = first.turn.events.flatMap((event) => (event.type === "commands" ? event.commands : []));
  expect(reported.map(({ name }) => name)).toContain("compact");
  expect(reported.find(({ name }) => name === "compact")?.description).toEqual(expect.any(String));
  const second = await run(fixture, "go on", {}, first.session);
  expect(second.turn.events.filter(({ type }) => type === "commands")).toEqual([]);
});
