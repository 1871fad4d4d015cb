import { expect, test } from "vitest";
import { codexShim } from "./shim.ts";

test.each([
  [["login"], 'codex-shim does not support "login"'],
  [[], "codex-shim needs a command"],
  [["-c", "model=x"], "codex-shim needs a command"],
])("rejects %j with a list of what is available", async (args, problem) => {
  const message = await codexShim(args).catch((thrown: Error) => thrown.message);
  expect(message).toContain(problem);
  expect(message).toContain("app-server, exec and --version");
});

test.each([
  [["app-server", "--listen", "ws://127.0.0.1:1"], "flint serve --listen"],
  [["app-server", "generate-ts"], "does not support generate-ts"],
  [["app-server", "now"], 'does not take the argument "now"'],
  [["-c", "model", "app-server"], "--config must be KEY=VALUE"],
  [["exec", "--experimental-json", "fork"], "does not support fork"],
  [["exec", "--experimental-json", "resume"], "needs the id of a thread"],
  [["exec", "--experimental-json", "--sandbox", "none"], "read-only, workspace-write, danger-full-access"],
])("rejects %j with a reason", async (args, problem) => {
  await expect(codexShim(args)).rejects.toThrow(problem);
});
