export { checkFleet } from "./fleet-service.ts";
export { signerOf } from "./signing-key.ts";
