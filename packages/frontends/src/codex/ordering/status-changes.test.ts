import { expect, test } from "vitest";
import { notification, statusChanged } from "../events/events.ts";
import { type Line, StatusChanges } from "./status-changes.ts";

const IDLE = { type: "idle" };
const ACTIVE = { type: "active", activeFlags: [] };
const FAILED = { type: "systemError" };

test("a status is sent when it changes, and a failure stays until the next turn", () => {
  const statuses = new StatusChanges();
  const changes = [IDLE, ACTIVE, ACTIVE, FAILED, IDLE, ACTIVE, IDLE, IDLE].map((status) =>
    statuses.learn("t", status),
  );
  expect(changes).toEqual([false, true, false, true, false, true, true, false]);
});

test("only notifications about a status that the client knows are dropped", () => {
  const statuses = new StatusChanges();
  const line = (message: Line["notification"]): Line => ({ kind: "line", line: "", notification: message });
  const active = line(statusChanged("t", ACTIVE));
  const other = line(notification("thread/archived", { threadId: "t" }));
  const passed = [active, other, active, other].flatMap((each) => statuses.pass(each));
  expect(passed).toEqual([active, other, other]);
});
