import { describeDialect } from "@flint/testkit";
import { harnessDialect } from "./dialect.ts";

const requestId = "0190a000-0000-7000-8000-000000000001.0190a000-0000-7000-8000-000000000002";

describeDialect("the harness door", harnessDialect, {
  requests: { "approval.respond": [{ requestId, decision: "once" }] },
});
