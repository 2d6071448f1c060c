import { debuglog } from "node:util";
import * as pulumi from "@pulumi/pulumi";

/**
 * Lets Pulumi's SDK collect no diagnostics of this program's resources, which cost as much as the resources themselves:
 * a stack trace for each promise, the source position of each resource, and three debug messages for each resource,
 * one of them with all its outputs. For 500 machines this program takes half the processor time without them, and no
 * secret output is in a debug message. NODE_DEBUG=foresail keeps them.
 */
export function skipDiagnostics(): void {
  if (debuglog("foresail").enabled || process.env["PULUMI_DEBUG_PROMISE_LEAKS"] !== undefined) return;
  Error.stackTraceLimit = 0;
  Reflect.set(pulumi.Resource, "callsites", () => []);
  Reflect.set(pulumi.log, "debug", () => Promise.resolve());
}
