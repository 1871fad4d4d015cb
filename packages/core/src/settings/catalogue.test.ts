import { FlintError } from "@flint/protocol";
import { ScriptedDriver, scriptedModels } from "@flint/testkit";
import { describe, expect, test } from "vitest";
import { Catalogue } from "./catalogue.ts";

class MuteDriver extends ScriptedDriver {
  override async models(): Promise<never> {
    throw new FlintError("agentFailed", "mute is not installed.");
  }
}

class OpenDriver extends ScriptedDriver {
  async defaultModel(): Promise<string> {
    return "open/maker/best";
  }

  qualify(name: string): string | undefined {
    const path = name.replace(/^open\//, "");
    if (path.startsWith("locked/")) throw new FlintError("invalidParams", "Set LOCKED_KEY.");
    return path.startsWith("maker/") ? `open/${path}` : undefined;
  }
}

const one = new ScriptedDriver({ id: "one" });
const two = new ScriptedDriver({
  id: "two",
  models: [...scriptedModels("two"), { id: "two/deep/thought", displayName: "Deep", isDefault: false }],
});
const mute = new MuteDriver({ id: "mute" });

describe("the models of all agents", () => {
  test("have one default, that of the first agent", async () => {
    const catalogue = new Catalogue([one, two]);
    const models = await catalogue.models();
    expect(models.filter((model) => model.isDefault).map((model) => model.id)).toEqual(["one/steady"]);
    expect(models).toHaveLength(5);
    expect(await catalogue.defaultModel()).toBe("one/steady");
  });

  test("have the default of a preferred agent, if there is one", async () => {
    const ready = new (class extends ScriptedDriver {
      async isPreferred(): Promise<boolean> {
        return true;
      }
    })({ id: "ready" });
    const broken = new (class extends ScriptedDriver {
      async isPreferred(): Promise<boolean> {
        throw new Error("the list is not available");
      }
    })({ id: "broken" });
    const catalogue = new Catalogue([one, broken, ready]);
    const models = await catalogue.models();
    expect(models.filter((model) => model.isDefault).map(({ id }) => id.split("/")[0])).toEqual(["ready"]);
    expect(await catalogue.defaultModel()).toMatch(/^ready\//);
  });

  test("can be chosen by the id of an agent alone", async () => {
    const { id, driver } = await new Catalogue([one, two]).choose("two");
    expect([id, driver]).toEqual(["two/steady", two]);
    expect((await new Catalogue([new OpenDriver({ id: "open" })]).choose("open")).id).toBe("open/maker/best");
  });

  test("need at least one agent", () => {
    expect(() => new Catalogue([])).toThrow("at least one driver");
  });

  test("are listed even if one agent cannot list its own", async () => {
    const catalogue = new Catalogue([mute, one]);
    expect((await catalogue.models()).map((model) => model.id)).toEqual(["one/steady", "one/swift"]);
    expect(await catalogue.defaultModel()).toBe("one/steady");
    await expect(catalogue.choose("mute/x")).rejects.toThrow("mute is not installed.");
    await expect(new Catalogue([mute]).models()).rejects.toThrow("mute is not installed.");
  });

  test("are found by their full id, or by name where only one agent has it", async () => {
    const catalogue = new Catalogue([one, two]);
    expect((await catalogue.choose("two/swift")).id).toBe("two/swift");
    expect(await catalogue.choose("two/deep/thought")).toEqual({ id: "two/deep/thought", driver: two });
    expect((await catalogue.choose("thought")).id).toBe("two/deep/thought");
  });

  test("are rejected by an ambiguous or unknown name, with what there is", async () => {
    const catalogue = new Catalogue([one, two]);
    await expect(catalogue.choose("swift")).rejects.toMatchObject({
      kind: "invalidParams",
      data: { field: "model", known: ["one/swift", "two/swift"] },
    });
    await expect(catalogue.choose("gpt")).rejects.toMatchObject({
      message: expect.stringContaining("one/steady, one/swift, two/steady"),
      data: { field: "model" },
    });
  });

  test("are named up to a limit in an error", async () => {
    const models = Array.from({ length: 25 }, (_, at) => ({
      id: `many/${at}`,
      displayName: "M",
      isDefault: at === 0,
    }));
    const catalogue = new Catalogue([new ScriptedDriver({ id: "many", models })]);
    await expect(catalogue.choose("gpt")).rejects.toThrow(/many\/19, and 5 more\.$/);
  });

  test("need not be listed if their agent knows the name", async () => {
    const catalogue = new Catalogue([one, new OpenDriver({ id: "open" })]);
    expect((await catalogue.choose("open/maker/new-model")).id).toBe("open/maker/new-model");
    expect((await catalogue.choose("maker/new-model")).id).toBe("open/maker/new-model");
    await expect(catalogue.choose("locked/model")).rejects.toThrow("Set LOCKED_KEY.");
    await expect(catalogue.choose("open/locked/model")).rejects.toThrow("Set LOCKED_KEY.");
  });

  test("are not listed to find a default that is known without", async () => {
    expect(await new Catalogue([new OpenDriver({ id: "open" }), one]).defaultModel()).toBe("open/maker/best");
  });

  test("of an unknown agent are rejected with the agents that there are", () => {
    expect(() => new Catalogue([one, two]).driverOf("three/x")).toThrow(/no agent "three"/);
  });
});

describe("the selectors of a model", () => {
  const catalogue = new Catalogue([one]);

  test("accept values in any order when one makes the other appear", async () => {
    const requested = { effort: "high", thinking: "true" };
    expect(await catalogue.withValues("one/steady", {}, requested)).toEqual(requested);
  });

  test("reject an unknown selector and an unknown value with what there is", async () => {
    await expect(catalogue.withValues("one/steady", {}, { effort: "high" })).rejects.toMatchObject({
      kind: "invalidParams",
      message: 'Unknown config option "effort". Known: thinking.',
    });
    await expect(catalogue.withValues("one/steady", {}, { thinking: "maybe" })).rejects.toMatchObject({
      kind: "invalidParams",
      message: '"maybe" is not a value of thinking. Known: true, false.',
    });
    await expect(catalogue.withValues("one/steady", {}, { ["__proto__"]: "x" })).rejects.toMatchObject({
      kind: "invalidParams",
    });
  });

  test("keep the values that another model offers too, and drop the others", async () => {
    const values = { thinking: "true", effort: "high", gone: "x" };
    expect(await catalogue.keepOffered("one/swift", values)).toEqual({ thinking: "true", effort: "high" });
    expect(await catalogue.keepOffered("one/swift", { effort: "high" })).toEqual({});
    expect(await catalogue.keepOffered("one/swift", { thinking: "true", effort: "huge" })).toEqual({
      thinking: "true",
    });
    expect(await catalogue.keepOffered("one/swift", {})).toEqual({});
  });
});
