import { expect } from "vitest";
import { asStored, given, gives } from "./driver-given.ts";
import {
  arrange,
  begin,
  beginIn,
  COMPLETED,
  type MakeDriver,
  nativeIdOf,
  open,
  saidIn,
} from "./driver-trial.ts";

/** Both sessions know the turns before the fork, and only the fork its own. */
export async function checkFork(make: MakeDriver): Promise<void> {
  const under = await arrange(make);
  const { prompt, ask, knowsBefore, knowsPrompt } = given(under, "fork");
  const first = await begin(under, under.prompts.text);
  expect(await first.ended).toEqual(COMPLETED);
  const nativeId = nativeIdOf(first.turn);
  const history = nativeId === undefined ? [asStored(first.turn)] : [];
  const fork = await open(under, { forkOf: nativeId, history });
  const inFork = beginIn(under, fork, prompt);
  expect(await inFork.ended).toEqual(COMPLETED);
  const forkId = nativeIdOf(inFork.turn);
  expect(forkId === undefined, "the fork has an id of its own exactly if the original has one").toBe(
    nativeId === undefined,
  );
  if (nativeId !== undefined) expect(forkId, "the id of the fork").not.toBe(nativeId);
  const answer = async (session: Parameters<typeof beginIn>[1]) => {
    const { turn, ended } = beginIn(under, session, ask);
    expect(await ended).toEqual(COMPLETED);
    return saidIn(turn);
  };
  const ofFork = await answer(fork);
  expect(ofFork, "what the fork knows").toMatch(knowsBefore);
  expect(ofFork, "what the fork knows").toMatch(knowsPrompt);
  await first.session.close();
  const original = await open(under, { driver: await gives(under).again(), nativeId, history });
  const ofOriginal = await answer(original);
  expect(ofOriginal, "what the original knows").toMatch(knowsBefore);
  expect(ofOriginal, "what the original knows").not.toMatch(knowsPrompt);
}

/** A fork of an earlier turn knows nothing of the later ones. */
export async function checkForkAtTurn(make: MakeDriver): Promise<void> {
  const under = await arrange(make);
  const { prompt, ask, knowsBefore, knowsPrompt, atAnyTurn } = given(under, "fork");
  const first = await begin(under, under.prompts.text);
  expect(await first.ended).toEqual(COMPLETED);
  const position = first.turn.events.findLast((event) => event.type === "position")?.position;
  expect(position !== undefined, "it reports the position of its session").toBe(atAnyTurn);
  if (position === undefined) return;
  const forkOf = nativeIdOf(first.turn);
  const later = beginIn(under, first.session, prompt);
  expect(await later.ended).toEqual(COMPLETED);
  // The original may continue or be deleted; its later turns do not matter.
  const answer = async (session: Parameters<typeof beginIn>[1]) => {
    const { turn, ended } = beginIn(under, session, ask);
    expect(await ended).toEqual(COMPLETED);
    return { text: saidIn(turn), turn };
  };
  const ofFork = await answer(await open(under, { forkOf, position }));
  expect(ofFork.text, "what the fork knows").toMatch(knowsBefore);
  expect(ofFork.text, "what the fork knows").not.toMatch(knowsPrompt);
  expect(nativeIdOf(ofFork.turn), "the id of the fork").not.toBe(forkOf);
  expect((await answer(first.session)).text, "what the original knows").toMatch(knowsPrompt);
}

/** A fork of a session that no longer exists continues without it. */
export async function checkForkOfNothing(make: MakeDriver): Promise<void> {
  const under = await arrange(make);
  given(under, "fork");
  const forkOf = "00000000-0000-4000-8000-000000000000";
  const session = await open(under, { forkOf });
  const { turn, ended } = beginIn(under, session, under.prompts.text);
  expect(await ended).toEqual(COMPLETED);
  expect(nativeIdOf(turn), "the id of the session").not.toBe(forkOf);
}
