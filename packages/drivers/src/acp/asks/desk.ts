import type { DriverEvent, TurnContext } from "@flint/core/ports";
import type { AllowedWork } from "./granted.ts";

/** Where the services of one turn tell and ask. */
export interface Desk {
  readonly turn: TurnContext;
  readonly signal: AbortSignal;
  readonly allowed: AllowedWork;
  emit(event: DriverEvent): void;
  takeItemId(): string;
}
