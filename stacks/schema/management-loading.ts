import * as pulumi from "@pulumi/pulumi";
import { AzimuthSection } from "./azimuth";
import type { AzimuthConfiguration, MachinePoolConfiguration } from "./configuration";
import { check } from "./check";
import { MachinePoolSection } from "./machine-pool";
import { json, missing, type RawKeys, type Reading } from "./reading";
import { readKubeconfig } from "./secrets";

/** Reads the keys of the system "azimuth". */
export function readAzimuth(raw: RawKeys): Reading<AzimuthConfiguration> {
  const written = raw("azimuth");
  const section = check(AzimuthSection, json(written ?? "{}"), ["azimuth"]);
  const management = readKubeconfig("managementKubeconfig", raw("managementKubeconfig"));
  return {
    value: section.value && {
      system: "azimuth",
      azimuth: section.value,
      managementKubeconfig: pulumi.secret(management.value),
    },
    mistakes: [
      ...(written === undefined ? [missing("azimuth", "examples/azimuth/")] : section.mistakes),
      ...management.mistakes,
    ],
  };
}

/** Reads the keys of the system "machine-pool". */
export function readMachinePool(raw: RawKeys): Reading<MachinePoolConfiguration> {
  const written = raw("machinePool");
  const section = check(MachinePoolSection, json(written ?? "{}"), ["machinePool"]);
  const management = readKubeconfig("managementKubeconfig", raw("managementKubeconfig"));
  const workload = raw("workloadKubeconfig");
  return {
    value: section.value && {
      system: "machine-pool",
      machinePool: section.value,
      managementKubeconfig: pulumi.secret(management.value),
      ...(workload === undefined ? {} : { workloadKubeconfig: pulumi.secret(workload) }),
    },
    mistakes: [
      ...(written === undefined ? [missing("machinePool", "examples/machine-pool/")] : section.mistakes),
      ...management.mistakes,
      ...(workload === undefined ? [] : readKubeconfig("workloadKubeconfig", workload).mistakes),
    ],
  };
}
