import type { Driver, TurnContext, TurnOutcome } from "@flint/core/ports";
import { inputText, mintId } from "@flint/protocol";

/** A driver whose agents live in the server and ask for as many approvals, one after another, as the prompt says. */
export const askingDriver: Driver = {
  id: "asking",
  // It writes no files.
  asksFirst: true,
  models: async () => [{ id: "asking/inside", displayName: "Asks", isDefault: true }],
  options: async () => [],
  open: async () => ({ run, close: async () => undefined }),
};

async function run(turn: TurnContext): Promise<TurnOutcome> {
  const count = Number(inputText(turn.input));
  for (let asked = 0; asked < count && !turn.signal.aborted; asked += 1) {
    const command = `make part-${asked}`;
    await turn.approve({ kind: "command", itemId: mintId(), command, cwd: turn.settings.cwd });
  }
  return { status: turn.signal.aborted ? "interrupted" : "completed" };
}
