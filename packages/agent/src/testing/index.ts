export { FakeEndpoint, stream } from "../models/testing/fake-endpoint.ts";
export * from "../models/testing/wire-shapes.ts";
export { type Called, callTool } from "./call-tool.ts";
export { commandLines } from "./command-lines.ts";
export { RecordedTurn, settingsIn, type TurnOptions } from "./recorded-turn.ts";
export { ScriptedModel, type ScriptedStep, say, want } from "./scripted-model.ts";
