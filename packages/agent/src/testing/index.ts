export { FakeEndpoint, refuse, stream } from "../models/testing/fake-endpoint.ts";
export * from "../models/testing/wire-formats.ts";
export { type Called, callTool, RecordedTurn, settingsIn, type TurnOptions } from "./recorded-turn.ts";
export { ScriptedModel, type ScriptedStep, textStep, toolStep } from "./scripted-model.ts";
