import { expect, test } from "vitest";
import { builtInDrivers } from "../index.ts";
import { NativeDriver } from "./driver.ts";

test("Flint's own agent is there by default, with a model that needs nothing", async () => {
  const [driver] = builtInDrivers();
  expect(driver?.id).toBe("flint");
  expect(await driver?.models()).toMatchObject([
    { id: "flint/offline", displayName: "Flint offline model", isDefault: true },
  ]);
  expect(await driver?.account?.()).toEqual({ account: null, requiresLogin: false });
});

test("temperature and context length can be chosen, and what is no choice is ignored [S0-77]", async () => {
  const driver = new NativeDriver();
  const values = async (config: Record<string, string>) =>
    Object.fromEntries((await driver.options("flint/offline", config)).map(({ id, value }) => [id, value]));
  expect(await values({})).toEqual({ temperature: "0.0", context_length: "8192" });
  expect(await values({ temperature: "0.7", context_length: "99" })).toEqual({
    temperature: "0.7",
    context_length: "8192",
  });
  const [temperature, length] = await driver.options("flint/offline", {});
  expect(temperature?.options.map(({ id }) => id)).toEqual(["0.0", "0.3", "0.7", "1.0"]);
  expect(length?.options.map(({ id }) => id)).toEqual(["4096", "8192", "16384"]);
});
