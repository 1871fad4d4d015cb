import { describeStoppedCommands } from "./testing/stopped-commands.ts";

describeStoppedCommands(["claude", "codex"]);
