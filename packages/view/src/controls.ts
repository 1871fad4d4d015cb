import type { ConfigOption } from "@flint/protocol";

/** One value that a control can have. */
export interface ControlChoice {
  readonly value: string;
  readonly label: string;
  readonly description?: string | undefined;
}

interface ControlBase {
  readonly id: string;
  readonly label: string;
  readonly description?: string | undefined;
  readonly group?: string | undefined;
  /** The value as it is sent. */
  readonly value: string;
  /** The value as it is shown. */
  readonly shown: string;
  /** The time from which a change applies: at once, or from the next turn on. */
  readonly applies: "now" | "nextTurn";
}

/** A setting that an agent advertises, as a control. Nothing is known about it but what the agent says. */
export type Control = ControlBase &
  (
    | { readonly kind: "select"; readonly choices: readonly ControlChoice[] }
    | { readonly kind: "boolean"; readonly isOn: boolean }
    | {
        readonly kind: "number";
        readonly min?: number | undefined;
        readonly max?: number | undefined;
        readonly step?: number | undefined;
      }
  );

/** The dependencies of a control besides its selector. */
export interface ControlContext {
  readonly model: string;
  /**
   * True if a turn is running: then a change applies from the next one on, unless the agent says otherwise.
   */
  readonly isRunning: boolean;
}

/** The controls for the selectors that apply to a model: grouped, each group in the order in which it first appears. */
export function controlsOf(
  options: readonly ConfigOption[],
  { model, isRunning }: ControlContext,
): readonly Control[] {
  const shown = options.filter((option) => appliesTo(option, model));
  const groups = [...new Set(shown.map(groupOf))];
  return groups.flatMap((group) =>
    shown.filter((option) => groupOf(option) === group).map((option) => controlOf(option, isRunning)),
  );
}

/** A selector without models applies to all of them. */
function appliesTo({ modelIds = [] }: ConfigOption, model: string): boolean {
  return modelIds.length === 0 || modelIds.includes(model);
}

function groupOf({ group, category }: ConfigOption): string | undefined {
  return group ?? category;
}

function controlOf(option: ConfigOption, isRunning: boolean): Control {
  const { id, name, description, value, min, max, step } = option;
  const base = {
    ...{ id, label: name === "" ? id : name, description, group: groupOf(option), value },
    applies: isRunning && option._meta?.applies !== "now" ? ("nextTurn" as const) : ("now" as const),
  };
  const { type } = option;
  if (type === "boolean") {
    const isOn = value === "true";
    return { ...base, kind: "boolean", isOn, shown: isOn ? "on" : "off" };
  }
  if (type === "number") return { ...base, kind: "number", shown: value, min, max, step };
  const choices = option.options.map((choice) => ({
    value: choice.id,
    label: choice.name === "" ? choice.id : choice.name,
    description: choice.description,
  }));
  const current = choices.find((choice) => choice.value === value);
  return { ...base, kind: "select", choices, shown: current?.label ?? value };
}

/** The value after this one, for a key that steps through the values; undefined if there is only one. */
export function nextValue(control: Control, by: 1 | -1): string | undefined {
  switch (control.kind) {
    case "boolean":
      return control.isOn ? "false" : "true";
    case "select": {
      const { choices, value } = control;
      if (choices.length < 2) return undefined;
      const at = choices.findIndex((choice) => choice.value === value);
      return choices[(at + by + choices.length) % choices.length]?.value;
    }
    case "number":
      return steppedNumber(control, by);
  }
}

function steppedNumber(
  {
    value,
    min = Number.NEGATIVE_INFINITY,
    max = Number.POSITIVE_INFINITY,
    step = 1,
  }: Extract<Control, { kind: "number" }>,
  by: 1 | -1,
): string | undefined {
  const from = Number(value);
  if (value.trim() === "" || !Number.isFinite(from)) return undefined;
  // Twelve digits hide that 0.1 + 0.2 is not 0.3.
  const next = Number(Math.min(max, Math.max(min, from + by * step)).toPrecision(12));
  return next === from ? undefined : String(next);
}

/** Returns the reason a value cannot be chosen; undefined if it can. */
export function problemWith(control: Control, value: string): string | undefined {
  switch (control.kind) {
    case "boolean":
      return value === "true" || value === "false" ? undefined : `${control.label} must be on or off.`;
    case "select":
      return control.choices.some((choice) => choice.value === value)
        ? undefined
        : `${control.label} must be one of ${control.choices.map((each) => each.value).join(", ")}, not "${value}".`;
    case "number": {
      const { label, min, max } = control;
      const number = Number(value);
      if (value.trim() === "" || !Number.isFinite(number)) return `${label} must be a number.`;
      if (min !== undefined && number < min) return `${label} must be at least ${min}.`;
      if (max !== undefined && number > max) return `${label} must be at most ${max}.`;
      return undefined;
    }
  }
}
