import { METHODS } from "@flint/protocol";
import { describe, expect, test } from "vitest";
import { LOCAL_RIGHTS, rightsError, TASK_RIGHTS, type TaskRight } from "./client-rights.ts";

const REMOTE = { mayProvidePrograms: false };
const PROGRAM = { type: "stdio", name: "notes", command: "/bin/notes", args: [], env: {} };
const ADDRESS = { type: "http", name: "wiki", url: "http://127.0.0.1:9/mcp", headers: {} };

describe("a remote client", () => {
  test("may not provide a program, which is named with its position in the list", () => {
    const error = rightsError(REMOTE, "thread/start", { mcpServers: [ADDRESS, PROGRAM] });
    expect(error?.message).toContain('The MCP server "notes" is a program');
    expect(error).toMatchObject({ kind: "invalidParams", data: { field: "mcpServers[1]" } });
  });

  test.each([{}, { mcpServers: [] }, { mcpServers: [ADDRESS] }])("may send %j", (params) => {
    expect(rightsError(REMOTE, "thread/start", params)).toBeUndefined();
  });

  // Methods without MCP servers accept anything under that name.
  const others = [5, "stdio", null, {}, [null], [5], [[]], [{ type: "other" }]];
  test.each(others.map((mcpServers) => ({ mcpServers })))("is not rejected for %j", (params) => {
    expect(rightsError(REMOTE, "thread/start", params)).toBeUndefined();
  });
});

test("a local client may provide programs", () => {
  expect(rightsError(LOCAL_RIGHTS, "thread/start", { mcpServers: [PROGRAM] })).toBeUndefined();
});

describe("a client whose token is limited", () => {
  const reason = (
    rights: readonly TaskRight[],
    method: Parameters<typeof rightsError>[1],
    params: object = {},
  ) => rightsError({ mayProvidePrograms: false, only: () => rights }, method, params)?.message;

  test("may only do what its rights allow, and gets the name of the one that is missing", () => {
    expect(reason(["tasks:add"], "task/add", { tasks: [{ prompt: "x" }] })).toBeUndefined();
    expect(reason(["tasks:add"], "task/list")).toBeUndefined();
    expect(reason(["tasks:answer"], "task/approve")).toBeUndefined();
    expect(reason(["tasks:add"], "task/approve")).toBe(
      "This token has tasks:add; task/approve needs tasks:answer or tasks:admin.",
    );
    expect(reason(["tasks:add", "tasks:answer"], "task/cancel")).toBe(
      "This token has tasks:add and tasks:answer; task/cancel needs tasks:admin.",
    );
    expect(reason(["tasks:admin"], "thread/list")).toBe(
      "This token has tasks:admin; thread/list needs the server's own token.",
    );
  });

  test("may do nothing once its token was revoked", () => {
    expect(reason([], "task/list")).toBe("This token was revoked.");
  });

  test.each([
    { approvedBy: "reviewer" },
    { allow: "tools" },
    { network: ["example.org"] },
    { remote: { url: "origin" } },
  ])("may not add a task with %j if it may not answer", (more) => {
    const params = { tasks: [{ prompt: "x" }, { prompt: "y", ...more }] };
    expect(reason(["tasks:add"], "task/add", params)).toContain("need tasks:answer");
    expect(reason(["tasks:add", "tasks:answer"], "task/add", params)).toBeUndefined();
    expect(reason(["tasks:admin"], "task/add", params)).toBeUndefined();
  });

  test.each(["https://git.example/x.git", "/tmp/x", "../x", "ext::sh"])(
    "may not have a repository pushed to the address %s",
    (url) => {
      const params = { tasks: [{ prompt: "x" }, { prompt: "y", remote: { url } }] };
      expect(reason(["tasks:admin"], "task/add", params)).toContain("by the name that it has there");
      const own = { tasks: [{ prompt: "x", remote: { url: "origin" } }] };
      expect(reason(["tasks:admin"], "task/add", own)).toBeUndefined();
    },
  );

  test("has every method of tasks with tasks:admin, and no other", () => {
    const own = Object.keys(METHODS).filter((name) => /^(task|worker)\/|^initialize$/.test(name));
    expect([...TASK_RIGHTS["tasks:admin"]].toSorted()).toEqual(own.toSorted());
  });
});
