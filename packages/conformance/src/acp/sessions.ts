import { isRecord } from "@flint/protocol";
import type { CheckGroup } from "../check.ts";
import {
  anyOf,
  at,
  expectFit,
  Failed,
  formatValue,
  LIST,
  listAt,
  NON_EMPTY_ARRAY,
  NON_EMPTY_STRING,
  NotOffered,
  NULLISH,
  stringAt,
} from "../wire/pattern.ts";
import { type AcpSession, promptOf, requiresCapability, sessionOf } from "./client.ts";

const HELLO = "Say hello";

/** Checks of the lifecycle of sessions, and of what can be chosen in them. */
export const SESSIONS: CheckGroup = {
  about: "Sessions",
  checks: [
    {
      name: "session/new answers with a session id, and well-formed modes and config options if any",
      run: async (trial) => {
        const { opened } = await sessionOf(trial);
        expectFit("session/new", opened, {
          sessionId: NON_EMPTY_STRING,
          modes: anyOf(NULLISH, { currentModeId: NON_EMPTY_STRING, availableModes: NON_EMPTY_ARRAY }),
          configOptions: anyOf(NULLISH, LIST),
        });
        for (const option of optionsOf(opened)) {
          expectFit("a config option", option, {
            id: NON_EMPTY_STRING,
            name: NON_EMPTY_STRING,
            type: anyOf("select", "boolean"),
          });
        }
      },
    },
    {
      name: "the current mode is one of the modes",
      run: async (trial) => {
        const { opened } = await sessionOf(trial);
        const { current, all } = modesOf(opened);
        if (!all.includes(current))
          throw new Failed(`the current mode is ${current}, the modes are ${all.join(", ")}`);
      },
    },
    {
      name: "session/set_mode is answered, and a mode that does not exist is refused with -32602",
      run: async (trial) => {
        const { wire, id, opened } = await sessionOf(trial);
        const { current, all } = modesOf(opened);
        const other = all.find((mode) => mode !== current) ?? current;
        await wire.result("session/set_mode", { sessionId: id, modeId: other });
        await wire.expectError(
          "session/set_mode",
          { sessionId: id, modeId: "no such mode" },
          { code: -32602 },
        );
        await wire.result("session/set_mode", { sessionId: id, modeId: current });
      },
    },
    {
      name: "session/set_config_option answers with all options, the changed one among them",
      run: async (trial) => {
        const { wire, id, opened } = await sessionOf(trial);
        const { configId, value } = otherValue(opened);
        const answer = await wire.result("session/set_config_option", { sessionId: id, configId, value });
        const changed = optionsOf(answer).find((option) => at(option, "id") === configId);
        expectFit(`the option ${configId}`, changed, { currentValue: value });
      },
    },
    {
      name: "a config option or a value that does not exist is refused with -32602",
      run: async (trial) => {
        const { wire, id, opened } = await sessionOf(trial);
        const { configId } = otherValue(opened);
        for (const wrong of [
          { configId: "no such option", value: "x" },
          { configId, value: "no such value" },
        ]) {
          await wire.expectError("session/set_config_option", { sessionId: id, ...wrong }, { code: -32602 });
        }
      },
    },
    {
      name: "session/list shows a session that was prompted, with its folder",
      run: async (trial) => {
        const session = await sessionOf(trial);
        requiresCapability(session.wire, "sessionCapabilities", "list");
        await session.run(HELLO);
        const list = await session.wire.result("session/list", { cwd: trial.cwd });
        const own = listAt(list, "sessions").find((one) => at(one, "sessionId") === session.id);
        expectFit("the session in the list", own, { sessionId: session.id, cwd: trial.cwd });
      },
    },
    {
      name: "session/load replays the conversation as updates before its response",
      run: async (trial) => {
        const session = await sessionOf(trial);
        requiresCapability(session.wire, "loadSession");
        await session.run(HELLO);
        await closed(session);
        const after = session.wire.mark;
        const params = { sessionId: session.id, cwd: trial.cwd, mcpServers: [] };
        const id = session.wire.begin("session/load", params);
        const answer = await session.wire.answerTo(id);
        if (!isRecord(answer.result) && answer.result !== null)
          throw new Failed(`it was answered with ${formatValue(answer)}`);
        const replayed = session.updatesBefore(answer, after);
        const said = replayed.find((update) => update.sessionUpdate === "user_message_chunk");
        expectFit("what the user said", said, { content: { type: "text", text: HELLO } });
        const kinds = replayed.map((update) => update.sessionUpdate);
        if (!kinds.includes("agent_message_chunk"))
          throw new Failed(`the updates were ${formatValue(kinds)}`);
      },
    },
    {
      name: "a loaded session accepts the next prompt",
      run: async (trial) => {
        const session = await sessionOf(trial);
        requiresCapability(session.wire, "loadSession");
        await session.run(HELLO);
        await closed(session);
        await session.wire.ask("session/load", { sessionId: session.id, cwd: trial.cwd, mcpServers: [] });
        expectFit("the answer", await session.run(HELLO), { stopReason: "end_turn" });
      },
    },
    {
      name: "session/resume replays nothing and accepts the next prompt",
      run: async (trial) => {
        const session = await sessionOf(trial);
        requiresCapability(session.wire, "sessionCapabilities", "resume");
        await session.run(HELLO);
        await closed(session);
        const after = session.wire.mark;
        await session.wire.result("session/resume", {
          sessionId: session.id,
          cwd: trial.cwd,
          mcpServers: [],
        });
        const replayed = session
          .updates(after)
          .find((update) => /message_chunk$/.test(String(update.sessionUpdate)));
        if (replayed !== undefined) throw new Failed(`it replayed ${formatValue(replayed)}`);
        expectFit("the answer", await session.run(HELLO), { stopReason: "end_turn" });
      },
    },
    {
      name: "session/close answers, and a prompt afterwards is refused",
      run: async (trial) => {
        const session = await sessionOf(trial);
        requiresCapability(session.wire, "sessionCapabilities", "close");
        await session.run(HELLO);
        await session.wire.ask("session/close", { sessionId: session.id });
        const params = { sessionId: session.id, prompt: promptOf(HELLO) };
        await session.wire.expectError("session/prompt", params, { code: anyOf(-32002, -32602, -32603) });
      },
    },
    {
      name: "session/close while a prompt runs ends that prompt as cancelled",
      run: async (trial) => {
        const session = await sessionOf(trial);
        requiresCapability(session.wire, "sessionCapabilities", "close");
        const asked = await session.provoke();
        const close = session.wire.begin("session/close", { sessionId: session.id });
        session.wire.answer(asked.request.id, { outcome: { outcome: "cancelled" } });
        await session.wire.answerTo(close);
        const answer = await session.wire.answerTo(asked.prompt);
        if (isRecord(answer.result)) expectFit("the answer", answer.result, { stopReason: "cancelled" });
      },
    },
    {
      name: "session/delete answers, and the session is no longer listed",
      run: async (trial) => {
        const session = await sessionOf(trial);
        requiresCapability(session.wire, "sessionCapabilities", "delete");
        await session.run(HELLO);
        const answer = await session.wire.ask("session/delete", { sessionId: session.id });
        if (isRecord(answer.error)) throw new Failed(`it was refused: ${formatValue(answer.error)}`);
        requiresCapability(session.wire, "sessionCapabilities", "list");
        const list = await session.wire.result("session/list", { cwd: trial.cwd });
        const ids = listAt(list, "sessions").map((one) => at(one, "sessionId"));
        if (ids.includes(session.id)) throw new Failed("it is still listed");
      },
    },
  ],
};

