export { FakeEndpoint, refuse, stream } from "../models/testing/fake-endpoint.ts";
export * from "../models/testing/wire-formats.ts";
export { type Called, callTool, RecordedTurn, settingsIn, type TurnOptions } from "./recorded-turn.ts";
export { call, ScriptedModel, type ScriptedStep, say } from "./scripted-model.ts";
