import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import {
  discoveryKubeconfig,
  initConfiguration,
  joinConfiguration,
} from "../providers/kubeadm/machine/configuration/configuration";
import type { ClusterSpecification } from "../providers/kubeadm/plan/cluster/specification";
import {
  type Script,
  controlPlaneSecretsScript,
  initScript,
  joinScript,
  prepareScript,
} from "../providers/kubeadm/machine/steps";
import { keyGeneration, keyName } from "../providers/kubeadm/plan/encryption/encryption";
import { controlPlanesOf, type Machine } from "../providers/kubeadm/plan/cluster/machine";

/** Placeholders that the compared scripts replace. */
const TOKEN = "@TOKEN@";
const AUTHORITY = "@AUTHORITY@";

const framed = ({ text }: Script) => `{\n${text}\n}\n`;

/**
 * Writes foresail's own remote steps for a cluster into files, so that the compared tools can run exactly the same
 * steps.
 * @returns a new temporary folder, with ssh_config and an Ansible inventory beside the steps
 */
export function renderSteps(
  specification: ClusterSpecification,
  machines: readonly Machine[],
  privateKeyFile: string,
): string {
  const folder = mkdtempSync(path.join(tmpdir(), "foresail-bench-steps-"));
  const write = (name: string, text: string) => writeFileSync(path.join(folder, name), text, { mode: 0o600 });
  const planes = controlPlanesOf(machines);
  const workers = machines.filter(({ role }) => role === "worker");
  const [first] = planes;
  if (first === undefined) throw new Error("a cluster needs a control plane");
  const { name: cluster } = specification;
  const backends = planes.map(({ name, internalAddress }) => ({ name, address: internalAddress }));

  for (const machine of machines) {
    write(`prepare-${machine.name}`, framed(prepareScript(specification, machine, backends)));
    write(`join-${machine.name}`, framed(joinScript(specification, machine)));
    write(`join-${machine.name}.yaml`, joinConfiguration(specification, machine, TOKEN));
  }
  const init = framed(initScript(specification, first.name, keyName(keyGeneration(specification))));
  write("init", init + initConfiguration(specification, first, planes));
  write("secrets", framed(controlPlaneSecretsScript(cluster, first.name)));
  write("discovery.yaml", discoveryKubeconfig(specification, AUTHORITY));
  write("control-planes", planes.map(({ name }) => `${name}\n`).join(""));
  write("workers", workers.map(({ name }) => `${name}\n`).join(""));
  write("known_hosts", machines.map(({ name, hostKey }) => `${name} ${hostKey}\n`).join(""));
  write("ssh_config", machines.map((machine) => sshHost(machine, folder, privateKeyFile)).join("\n"));
  write("inventory", inventory(planes, workers, folder));
  return folder;
}

/** One connection per machine, which all its steps share. */
function sshHost({ name, address, port, user }: Machine, folder: string, privateKeyFile: string): string {
  return `Host ${name}
  HostName ${address}
  Port ${port}
  User ${user}
  HostKeyAlias ${name}
  IdentityFile "${privateKeyFile}"
  IdentitiesOnly yes
  UserKnownHostsFile "${folder}/known_hosts"
  ControlMaster auto
  ControlPath ${folder}/%n
  ControlPersist 60s
  LogLevel ERROR
`;
}

function inventory(planes: readonly Machine[], workers: readonly Machine[], folder: string): string {
  const group = (name: string, machines: readonly Machine[]) =>
    `[${name}]\n${machines.map((machine) => `${machine.name}\n`).join("")}`;
  const variables = `[all:vars]\nwork=${folder}\nansible_ssh_common_args=-F ${folder}/ssh_config\n`;
  return [group("control_planes", planes), group("workers", workers), variables].join("\n");
}
