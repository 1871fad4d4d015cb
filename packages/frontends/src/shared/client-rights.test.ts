import { describe, expect, test } from "vitest";
import { LOCAL_RIGHTS, refusedBy } from "./client-rights.ts";

const OF_A_PORT = { bringsPrograms: false };
const PROGRAM = { type: "stdio", name: "notes", command: "/bin/notes", args: [], env: {} };
const ADDRESS = { type: "http", name: "wiki", url: "http://127.0.0.1:9/mcp", headers: {} };

describe("a client of a port", () => {
  test("is refused a program, by its name and its place in the list", () => {
    const refusal = refusedBy(OF_A_PORT, { mcpServers: [ADDRESS, PROGRAM] });
    expect(refusal?.message).toContain('The MCP server "notes" is a program');
    expect(refusal).toMatchObject({ kind: "invalidParams", data: { field: "mcpServers[1]" } });
  });

  test.each([{}, { mcpServers: [] }, { mcpServers: [ADDRESS] }])("may ask with %j", (params) => {
    expect(refusedBy(OF_A_PORT, params)).toBeUndefined();
  });

  // Methods that know no MCP servers take any other name along, with whatever is behind it.
  const strange = [5, "stdio", null, {}, [null], [5], [[]], [{ type: "other" }]];
  test.each(strange.map((mcpServers) => ({ mcpServers })))("fails nothing with %j", (params) => {
    expect(refusedBy(OF_A_PORT, params)).toBeUndefined();
  });
});

test("a client on this machine brings what it likes", () => {
  expect(refusedBy(LOCAL_RIGHTS, { mcpServers: [PROGRAM] })).toBeUndefined();
});
