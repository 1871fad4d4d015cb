export { checkFleet, signerOf } from "./fleet-service.ts";
