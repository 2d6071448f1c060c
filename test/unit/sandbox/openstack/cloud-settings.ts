import {
  assignPorts,
  cloudPaths,
  PORT_COUNT,
  type CloudSettings,
} from "../../../../sandbox/openstack/settings";

/** Settings of a cloud that is never started. */
export function sampleSettings(changes: Partial<CloudSettings> = {}): CloudSettings {
  return {
    system: "sample",
    containers: true,
    octavia: false,
    bundles: [],
    ports: assignPorts(Array.from({ length: PORT_COUNT }, (_, index) => 20_000 + index)),
    passwords: {
      administrator: "administrator-pa$$word",
      service: "service-password",
      project: "project-password",
      credential: "credential-password",
      control: "control-password",
    },
    publicCidr: "10.77.9.0/24",
    ...changes,
  };
}

export const samplePaths = cloudPaths("/sandbox/openstack");
