import type { Price, PriceList } from "@flint/agent/prices";
import type { ConfigOption, ConfigSelectOption, ConfigValues, Model } from "@flint/protocol";
import type { ClaudeModelInfo } from "@flint/protocol/claude";

const PREFIX = "claude/";
const DEFAULT = "default";

/** The aliases that every version of Claude accepts. */
const ALIASES: readonly ClaudeModelInfo[] = [
  {
    value: DEFAULT,
    displayName: "Claude's default",
    description: "The model that Claude Code is set to use.",
  },
  { value: "opus", displayName: "Claude Opus", description: "For the hardest work." },
  { value: "sonnet", displayName: "Claude Sonnet", description: "For everyday work." },
  { value: "haiku", displayName: "Claude Haiku", description: "For quick answers." },
];

/** The models to list: the aliases, and those that Claude reported. */
export function modelRows(known: readonly ClaudeModelInfo[]): Model[] {
  const byName = new Map([...ALIASES, ...known].map((info) => [info.value, info]));
  return [...byName.values()].map((info) => {
    const { value, displayName = value, description, ...meta } = info;
    return {
      id: PREFIX + value,
      displayName,
      isDefault: value === DEFAULT,
      ...(description === undefined ? {} : { description }),
      ...(Object.keys(meta).length === 0 ? {} : { meta }),
    };
  });
}

/** Claude's name of a model; undefined if Claude chooses. */
export function claudeModel(id: string): string | undefined {
  const name = id.startsWith(PREFIX) ? id.slice(PREFIX.length) : id;
  return name === DEFAULT || name === "" ? undefined : name;
}

/** Reports whether a name is an alias that Claude resolves to its current model. */
export function isAlias(name: string): boolean {
  return ALIASES.some(({ value }) => value === name);
}

/** Returns the price of a model by Claude's name of it, such as `claude-opus-5-5[1m]`. */
export function claudePrice(prices: PriceList, name: string): Price | undefined {
  const model = name.replace(/\[.*\]$/, "");
  return prices.configured(PREFIX + model) ?? prices.published(`anthropic/${model}`);
}

/** The full id of a model that Claude recognizes by its name; undefined for all others. */
export function qualifiedModel(name: string): string | undefined {
  if (name.startsWith(PREFIX)) return name.length > PREFIX.length ? name : undefined;
  return (isAlias(name) && name !== DEFAULT) || /^claude-[\w.[\]-]+$/.test(name) ? PREFIX + name : undefined;
}

/** The choices of a thread; undefined where Claude chooses. */
export interface Choices {
  readonly effort: string | undefined;
  readonly thinkingTokens: number | undefined;
  readonly mode: string;
}

const EFFORT = "reasoning_effort";
const THINKING = "max_thinking_tokens";
const MODE = "mode";
const EFFORT_LEVELS = ["low", "medium", "high"];
const THINKING_TOKENS = ["8000", "16000", "32000"];

/** The selectors of a model, with values applied; the efforts are those that the model reports. */
export function selectors(
  id: string,
  values: ConfigValues,
  known: readonly ClaudeModelInfo[],
): ConfigOption[] {
  const info = known.find(({ value }) => value === (claudeModel(id) ?? DEFAULT));
  const levels = info?.supportedEffortLevels ?? EFFORT_LEVELS;
  const own = { id: DEFAULT, name: "Claude's own choice" };
  return [
    select(EFFORT, "Reasoning effort", [own, ...levels.map(named)], values),
    select(THINKING, "Thinking tokens", [own, ...THINKING_TOKENS.map(named)], values),
    select(
      MODE,
      "Mode",
      [
        { id: DEFAULT, name: "Work" },
        { id: "plan", name: "Plan first" },
      ],
      values,
    ),
  ];
}

/** The choices in the values of a thread. */
export function choicesOf(config: ConfigValues): Choices {
  const { [EFFORT]: effort, [THINKING]: thinking, [MODE]: mode = DEFAULT } = config;
  return {
    effort: effort === DEFAULT ? undefined : effort,
    thinkingTokens: thinking === undefined || thinking === DEFAULT ? undefined : Number(thinking),
    mode,
  };
}

function select(id: string, name: string, options: ConfigSelectOption[], values: ConfigValues): ConfigOption {
  const chosen = values[id];
  const value = options.some((option) => option.id === chosen) ? (chosen ?? DEFAULT) : DEFAULT;
  return { type: "select", id, name, options, value };
}

function named(id: string): ConfigSelectOption {
  return { id, name: id };
}
