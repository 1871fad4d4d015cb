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

/** Both sides know what was said before the fork, and only the fork what was said in it. */
export async function checkFork(make: MakeDriver): Promise<void> {
  const under = await arrange(make);
  const { told, ask, knowsBefore, knowsTold } = given(under, "fork");
  const first = await begin(under, under.prompts.text);
  expect(await first.ended).toEqual(COMPLETED);
  const nativeId = nativeIdOf(first.turn);
  const history = nativeId === undefined ? [asStored(first.turn)] : [];
  const fork = await open(under, { forkOf: nativeId, history });
  const telling = beginIn(under, fork, told);
  expect(await telling.ended).toEqual(COMPLETED);
  const forkId = nativeIdOf(telling.turn);
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
  expect(ofFork, "what the fork knows").toMatch(knowsTold);
  await first.session.close();
  const original = await open(under, { driver: await gives(under).again(), nativeId, history });
  const ofOriginal = await answer(original);
  expect(ofOriginal, "what the original knows").toMatch(knowsBefore);
  expect(ofOriginal, "what the original knows").not.toMatch(knowsTold);
}

/** A fork of an earlier turn knows nothing of the later ones. */
export async function checkForkAtTurn(make: MakeDriver): Promise<void> {
  const under = await arrange(make);
  const { told, ask, knowsBefore, knowsTold, atAnyTurn } = given(under, "fork");
  const first = await begin(under, under.prompts.text);
  expect(await first.ended).toEqual(COMPLETED);
  const position = first.turn.events.findLast((event) => event.type === "position")?.position;
  expect(position !== undefined, "it says where its session stands").toBe(atAnyTurn);
  if (position === undefined) return;
  const forkOf = nativeIdOf(first.turn);
  const later = beginIn(under, first.session, told);
  expect(await later.ended).toEqual(COMPLETED);
  // The original may go on or be gone; what was said in it by then is a matter of its own.
  const answer = async (session: Parameters<typeof beginIn>[1]) => {
    const { turn, ended } = beginIn(under, session, ask);
    expect(await ended).toEqual(COMPLETED);
    return { text: saidIn(turn), turn };
  };
  const ofFork = await answer(await open(under, { forkOf, position }));
  expect(ofFork.text, "what the fork knows").toMatch(knowsBefore);
  expect(ofFork.text, "what the fork knows").not.toMatch(knowsTold);
  expect(nativeIdOf(ofFork.turn), "the id of the fork").not.toBe(forkOf);
  expect((await answer(first.session)).text, "what the original knows").toMatch(knowsTold);
}

/** A session that is gone does not keep a fork from going on. */
export async function checkForkOfNothing(make: MakeDriver): Promise<void> {
  const under = await arrange(make);
  given(under, "fork");
  const forkOf = "00000000-0000-4000-8000-000000000000";
  const session = await open(under, { forkOf });
  const { turn, ended } = beginIn(under, session, under.prompts.text);
  expect(await ended).toEqual(COMPLETED);
  expect(nativeIdOf(turn), "the id of the session").not.toBe(forkOf);
}
