export { FakeEndpoint, stream } from "../models/testing/fake-endpoint.ts";
export * from "../models/testing/wire-formats.ts";
export { type Called, callTool } from "./call-tool.ts";
export { commandLines } from "./command-lines.ts";
export { RecordedTurn, settingsIn, type TurnOptions } from "./recorded-turn.ts";
export { call, ScriptedModel, type ScriptedStep, say } from "./scripted-model.ts";
