import type { Spec, DesiredSpec } from "../plan/model";
import type { Handlers } from "../../../lib/pulumi/handler-types";
import { objectHandlers } from "./object-handlers";
import type { TumblebugSpecInputs as Inputs } from "./tumblebug-spec";

export const handlers: Handlers = objectHandlers<Inputs, DesiredSpec, Spec>({
  what: "spec",
  reason: "CreateVmSpecFailedReason",
  of: ({ specs }) => specs,
  wish: ({ name, connection, cloudSpec }, description) => ({ name, connection, cloudSpec, description }),
  describe: ({ cloudSpec }) => cloudSpec,
  outputs: () => ({}),
  mismatch: ({ connection, cloudSpec }, found) =>
    found.connection !== connection
      ? `belongs to the connection ${found.connection}`
      : found.cloudSpec !== cloudSpec
        ? `is "${found.cloudSpec}" in the cloud, not "${cloudSpec}"`
        : undefined,
  fixed: ["cloudSpec"],
});
