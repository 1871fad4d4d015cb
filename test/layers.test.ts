import { describe, expect, test } from "vitest";
import { equalFunctions } from "./layers/equal-functions.ts";
import { isTest, packageOf } from "./layers/graph.ts";
import { cycles, orphans } from "./layers/reach.ts";
import * as rules from "./layers/rules.ts";
import { readWorkspace } from "./layers/workspace.ts";
import { ROOT, readSources } from "./source/files.ts";

describe("the workspace", () => {
  const graph = readWorkspace(ROOT);

  test("only has packages that have a place in the layers, and all of them were read", () => {
    expect(Object.keys(graph.packages).sort()).toEqual(Object.keys(rules.MAY_IMPORT).sort());
    const sources = graph.modules.filter(({ path }) => packageOf(path) !== undefined && !isTest(path));
    const seen = new Set(sources.map(({ path }) => packageOf(path)));
    expect([...seen].sort()).toEqual(Object.keys(rules.MAY_IMPORT).sort());
    expect(sources.length).toBeGreaterThanOrEqual(Object.keys(rules.MAY_IMPORT).length * 2);
    expect(graph.modules.flatMap((module) => module.edges).length).toBeGreaterThan(graph.modules.length);
  });

  test("imports only from packages below, by name", () => expect(rules.layers(graph)).toEqual([]));
  test("uses only declared libraries, and only zod in protocol", () =>
    expect(rules.externals(graph)).toEqual([]));
  test("shows drivers and frontends only the ports of core", () =>
    expect(rules.corePorts(graph)).toEqual([]));
  test("keeps drivers and frontends from knowing each other", () => expect(rules.islands(graph)).toEqual([]));
  test("starts processes only in named places", () => expect(rules.processes(graph)).toEqual([]));
  test("reads the environment only in one place", () => expect(rules.environment(graph)).toEqual([]));
  test("takes the time from the injected clock in the core and the front ends", () =>
    expect(rules.clock(graph)).toEqual([]));
  test("has no import that leads nowhere", () => expect(rules.existence(graph)).toEqual([]));
  test("has no source file that uses a test", () => expect(rules.noTestsInside(graph)).toEqual([]));
  test("has no import cycles", () => expect(cycles(graph)).toEqual([]));
  test("has no file that nothing uses", () => expect(orphans(graph)).toEqual([]));
});

/** The clients of each protocol in the conformance suite: their handshakes may change without each other. */
const CLIENT_OF_A_PROTOCOL = /^packages\/conformance\/src\/(?:acp|codex|flint)\/client\.ts$/;

test("no two files declare the same function", () => {
  const sources = [...readSources(ROOT, "packages")].filter(
    ([path]) => packageOf(path) !== undefined && !isTest(path) && !CLIENT_OF_A_PROTOCOL.test(path),
  );
  expect(sources.length).toBeGreaterThan(500);
  expect(equalFunctions(new Map(sources))).toEqual([]);
});
