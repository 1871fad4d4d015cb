export { FakeTerminal } from "./fake-terminal.ts";
