export { FakeTerminal } from "./fake-terminal.ts";
export { TerminalOutput } from "./terminal-output.ts";
