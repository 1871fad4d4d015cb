import type { Engine } from "@flint/core";
import type { Clock } from "@flint/core/ports";
import type { Listening } from "./listening.ts";

/**
 * Resolves when a server has had no client and nothing under way for so long, counted again whenever there was. A turn that
 * runs is waited for, and so is what an agent has in the background.
 */
export async function unused(
  listening: Pick<Listening, "empty" | "size" | "arrivals">,
  engine: Pick<Engine, "isWorking">,
  clock: Clock,
  milliseconds: number,
): Promise<void> {
  for (;;) {
    await listening.empty();
    const { arrivals } = listening;
    await new Promise<void>((resolve) => void clock.after(milliseconds, resolve));
    if (listening.size > 0 || listening.arrivals !== arrivals) continue;
    if (!engine.isWorking) return;
  }
}
