export { OfflineModel, type OfflineOptions } from "./offline-model.ts";
