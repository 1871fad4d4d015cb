import type { Requirement } from "./requirements/requirement.ts";
import { S0 } from "./requirements/s0.ts";
import { S1 } from "./requirements/s1.ts";
import { S2 } from "./requirements/s2.ts";
import { S3 } from "./requirements/s3.ts";
import { S4 } from "./requirements/s4.ts";

/** Everything that must hold, in the order of its sources: the one home of what Flint promises. */
export const REQUIREMENTS: readonly Requirement[] = [...S0, ...S1, ...S2, ...S3, ...S4];
