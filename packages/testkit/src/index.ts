export { agentProgram, foundProgram, type RealAgent, searchPath } from "./agent-program.ts";
export * from "./clock.ts";
export * from "./conformance/arbitraries.ts";
export * from "./conformance/driver.ts";
export type { Call, ClientScript, Fields, FrontendUnderTest } from "./conformance/frontend/live-frontend.ts";
export * from "./conformance/frontend/suite.ts";
export * from "./conformance/frontend/translation-checks.ts";
export {
  describeHostileAgent,
  type HostileStages,
  type HostileStart,
  type HostileTrial,
  type LateAsk,
} from "./conformance/hostile-agent.ts";
export * from "./conformance/recording-turn.ts";
export * from "./conformance/store/store.ts";
export {
  allListed,
  allTurns,
  expectedState,
  kindOfFailure,
  listQuery,
  readAll,
  sampleStart,
  sampleTurn,
  WrittenThread,
} from "./conformance/store/written-thread.ts";
export * from "./fake-agents/fake-agent.ts";
export * from "./golden.ts";
export * from "./needs.ts";
export * from "./processes.ts";
export * from "./redis-server.ts";
export { type Cut, Relay } from "./relay.ts";
export * from "./scripted/script.ts";
export * from "./scripted/script-player.ts";
export * from "./scripted/scripted-driver.ts";
export * from "./temp.ts";
export * from "./test-client.ts";
export * from "./test-engine.ts";
export * from "./unreliable-store.ts";
export * from "./wire-client.ts";
