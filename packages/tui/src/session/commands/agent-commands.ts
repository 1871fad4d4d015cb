import { agentOfModel, describeGoal, type Model, modelDescription } from "@flint/protocol";
import { type Control, controlsOf, count, escapeControls } from "@flint/view";
import type { SessionContext } from "../context.ts";
import type { MenuItem } from "../menu.ts";

/** Lets the user choose a model, of this agent or of another one. */
export function chooseModel(session: SessionContext, requested: string): void {
  session.run(async () => {
    const models = await session.client.models();
    const named = models.find(({ id }) => id === requested || id.endsWith(`/${requested}`));
    if (requested !== "" && named !== undefined) return use(session, named.id);
    if (requested !== "") session.say(`No model ${requested}.`);
    session.openMenu({ title: "Model", items: models.map((model) => modelItem(session, model)) });
  });
}

function modelItem(session: SessionContext, model: Model): MenuItem {
  const name = model.displayName === model.id ? "" : model.displayName;
  const detail = [name, modelDescription(model) ?? ""].filter((text) => text !== "").join(": ");
  return {
    label: escapeControls(model.id),
    detail: escapeControls(detail),
    isCurrent: model.id === session.settings?.model,
    choose: () => session.run(() => use(session, model.id)),
  };
}

/** Lets the user switch to another agent; the thread continues with it. */
export function chooseAgent(session: SessionContext, requested: string): void {
  session.run(async () => {
    const models = await session.client.models();
    const agents = [...new Set(models.map(({ id }) => agentOfModel(id)))];
    if (agents.includes(requested)) return use(session, modelOf(requested, models));
    if (requested !== "") session.say(`No agent ${requested}.`);
    const current = session.settings === undefined ? "" : agentOfModel(session.settings.model);
    session.openMenu({
      title: "Agent",
      items: agents.map((agent) => ({
        label: escapeControls(agent),
        detail: escapeControls(aboutAgent(agent, models)),
        isCurrent: agent === current,
        choose: () => session.run(() => use(session, modelOf(agent, models))),
      })),
    });
  });
}

/** Describes the number of an agent's models, and its default one. */
function aboutAgent(agent: string, models: readonly Model[]): string {
  const own = models.filter(({ id }) => agentOfModel(id) === agent);
  const preset = own.find(({ id }) => id === modelOf(agent, models));
  const about = preset === undefined ? undefined : modelDescription(preset);
  const named = [preset?.displayName, about].filter((text) => text !== undefined && text !== "");
  return `${count(own.length, "model")}; ${named.join(": ")}`;
}

/** The default model of an agent, else its first one. */
function modelOf(agent: string, models: readonly Model[]): string {
  const own = models.filter(({ id }) => agentOfModel(id) === agent);
  return (own.find(({ isDefault }) => isDefault) ?? own[0])?.id ?? agent;
}

async function use(session: SessionContext, model: string): Promise<void> {
  const before = session.settings === undefined ? "" : agentOfModel(session.settings.model);
  await session.thread.change({ model });
  const agent = agentOfModel(model);
  session.say(
    agent === before ? `The next turn uses ${model}.` : `${agent} continues from the next turn on.`,
  );
}

/** Lets the user choose what the agent may do. */
export function choosePermissions(session: SessionContext, requested: string): void {
  const { permissions, settings } = session;
  const set = (name: string) => {
    const choice = permissions.find((each) => each.name === name);
    if (choice === undefined) return;
    session.run(async () => {
      await session.thread.change(choice.settings);
      session.say(`Permissions: ${choice.name}, from the next turn on.`);
    });
  };
  if (permissions.some(({ name }) => name === requested)) set(requested);
  else {
    const current = settings === undefined ? "" : session.describePermissions(settings);
    session.openMenu({
      title: "Permissions",
      items: permissions.map(({ name, doc }) => ({
        label: name,
        detail: doc,
        isCurrent: name === current,
        choose: () => set(name),
      })),
    });
  }
}

