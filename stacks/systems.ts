import type * as pulumi from "@pulumi/pulumi";
import { stackOwner } from "../components/stack-owner";
import type { Configuration } from "./schema";

type StackOutputs = Record<string, pulumi.Output<unknown>>;

/** Whether foresail itself prepares the machines of a stack's system, by commands over SSH. */
export function runsCommands({ system }: Configuration): boolean {
  return system === "ssh" || system === "openstack" || system === "tumblebug";
}

/**
 * Builds a stack of the configured system and loads only that system's code.
 *
 * @returns the stack's outputs
 */
/* eslint-disable @typescript-eslint/no-require-imports */
export function build(configuration: Configuration): StackOutputs | Promise<StackOutputs> {
  if ("cluster" in configuration) stackOwner(configuration.cluster.name);
  switch (configuration.system) {
    case "ssh":
      return (require("./ssh") as typeof import("./ssh")).ssh(configuration);
    case "openstack":
      return (require("./openstack") as typeof import("./openstack")).openstack(configuration);
    case "machine-pool":
      return (require("./machine-pool") as typeof import("./machine-pool")).machinePool(configuration);
    case "azimuth":
      return (require("./azimuth") as typeof import("./azimuth")).azimuth(configuration);
    case "tumblebug":
      return (require("./tumblebug") as typeof import("./tumblebug")).tumblebug(configuration);
    case "collector":
      return (require("./collector") as typeof import("./collector")).collector(configuration);
  }
}
