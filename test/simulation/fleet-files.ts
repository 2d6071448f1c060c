import {
  appendFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import type { Operation } from "../../providers/kubeadm/machine/operations";

/** One simulated machine, as the fleet is started. */
export interface SimulatedMachine {
  name: string;
  /** on which it listens; default 127.0.0.1 */
  address?: string;
  sshPort: number;
  hostKey: { private: string; public: string };
  /** where its API server is reached once it is a control plane */
  apiServerPort: number;
}

/** What the process of the simulated hosts is started with. */
export interface FleetConfiguration {
  machines: SimulatedMachine[];
  /** the key that logs in, "ssh-ed25519 AAAA…" */
  userKey: string;
  /** path of the bare API server's kubeconfig, and its port */
  kubeconfig: string;
  apiServerPort: number;
  /** such as "v1.36.3" */
  version: string;
  /** how long an operation takes; default 0 */
  milliseconds: Partial<Record<Operation, number>>;
  /** the process whose end ends the hosts */
  parent: { pid: number; startTime: string };
}

/** What is left on a machine between two scripts. */
export interface MachineState {
  prepared: boolean;
  /** SHA-256 of the user's files that its preparation wrote, by path */
  files?: Record<string, string>;
  /** "cluster=C machine=M" */
  marker?: string;
  /** Kubernetes files that foresail did not make */
  foreign?: boolean;
  member: boolean;
  controlPlane: boolean;
  /** whether it has pods although it is not a member: a person took its kubelet's credentials away */
  hasPods?: boolean;
  /** the networks that its cluster was made with, as lines "podSubnet 10.244.0.0/16" */
  fixed?: string;
  apiServerRuns: boolean;
  /** its id in etcd, while it is a member there */
  etcdId?: string;
  /** version of its node agent, and "software version" of what that may install */
  agent?: string;
  staged?: string[];
  /** the annotation that its node agent keeps on the Node */
  revision?: { key: string; value: string };
  /** names of the keys for Secrets at rest, of a control plane */
  encryptionKeys?: string[];
  /** The answer of certificate-ends; absent for certificates that have not ended. */
  certificates?: string;
  /** the key that etcd's Secrets were counted for: the first count finds some that another key encrypts */
  countedFor?: string;
  /** an alarm that its etcd has */
  etcdAlarm?: string;
  /** how far its clock is from the one here, in seconds */
  clockOffset?: number;
  /** for how many seconds its node agent has been in the middle of a change */
  changing?: string;
  /**
   * its node agent does not run: it was stopped, or its unit can't be started; or it runs and does nothing, until it is started
   * again or for ever; absent while it works
   */
  agentUnit?: "stopped" | "broken" | "hung" | "hung for ever";
  /** whether its node agent writes nothing on the Node */
  silent?: boolean;
  /** the documents from which kubeadm last wrote the settings of the cluster's nodes, of the control plane that did */
  uploaded?: string;
  /** id of its boot, while its packages ask for a reboot */
  rebootOf?: string;
  /** port at which its API server says that it listens, if not the usual one */
  apiServerPort?: string;
  /** what an adopted machine says about its settings, by the name of the fact */
  settings?: Record<string, string>;
  /** what it says about an endpoint to which it is to move, by the name of the fact */
  endpoint?: Record<string, string>;
  /** "name address" lines of its haproxy */
  backends?: string[];
  /** texts of what kubeadm writes again on it, and as it would write them: "current/kubelet", "0/kubelet" */
  rewritten?: Record<string, string>;
  /** lines of what its files would become, as configuration-differences.sh answers them; {data} stands for its kubeadm configuration */
  differences?: string[];
  /** the words with which its kube-proxy ends with the next settings */
  proxyRefusal?: string;
  /** what it says before it becomes a node, by the name of the fact */
  reading?: Record<string, string>;
  /** what it says about a version of its containerd, as package-offer.sh answers it */
  offer?: string;
}

/** What one script does wrong, once. */
export interface Fault {
  operation: Operation;
  machine: string;
  /**
   * fail: ends with `exitCode` (default 1) and `stderr`, before the effect or (`after`) after it.
   * drop: the connection is closed; the effect happens only with `after`. hang: takes `milliseconds` longer.
   */
  kind: "fail" | "drop" | "hang";
  after?: boolean;
  exitCode?: number;
  stderr?: string;
  milliseconds?: number;
}

export type Outcome = "done" | "nothing to do" | "failed" | "refused" | "lock busy";

/** One line of the journal. Times in milliseconds of `Date.now()`. */
export type JournalLine = { id: number; machine: string; operation: string; at: number } & (
  { event: "asked" } | { event: "start" } | { event: "end"; outcome: Outcome; words?: string }
);

const BLANK: MachineState = { prepared: false, member: false, controlPlane: false, apiServerRuns: false };

/** What a machine no longer has after a reset. */
export const LEFT_WITH_A_CLUSTER = [
  ...(["marker", "backends", "encryptionKeys", "agent"] as const),
  ...(["staged", "revision", "fixed", "uploaded", "files"] as const),
];

/** The state of a prepared member of a cluster, without an API server that runs on it. */
export const memberState = (cluster: string, machine: string, controlPlane: boolean): MachineState => ({
  prepared: true,
  marker: `cluster=${cluster} machine=${machine}`,
  member: true,
  controlPlane,
  apiServerRuns: false,
});

/** The folder that the tests and the hosts' process share. */
export class FleetFiles {
  private journal: { readonly size: number; readonly lines: readonly JournalLine[] } = { size: 0, lines: [] };

  constructor(readonly folder: string) {
    for (const name of ["machines", "faults", "off"])
      mkdirSync(join(folder, name), { recursive: true, mode: 0o700 });
  }

  get configuration(): FleetConfiguration {
    return JSON.parse(readFileSync(join(this.folder, "fleet.json"), "utf8")) as FleetConfiguration;
  }

  set configuration(configuration: FleetConfiguration) {
    this.write("fleet.json", JSON.stringify(configuration));
  }

  /** exists once all hosts listen */
  get readyFile(): string {
    return join(this.folder, "ready");
  }

  get offFolder(): string {
    return join(this.folder, "off");
  }

  isOff(machine: string): boolean {
    return existsSync(join(this.offFolder, machine));
  }

  setOff(machine: string, off: boolean): void {
    if (off) writeFileSync(join(this.offFolder, machine), "");
    else rmSync(join(this.offFolder, machine), { force: true });
  }

  state(machine: string): MachineState {
    const file = join(this.folder, "machines", `${machine}.json`);
    return existsSync(file) ? (JSON.parse(readFileSync(file, "utf8")) as MachineState) : { ...BLANK };
  }

  saveState(machine: string, state: MachineState): void {
    this.write(join("machines", `${machine}.json`), JSON.stringify(state));
  }

  forget(machine: string): void {
    rmSync(join(this.folder, "machines", `${machine}.json`), { force: true });
  }

  inject(fault: Fault): void {
    this.write(faultFile(fault), JSON.stringify(fault));
  }

  /** Takes the fault of this script. */
  takeFault(operation: string, machine: string): Fault | undefined {
    const file = join(this.folder, faultFile({ operation, machine }));
    if (!existsSync(file)) return undefined;
    const fault = JSON.parse(readFileSync(file, "utf8")) as Fault;
    rmSync(file);
    return fault;
  }

  /** Faults that no script has met yet. */
  get faultsLeft(): string[] {
    return readdirSync(join(this.folder, "faults"));
  }

  log(line: JournalLine): void {
    appendFileSync(join(this.folder, "journal"), `${JSON.stringify(line)}\n`);
  }

  /** Looked at every few milliseconds by who waits for a line, so it is read again only when it has grown. */
  get journalLines(): readonly JournalLine[] {
    const file = join(this.folder, "journal");
    const size = statSync(file, { throwIfNoEntry: false })?.size ?? 0;
    if (size !== this.journal.size) {
      const lines = readFileSync(file, "utf8").trim().split("\n").filter(Boolean);
      this.journal = { size, lines: lines.map((line) => JSON.parse(line) as JournalLine) };
    }
    return this.journal.lines;
  }

  private write(name: string, text: string): void {
    const file = join(this.folder, name);
    writeFileSync(`${file}.new`, text, { mode: 0o600 });
    renameSync(`${file}.new`, file);
  }
}

function faultFile({ operation, machine }: { operation: string; machine: string }): string {
  return join("faults", `${operation} ${machine}`);
}
