import type { DrawnFrame, FirstFrame } from "@flint/tui/first-frame";

let shown: FirstFrame | undefined;

/** Keeps the first frame, which stands on the terminal already, for the session. */
export function keepFirstFrame(frame: FirstFrame | undefined): void {
  shown = frame;
}

/** Gives the first frame to the session that continues it; undefined if none was drawn. */
export function takeFirstFrame(): DrawnFrame | undefined {
  const frame = shown;
  shown = undefined;
  return frame?.take();
}

/** Removes the first frame if no session took it. */
export function eraseFirstFrame(): void {
  shown?.erase();
  shown = undefined;
}