/** Closes a session where that can be done, so that it is opened again afterwards. */
async function closed({ wire, id }: AcpSession): Promise<void> {
  await wire.ask("session/close", { sessionId: id });
}

function optionsOf(answer: unknown): readonly unknown[] {
  const options = at(answer, "configOptions");
  return Array.isArray(options) ? options : [];
}

function modesOf(opened: unknown): { readonly current: string; readonly all: readonly string[] } {
  const modes = at(opened, "modes");
  if (!isRecord(modes)) throw new NotOffered("session/new names no modes");
  const all = listAt(modes, "availableModes").map((mode) => stringAt(mode, "id"));
  return { current: stringAt(modes, "currentModeId"), all };
}

/** An option that can be set to something else than it is. */
function otherValue(opened: unknown): { readonly configId: string; readonly value: string } {
  for (const option of optionsOf(opened)) {
    const values = at(option, "options");
    const other = (Array.isArray(values) ? values.flatMap(flat) : []).find(
      (one) => at(one, "value") !== at(option, "currentValue"),
    );
    if (other !== undefined) return { configId: stringAt(option, "id"), value: stringAt(other, "value") };
  }
  throw new NotOffered("session/new names no config option with a choice");
}

/** The values of an option may come in groups. */
function flat(value: unknown): readonly unknown[] {
  const group = at(value, "options");
  return Array.isArray(group) ? group : [value];
}
