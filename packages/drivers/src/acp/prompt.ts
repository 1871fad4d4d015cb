import { basename, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import type { ContentBlock } from "@agentclientprotocol/sdk";
import type { SessionSpec, TurnContext } from "@flint/core/ports";
import { type ImageInput, readImage } from "@flint/host/files";
import { FlintError, inputText, type UserInput } from "@flint/protocol";
import { historyText } from "../shared/history-text.ts";
import type { AcpAgent, PromptCapabilities } from "./process/agent.ts";

/** Names that agents have for the command that compacts their context. */
const COMPACT_COMMANDS = ["compact", "compress", "summarize"];

/**
 * The part of the thread that a session lacks: the turns of other agents, those that its copy lacks, or
 * everything.
 */
type Missing = "handoff" | "handoffToCopy" | "history";

/** Builds the prompts of a session, beginning with what the agent does not know yet. */
export class PromptBuilder {
  readonly #spec: SessionSpec;
  #missing: Missing | undefined;
  #isNew = false;

  constructor(spec: SessionSpec) {
    this.#spec = spec;
  }

  /** Notes that an agent was started, and whether it should have resumed a session. */
  started({ isFresh, isCopy }: AcpAgent, hadSession: boolean): void {
    this.#isNew = isFresh;
    if (isCopy) this.#missing = "handoffToCopy";
    // A session that should have been resumed and could not knows nothing at all.
    this.#missing = isFresh && hadSession ? "history" : (this.#missing ?? "handoff");
  }

  /** The prompt of a turn. Rejects with a FlintError if the agent cannot do what the turn is for. */
  async prompt(
    turn: TurnContext,
    agent: AcpAgent,
    commands: readonly string[],
  ): Promise<readonly ContentBlock[]> {
    if (turn.kind === "compact") return [textBlock(compactCommand(commands))];
    const before = await this.#missingBlocks(turn);
    const { developerInstructions, cwd } = turn.settings;
    const instructions =
      this.#isNew && developerInstructions !== undefined ? [textBlock(developerInstructions)] : [];
    const input = await promptBlocks(turn.input, cwd, agent.capabilities);
    this.#missing = undefined;
    this.#isNew = false;
    return [...before, ...instructions, ...input, ...schemaBlocks(turn.outputSchema)];
  }

  async #missingBlocks({ turnId }: TurnContext): Promise<ContentBlock[]> {
    if (this.#missing === undefined) return [];
    const text = await this.#missingText(this.#missing, turnId);
    return text === "" ? [] : [textBlock(text)];
  }

  async #missingText(missing: Missing, turnId: string): Promise<string> {
    switch (missing) {
      case "handoff":
        return this.#spec.handoffSummary();
      case "handoffToCopy":
        return (await this.#spec.forkOf?.handoffSummary()) ?? "";
      case "history":
        return historyText((await this.#spec.history()).filter(({ id }) => id !== turnId));
    }
  }
}

/** The user's input as blocks of a prompt. What cannot be sent is replaced by the reason. Never rejects. */
export async function promptBlocks(
  input: readonly UserInput[],
  cwd: string,
  capabilities: PromptCapabilities,
): Promise<ContentBlock[]> {
  return Promise.all(input.map((piece) => block(piece, cwd, capabilities)));
}

async function block(piece: UserInput, cwd: string, { image }: PromptCapabilities): Promise<ContentBlock> {
  switch (piece.type) {
    case "text":
      return textBlock(piece.text);
    case "skill":
      return textBlock(inputText([piece]));
    case "mention": {
      const path = resolve(cwd, piece.path);
      return { type: "resource_link", name: piece.name || basename(path), uri: pathToFileURL(path).href };
    }
    case "image":
    case "localImage":
      if (!image) return problemBlock(piece, "this agent does not take images");
      return imageBlock(piece, cwd);
  }
}

async function imageBlock(image: ImageInput, cwd: string): Promise<ContentBlock> {
  const read = await readImage(image, cwd);
  if ("problem" in read) return problemBlock(image, read.problem);
  return { type: "image", mimeType: read.mediaType, data: read.base64 };
}

function problemBlock(piece: UserInput, reason: string): ContentBlock {
  return textBlock(`(${inputText([piece])}: ${reason}.)`);
}

function textBlock(text: string): ContentBlock {
  return { type: "text", text };
}

function compactCommand(commands: readonly string[]): string {
  const known = COMPACT_COMMANDS.find((name) => commands.includes(name));
  if (known !== undefined) return `/${known}`;
  throw new FlintError(
    "unsupported",
    "This agent has no command to compact its context; it does so automatically.",
  );
}

function schemaBlocks(schema: TurnContext["outputSchema"]): ContentBlock[] {
  if (schema === undefined) return [];
  return [textBlock(`Answer with nothing but JSON that matches this schema:\n${JSON.stringify(schema)}`)];
}
