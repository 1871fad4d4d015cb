// Plays Claude Code on a pipe: stream-json both ways, with the control protocol. A prompt is an order, as JSON; it is
// carried out as fast as it is read, or at the speed that the order says.
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { setTimeout as pass } from "node:timers/promises";
import { type Order, PIECE, piecesPerItem, stampedPiece } from "../order.ts";

const LINES_PER_WRITE = 300;
const session_id = randomUUID();
const USAGE = {
  input_tokens: 10,
  output_tokens: 5,
  cache_read_input_tokens: 0,
  cache_creation_input_tokens: 0,
};

/** Its answer to `initialize`. The answers to other requests are not read. */
const WELCOME = {
  models: [{ value: "default", displayName: "Fake", description: "Carries out orders." }],
  ...{ commands: [], agents: [], output_style: "default", available_output_styles: ["default"], account: {} },
};

type Line = Readonly<Record<string, unknown>>;
type ControlLine = { type: "control_request"; request_id: string };
type UserLine = { type: "user"; uuid: string; message: { content: string | { text?: string }[] } };

function line(fields: Line): string {
  return `${JSON.stringify({ ...fields, session_id, parent_tool_use_id: null, uuid: randomUUID() })}\n`;
}

function event(fields: Line): string {
  return line({ type: "stream_event", event: fields });
}

function delta(text: string): string {
  return event({ type: "content_block_delta", index: 0, delta: { type: "text_delta", text } });
}

async function write(text: string): Promise<void> {
  if (!process.stdout.write(text)) await once(process.stdout, "drain");
}

async function streamAtOnce(pieces: number): Promise<void> {
  const one = delta(PIECE);
  for (let left = pieces; left > 0; left -= LINES_PER_WRITE) {
    await write(one.repeat(Math.min(left, LINES_PER_WRITE)));
  }
}

async function streamSlowly(pieces: number, perSecond: number): Promise<string> {
  const start = performance.now();
  let text = "";
  for (let sent = 0; sent < pieces; sent += 1) {
    await pass(Math.max(0, start + (sent * 1000) / perSecond - performance.now()));
    const piece = stampedPiece();
    text += piece;
    await write(delta(piece));
  }
  return text;
}

async function answerWith(pieces: number, perSecond: number): Promise<void> {
  const message = { id: randomUUID(), type: "message", role: "assistant", model: "fake", usage: USAGE };
  await write(event({ type: "message_start", message: { ...message, content: [] } }));
  await write(event({ type: "content_block_start", index: 0, content_block: { type: "text", text: "" } }));
  const slow = perSecond === 0 ? undefined : await streamSlowly(pieces, perSecond);
  if (slow === undefined) await streamAtOnce(pieces);
  const text = slow ?? PIECE.repeat(pieces);
  const whole = { ...message, content: [{ type: "text", text }] };
  await write(line({ type: "assistant", message: whole }));
  await write(event({ type: "content_block_stop", index: 0 }));
  await write(event({ type: "message_delta", delta: { stop_reason: "end_turn" }, usage: USAGE }));
  await write(event({ type: "message_stop" }));
}

async function carryOut({ uuid, message }: UserLine): Promise<void> {
  const { content } = message;
  const said = typeof content === "string" ? content : content.map(({ text = "" }) => text).join("");
  // Only measurements write prompts, and each is an order.
  const order = JSON.parse(said) as Order;
  await write(line({ type: "system", subtype: "init", model: "fake", tools: [], permissionMode: "default" }));
  await write(`${JSON.stringify({ type: "user", message, isReplay: true, uuid, session_id })}\n`);
  for (const pieces of piecesPerItem(order)) await answerWith(pieces, order.perSecond);
  const end = { is_error: false, result: "", num_turns: 1, duration_ms: 1, duration_api_ms: 1 };
  await write(
    line({ type: "result", subtype: "success", ...end, total_cost_usd: 0, usage: USAGE, modelUsage: {} }),
  );
}

for await (const text of createInterface({ input: process.stdin })) {
  // Only Flint and the adapter beside it write here.
  const frame = JSON.parse(text) as ControlLine | UserLine;
  if (frame.type === "user") await carryOut(frame);
  else if (frame.type === "control_request") {
    const response = { subtype: "success", request_id: frame.request_id, response: WELCOME };
    await write(line({ type: "control_response", response }));
  }
}
