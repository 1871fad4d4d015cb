export { startAndMeet } from "./background.ts";
export { type BridgeEnd, bridgeLines, bridgeSocket, standardEnds } from "./bridge.ts";
export { claimServer } from "./claim.ts";
export { type Joined, type Joining, joinOrClaim } from "./join.ts";
export { meet } from "./running-server.ts";
