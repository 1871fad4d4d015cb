import { describe, expect, test } from "vitest";
import { METHODS } from "../methods.ts";
import { LIMITS } from "../wire/limits.ts";
import { type ClientTool, toolNameOf } from "./client-tool.ts";

const LAMP: ClientTool = { name: "lamp", description: "A lamp.", inputSchema: { type: "object" } };

function problem(tools: readonly unknown[]): string | undefined {
  return METHODS["thread/start"].params.safeParse({ tools }).error?.issues[0]?.message;
}

describe("the tools that a client offers", () => {
  test("have unique names, with or without a namespace", () => {
    const apart = [LAMP, { ...LAMP, namespace: "house" }];
    expect(problem(apart)).toBeUndefined();
    expect(apart.map(toolNameOf)).toEqual(["lamp", "house__lamp"]);
    expect(problem([LAMP, LAMP])).toBe("Two tools have the same name.");
    expect(problem([...apart, { ...LAMP, name: "house__lamp" }])).toBe("Two tools have the same name.");
  });

  test("have names that every model accepts", () => {
    for (const name of ["", "a lamp", "ä", "x".repeat(65)])
      expect(problem([{ ...LAMP, name }])).toBeDefined();
  });

  test("are limited in number and size", () => {
    const many = Array.from({ length: LIMITS.tools + 1 }, (_, at) => ({ ...LAMP, name: `lamp${at}` }));
    expect(problem(many)).toBeDefined();
    expect(problem(many.slice(1))).toBeUndefined();
    expect(problem([{ ...LAMP, description: "x".repeat(LIMITS.toolDescription + 1) }])).toBeDefined();
    const inputSchema = { type: "object", description: "x".repeat(LIMITS.toolSchemas) };
    expect(problem([{ ...LAMP, inputSchema }])).toContain("all tools together");
  });
});
