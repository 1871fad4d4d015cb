import { CommandSandbox } from "@flint/host/sandbox";

/** The sandbox that really starts and confines, with the environment of the tests. */
export function realSandbox(): CommandSandbox {
  return new CommandSandbox({ environment: process.env });
}
