import { describe, expect, test } from "vitest";
import { LOCAL_RIGHTS, rightsError } from "./client-rights.ts";

const REMOTE = { mayProvidePrograms: false };
const PROGRAM = { type: "stdio", name: "notes", command: "/bin/notes", args: [], env: {} };
const ADDRESS = { type: "http", name: "wiki", url: "http://127.0.0.1:9/mcp", headers: {} };

describe("a remote client", () => {
  test("may not provide a program, which is named with its position in the list", () => {
    const error = rightsError(REMOTE, { mcpServers: [ADDRESS, PROGRAM] });
    expect(error?.message).toContain('The MCP server "notes" is a program');
    expect(error).toMatchObject({ kind: "invalidParams", data: { field: "mcpServers[1]" } });
  });

  test.each([{}, { mcpServers: [] }, { mcpServers: [ADDRESS] }])("may send %j", (params) => {
    expect(rightsError(REMOTE, params)).toBeUndefined();
  });

  // Methods without MCP servers accept anything under that name.
  const others = [5, "stdio", null, {}, [null], [5], [[]], [{ type: "other" }]];
  test.each(others.map((mcpServers) => ({ mcpServers })))("is not rejected for %j", (params) => {
    expect(rightsError(REMOTE, params)).toBeUndefined();
  });
});

test("a local client may provide programs", () => {
  expect(rightsError(LOCAL_RIGHTS, { mcpServers: [PROGRAM] })).toBeUndefined();
});