/** Every selector that the agent advertises, as a control. None is known by name. */
export async function readControls(session: SessionContext): Promise<readonly Control[]> {
  const { model = "", config = {} } = session.settings ?? {};
  const params = { threadId: session.state?.thread.id, ...(model === "" ? {} : { model }) };
  const { options: listed } = await session.client.call("config/list", params);
  // The server does not know choices from before the first prompt yet.
  const options = listed.map((option) => ({ ...option, value: config[option.id] ?? option.value }));
  const isRunning = session.state?.activeTurnId !== undefined;
  return controlsOf(options, { model, isRunning });
}

/** Shows the settings of the agent. */
export function openControls(session: SessionContext): void {
  session.run(async () => {
    const controls = await readControls(session);
    if (controls.length === 0) session.say("This agent has no settings for its model.");
    else {
      const items = controls.map((control) => controlItem(session, control));
      session.openMenu({ title: "Agent settings", items });
    }
  });
}

function controlItem(session: SessionContext, control: Control): MenuItem {
  const group = control.group === undefined ? "" : `${control.group}: `;
  const later = control.applies === "nextTurn" ? "from the next turn on" : "";
  const detail = [control.description ?? "", later].filter((text) => text !== "").join("; ");
  return {
    label: escapeControls(`${group}${control.label}: ${control.shown}`),
    detail: escapeControls(detail),
    choose: () => change(session, control),
  };
}

/** A select opens its values; a number is typed after its name; everything else goes on to its next value. */
function change(session: SessionContext, control: Control): void {
  if (control.kind === "select") openValues(session, control);
  else if (control.kind === "boolean") setControl(session, control.id, control.isOn ? "false" : "true");
  else session.composer.setText(`/settings ${control.id} ${control.value}`);
}

function openValues(session: SessionContext, control: Extract<Control, { kind: "select" }>): void {
  session.openMenu({
    title: escapeControls(control.label),
    items: control.choices.map(({ value, label, description }) => ({
      label: escapeControls(label),
      detail: description === undefined ? undefined : escapeControls(description),
      isCurrent: value === control.value,
      choose: () => setControl(session, control.id, value),
    })),
  });
}

/** Sets a control by its id, as `/settings ID VALUE`; without both, all are shown. */
export function settingsCommand(session: SessionContext, given: string): void {
  const [id = "", ...value] = given.split(/\s+/);
  if (value.length === 0) openControls(session);
  else setControl(session, id, value.join(" "));
}

/** One control may change another, so all are shown again. */
function setControl(session: SessionContext, id: string, value: string): void {
  session.run(async () => {
    await session.thread.setControl(id, value);
    openControls(session);
  });
}

const NO_GOAL = "No goal. /goal TEXT sets one.";

/** Sets, shows or clears the goal of the thread. `/goal TEXT --check COMMAND` continues until the command succeeds. */
export function setGoal(session: SessionContext, text: string): void {
  session.run(async () => {
    if (text === "" && session.state === undefined) return session.say(NO_GOAL);
    const threadId = await session.thread.ensure();
    if (text === "") {
      const { goal } = await session.client.call("thread/goal/get", { threadId });
      return session.say(goal === null ? NO_GOAL : escapeControls(describeGoal(goal)));
    }
    if (text === "clear") {
      await session.ownChanges.ask("thread/goal/cleared", () =>
        session.client.call("thread/goal/clear", { threadId }),
      );
      return session.say("Goal cleared.");
    }
    const [objective = "", check] = text.split(" --check ");
    const pursue = check === undefined ? {} : { check };
    await session.ownChanges.ask("thread/goal/updated", () =>
      session.client.call("thread/goal/set", { threadId, objective, pursue }),
    );
    session.inputs.sendText(objective, "queue");
  });
}

/** Lets the agent read but not change anything, and sends a prompt if there is one. */
export function planOnly(session: SessionContext, prompt: string): void {
  session.run(async () => {
    const plan = session.permissions.find(({ name }) => name === "plan");
    if (plan !== undefined) await session.thread.change(plan.settings);
    session.say("Permissions: plan. The agent can only read. Change it with /permissions.");
    if (prompt !== "") session.inputs.sendText(prompt, "steer");
  });
}
