import { type Cost, type ThreadState, type TokenUsage, type Turn, totalTokens } from "@flint/protocol";
import { money, type Row, tokens } from "@flint/view";

/** Shorter turns need no line about their end. */
const WORTH_SAYING_MS = 2_000;

/** Usage of a thread at the beginning of a turn. */
interface Before {
  readonly usage: TokenUsage;
  readonly cost: Cost | undefined;
}

/** Usage of each turn, from the totals of the thread before and after it. */
export class TurnFigures {
  readonly #before = new Map<string, Before>();
  readonly #used = new Map<string, readonly string[]>();
  /** For how long the running turn has waited for the user, and since when it does. */
  #waited: { turnId: string | undefined; ms: number; since: number | undefined } = {
    ...{ turnId: undefined, ms: 0, since: undefined },
  };

  /** Looks at a thread: the totals belong to the turn that runs or has just ended. */
  look({ activeTurnId, turns, usage, usageTurnId, cost }: ThreadState): void {
    if (activeTurnId !== undefined && !this.#before.has(activeTurnId))
      this.#before.set(activeTurnId, usageTurnId === activeTurnId ? NOTHING : { usage, cost });
    const turnId = activeTurnId ?? turns.at(-1)?.id ?? "";
    const before = this.#before.get(turnId);
    if (before === undefined || usageTurnId !== turnId || before === NOTHING) return;
    this.#used.set(turnId, words(before, { usage, cost }));
  }

  /**
   * Returns the time for which the running turn has worked, without the time that the user took to answer.
   */
  workedMs({ activeTurnId, turns, approvals, questions }: ThreadState, now: number): number {
    const startedAt = turns.findLast(({ id }) => id === activeTurnId)?.startedAtMs ?? now;
    const since = [...approvals, ...questions].map(({ requestedAtMs }) => requestedAtMs);
    if (activeTurnId !== this.#waited.turnId)
      this.#waited = { turnId: activeTurnId, ms: 0, since: undefined };
    const before = this.#waited;
    if (since.length > 0 && before.since === undefined) before.since = Math.min(...since);
    if (since.length === 0 && before.since !== undefined) {
      before.ms += Math.max(0, now - before.since);
      before.since = undefined;
    }
    return Math.max(0, (before.since ?? now) - startedAt - before.ms);
  }

  /** The row with what its turn has used; undefined if it is the end of a turn about which there is nothing to say. */
  added(turn: Turn, row: Row): Row | undefined {
    if (row.family !== "turn") return row;
    const worked = row.durationMs ?? 0;
    const isPlain = turn.status === "completed" && row.body.length === 0;
    if (isPlain && worked < WORTH_SAYING_MS) return undefined;
    const used = (this.#used.get(turn.id) ?? []).map((text) => ({ text, emphasis: "muted" as const }));
    return { ...row, meta: [...row.meta, ...used] };
  }
}

/** A turn that was joined in its middle: what came before it is not known. */
const NOTHING: Before = { usage: { inputTokens: 0, outputTokens: 0 }, cost: undefined };

function words(before: Before, after: Before): string[] {
  const used = totalTokens(after.usage) - totalTokens(before.usage);
  const isSame = before.cost === undefined || before.cost.currency === after.cost?.currency;
  const amount = (after.cost?.amount ?? 0) - (before.cost?.amount ?? 0);
  return [
    ...(used > 0 ? [tokens(used)] : []),
    ...(after.cost !== undefined && isSame && amount > 0 ? [money({ ...after.cost, amount })] : []),
  ];
}
