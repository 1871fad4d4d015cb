import type { Account, Driver, DriverSession, SessionSpec } from "@flint/core/ports";
import { type ConfigOption, type ConfigValues, FlintError, type Model as ModelRow } from "@flint/protocol";
import type { Model } from "./models/model.ts";

const OFFLINE: ModelRow = {
  id: "flint/offline",
  displayName: "Flint offline model",
  description: "Follows fixed rules. Needs no key and no network; always answers the same way.",
  isDefault: true,
};

/** A selector: its values in order, and the one that holds if nobody chose. */
interface Selector {
  readonly id: string;
  readonly name: string;
  readonly description: string;
  readonly values: readonly string[];
  readonly preset: string;
}

const TEMPERATURE: Selector = {
  id: "temperature",
  name: "Temperature",
  description: "How freely a model chooses its words. The offline model never varies.",
  values: ["0.0", "0.3", "0.7", "1.0"],
  preset: "0.0",
};

const CONTEXT_LENGTH: Selector = {
  id: "context_length",
  name: "Context length",
  description: "How many tokens of the conversation the model sees; the oldest are left out.",
  values: ["4096", "8192", "16384"],
  preset: "8192",
};

/** Flint's own agent: a tool loop around a model, in this process. */
export class NativeDriver implements Driver {
  readonly id = "flint";

  async models(): Promise<readonly ModelRow[]> {
    return [OFFLINE];
  }

  async options(model: string, values: ConfigValues): Promise<readonly ConfigOption[]> {
    return [TEMPERATURE, CONTEXT_LENGTH].map((selector) => ({
      type: "select",
      id: selector.id,
      name: selector.name,
      description: selector.description,
      options: selector.values.map((value) => ({ id: value, name: value })),
      value: chosen(selector, values),
      modelIds: [model],
    }));
  }

  /** The loop and its model are loaded with the first session, not with the server. */
  async open(spec: SessionSpec): Promise<DriverSession> {
    const [{ NativeSession }, { OfflineModel }] = await Promise.all([
      import("./session.ts"),
      import("./models/offline.ts"),
    ]);
    return new NativeSession(spec, {
      modelOf: ({ model }) => modelNamed(model, () => new OfflineModel()),
      temperatureOf: ({ config }) => Number(chosen(TEMPERATURE, config)),
      contextLengthOf: ({ config }) => Number(chosen(CONTEXT_LENGTH, config)),
    });
  }

  async account(): Promise<Account> {
    return { account: null, requiresLogin: false };
  }
}

function chosen({ id, values, preset }: Selector, config: ConfigValues): string {
  const value = config[id];
  return value !== undefined && values.includes(value) ? value : preset;
}

function modelNamed(id: string, offline: () => Model): Model {
  if (id === OFFLINE.id) return offline();
  const message = `Flint's own agent has no model ${id}. Choose ${OFFLINE.id}.`;
  throw new FlintError("invalidParams", message, { model: id });
}
