import { readFileSync } from "node:fs";
import { setTimeout as pause } from "node:timers/promises";
import { parse, parseAllDocuments } from "yaml";
import { AGENT_INSTALLED } from "../../providers/kubeadm/machine/steps";
import type { NodeRegistration } from "./cluster-nodes";
import { type FleetConfiguration, LEFT_WITH_A_CLUSTER, type MachineState } from "./fleet-files";
import { agentSpeaks, nodeAgent, startAgent } from "./agent-operations";
import { clockOf, isPreparedAs, readingOf, writtenFiles } from "./machine-reading";
import { fullMarkOf, isOfOthers, isUnnamed, markerOf } from "./marks";
import { answer, DONE, failed, NOTHING, refused, type Result, type Setting } from "./operation-result";
import { type ReceivedScript, settingsIn } from "./received-script";

type Operation = (setting: Setting) => Result | Promise<Result>;

const OPERATIONS: Record<string, Operation> = {
  // each host of the simulation is a machine of its own
  "machine-facts": ({ script, state }) =>
    named({
      ...{ marker: state.marker ?? "", identity: script.machine },
      ...{ member: state.member ? "yes" : "", fixed: state.fixed ?? "" },
      changing: state.changing ?? "",
      begunControlPlane: state.etcdId !== undefined && state.prepared && !state.member ? "yes" : "",
    }),
  own: ({ script, state }) => {
    if (state.marker === undefined) return NOTHING;
    state.marker = fullMarkOf(script.text);
    return DONE;
  },
  // a machine that says nothing but its clock, and what the test says
  "machine-reading": ({ state, script }) => named(readingOf(state, script)),
  prepare: ({ script, state }) => {
    const marker = fullMarkOf(script.text);
    if (state.member || (state.marker === marker && isPreparedAs(state, script))) return NOTHING;
    if (isUnnamed(state, script.text)) return refused(script.machine, "an earlier release marked it");
    state.marker = marker;
    Object.assign(state, { prepared: true, files: writtenFiles(script) });
    return DONE;
  },
  "adoption-facts": ({ script, state, configuration }) => {
    const facts = {
      marker: state.marker ?? "",
      authority: isMemberOfSomeCluster(state) ? authorityOf(configuration) : "",
      machineId: script.machine,
      addresses: "",
      system: "debian 12 x86_64",
      kubelet: "/usr/local/bin/kubelet",
      controlPlane: state.controlPlane ? "yes" : "",
      apiServerPort: state.apiServerPort ?? "",
    };
    return named(facts);
  },
  // a machine as kubeadm left it, but for what the test says
  "adoption-settings": ({ state: { settings } }) =>
    named({ kubeletPath: "/var/lib/kubelet/config.yaml", readsMirrors: "yes", ...settings }),
  // what the test says of files and objects that kubeadm writes again: nothing differs
  "rewritten-settings": ({ state: { rewritten = {} } }) => named(rewritten),
  "adoption-access": ({ configuration }) => answer(readFileSync(configuration.kubeconfig, "utf8")),
  adopt: ({ script, state }) => {
    if (isUnnamed(state, script.text)) return refused(script.machine, "an earlier release marked it");
    const marker = fullMarkOf(script.text);
    const isSame = state.marker === marker;
    Object.assign(state, { marker, member: true });
    return isSame ? NOTHING : DONE;
  },
  release: ({ state }) => {
    for (const field of ["marker", "agent", "staged", "revision"] as const) delete state[field];
    state.member = false;
    return DONE;
  },
  facts: ({ state }) => {
    const { member, controlPlane, rebootOf, marker } = state;
    const unnamed = marker !== undefined && !marker.includes(" id=");
    const reset = marker !== undefined && !member && state.hasPods !== true;
    return answer(JSON.stringify({ member, controlPlane, unnamed, reset, rebootOf, clock: clockOf(state) }));
  },
  reboot: ({ state }) => {
    delete state.rebootOf;
    return DONE;
  },
  init,
  "configure-cluster": ({ script, state }) => {
    state.uploaded = settingsIn(script);
    return DONE;
  },
  "restart-kube-proxy": () => DONE,
  // a machine that reaches every endpoint, but for what the test says
  "endpoint-facts": ({ state: { endpoint } }) => named(endpoint ?? {}),
  "move-endpoint": () => DONE,
  // a kube-proxy that accepts its settings, but for what the test says
  "tried-kube-proxy": ({ state: { proxyRefusal } }) =>
    answer(proxyRefusal === undefined ? "" : `refused kube-proxy ${base64(proxyRefusal)}`),
  "configuration-differences": ({ state, script }) =>
    answer((state.differences ?? []).join("\n").replaceAll("{data}", base64(script.data))),
  // a machine whose repositories have every version, but for what the test says
  "package-offer": ({ state: { offer = "offered" } }) => answer(offer),
  "admin-kubeconfig": ({ state, configuration }) =>
    state.controlPlane
      ? answer(readFileSync(configuration.kubeconfig, "utf8"))
      : failed("cat: /etc/kubernetes/admin.conf: No such file or directory"),
  "control-plane-secrets": ({ state }) =>
    state.controlPlane
      ? answer(Buffer.from(`secrets with ${keysOf(state).join()}`).toString("base64"))
      : failed("tar: pki/ca.key: No such file or directory"),
  "join-control-plane": (setting) => joinCluster(setting, true),
  "join-worker": (setting) => joinCluster(setting, false),
  register: async ({ script, state, configuration, nodes }) => {
    if (!state.member) return failed("Failed to restart kubelet.service: Unit kubelet.service not found.");
    const registration = { name: script.machine };
    // kubeadm sets the role, only at the join
    await nodes.register(registration, false, indexOf(configuration, script.machine));
    await agentSpeaks(script.machine, state, nodes);
    return DONE;
  },
  "forget-membership": ({ state }) => {
    Object.assign(state, { member: false, controlPlane: false, apiServerRuns: false });
    return DONE;
  },
  endpoint: ({ script, state }) => {
    const backends = [...(/^BACKENDS=\((.*)\)$/m.exec(script.text)?.[1] ?? "").matchAll(/'([^']*)'/g)].map(
      ([, backend]) => backend ?? "",
    );
    const isSame = JSON.stringify(state.backends) === JSON.stringify(backends);
    state.backends = backends;
    return isSame ? NOTHING : DONE;
  },
  "node-agent": nodeAgent,
  "encryption-status": ({ state }) =>
    answer(
      ["file", "loaded"]
        .flatMap((source) => keysOf(state).map((key) => `${source} ${key} of-${key}`))
        .join("\n"),
    ),
  "encryption-key": ({ script, state }) => {
    const key = parameter(script, "KEY");
    return answer(keysOf(state).includes(key) ? `${KEY_TEXT}${key}` : "");
  },
  "encryption-keys": ({ script, state }) => {
    const keys = [...parameter(script, "KEYS", /^KEYS=\((.*)\)$/m).matchAll(/'([^']*)'/g)].map(
      ([, key = ""]) => key,
    );
    const missing = keys.find((key) => !keysOf(state).includes(key));
    const isGiven = missing !== undefined && script.data.trim() === `${KEY_TEXT}${missing}`;
    if (missing !== undefined && !isGiven && parameter(script, "MAY_CREATE") === "no")
      return failed(`${script.machine}: has no encryption key ${missing}`);
    const isSame = JSON.stringify(keysOf(state)) === JSON.stringify(keys);
    state.encryptionKeys = keys;
    return isSame ? NOTHING : DONE;
  },
  "encryption-stale": ({ script, state }) => {
    const key = parameter(script, "KEY");
    const stale = state.countedFor === key ? 0 : 3;
    state.countedFor = key;
    return answer(String(stale));
  },
  // a machine whose certificates have not ended, but for what the test says
  "certificate-ends": ({ state: { certificates = "ca=2099-01-01T00:00:00Z" } }) => answer(certificates),
  "renew-certificates": () => DONE,
  "await-static-pods": () => NOTHING,
  "start-agent": startAgent,
  "agent-log": ({ script }) => answer(`node agent of ${script.machine}`),
  initialized: ({ state }) => answer(state.agent ?? ""),
  "etcd-members": etcdMembers,
  "etcd-alarms": ({ state }) =>
    answer(JSON.stringify({ alarms: state.etcdAlarm ? [{ memberID: "1", alarm: state.etcdAlarm }] : [] })),
  "etcd-remove": etcdRemove,
  "leave-control-plane": ({ state }) => {
    const isRunning = state.apiServerRuns;
    state.apiServerRuns = false;
    return isRunning ? DONE : NOTHING;
  },
  reset: ({ state }) => {
    if (!state.marker) return NOTHING;
    // etcd-remove removes the member, on a control plane that stays
    Object.assign(state, { prepared: false, member: false, controlPlane: false, apiServerRuns: false });
    for (const field of LEFT_WITH_A_CLUSTER) delete state[field];
    return DONE;
  },
};

/** What refuse_unprepared answers. */
const unprepared = ({ machine, text }: ReceivedScript): Result => {
  const [, whatHelps = ""] = /^refuse_unprepared "(.*)"$/m.exec(text) ?? [];
  const why = `nothing is prepared on this machine; ${whatHelps.replaceAll("\\`", "`")}`;
  return refused(machine, why);
};

const named = (facts: Readonly<Record<string, string>>): Result =>
  answer(
    Object.entries(facts)
      .map(([name, text]) => `${name} ${base64(text)}`)
      .join("\n"),
  );

const base64 = (text: string) => Buffer.from(text).toString("base64");

/** Made by foresail or by others. */
const isMemberOfSomeCluster = ({ member, foreign }: MachineState) => member || foreign === true;

function authorityOf({ kubeconfig }: FleetConfiguration): string {
  const { clusters } = parse(readFileSync(kubeconfig, "utf8")) as {
    clusters: { cluster: { "certificate-authority-data"?: string } }[];
  };
  return Buffer.from(clusters[0]?.cluster["certificate-authority-data"] ?? "", "base64").toString();
}

/** What the simulation's encryption keys look like, followed by their names. */
export const KEY_TEXT = "c2ltdWxhdGVkLWVuY3J5cHRpb24ta2V5-";

const keysOf = ({ encryptionKeys = ["foresail-1"] }: MachineState) => encryptionKeys;

/** A variable of a script. */
function parameter(
  { text }: ReceivedScript,
  name: string,
  pattern = new RegExp(`^${name}='(.*)'$`, "m"),
): string {
  return pattern.exec(text)?.[1] ?? "";
}

/** Applies the effect of a foresail script to its machine, and returns its output. Changes the state in place. */
export async function perform(setting: Setting): Promise<Result> {
  const { script, state } = setting;
  const operation = OPERATIONS[script.operation];
  if (!operation) return failed(`the simulation knows no operation ${script.operation}`, 64);
  const mayBeForeign = ["adopt", "release", "own"].includes(script.operation);
  const isForeign = !state.marker && state.foreign && !mayBeForeign;
  // a reading leaves it to the preview's own question whose a marked machine is
  if (script.operation === "machine-reading") return operation(setting);
  const isOfAnother = isOfOthers(state, script.text);
  if (markerOf(script.text) && (isOfAnother || isForeign))
    return refused(
      script.machine,
      `contains Kubernetes files that foresail did not create for this cluster (${state.marker ?? "no mark"})`,
    );
  return operation(setting);
}

async function init({ script, state, files, configuration, nodes }: Setting): Promise<Result> {
  if (state.member) return NOTHING;
  if (!state.prepared) return unprepared(script);
  const other = configuration.machines.find(({ name }) => files.state(name).controlPlane);
  if (other)
    return failed(`the simulation refuses a second cluster: ${other.name} is a control plane already`);
  const documents = parseAllDocuments(script.data).map((document) => document.toJS() as Document);
  const registration = documents.find(({ kind }) => kind === "InitConfiguration")?.nodeRegistration;
  if (!registration?.name)
    return failed("kubeadm: no InitConfiguration with nodeRegistration.name in the data");
  const { networking = {} } = documents.find(({ kind }) => kind === "ClusterConfiguration") ?? {};
  state.fixed = Object.entries(networking)
    .map((each) => each.join(" "))
    .join("\n");
  await nodes.beginCluster(configuration.machines.map(({ name }) => name));
  await nodes.register(registration, true, indexOf(configuration, script.machine));
  becomeControlPlane(state, configuration, script.machine);
  Object.assign(state, {
    encryptionKeys: [parameter(script, "ENCRYPTION_KEY")],
    uploaded: settingsIn(script),
  });
  return DONE;
}

interface Document {
  kind?: string;
  nodeRegistration?: NodeRegistration;
  controlPlane?: unknown;
  networking?: Record<string, string>;
  discovery?: { tlsBootstrapToken?: string; bootstrapToken?: { token?: string } };
}

async function joinCluster(
  { script, state, files, configuration, nodes }: Setting,
  asControlPlane: boolean,
): Promise<Result> {
  if (state.member) return NOTHING;
  if (!state.prepared) return unprepared(script);
  const [joining = "", discovery = "", secrets = ""] = script.data
    .split("\n")
    .map((line) => Buffer.from(line, "base64").toString());
  const document = parse(joining) as Document | null;
  const registration = document?.nodeRegistration;
  if (!registration?.name)
    return failed("kubeadm: no JoinConfiguration with nodeRegistration.name in the data");
  if (!discovery.includes("server:")) return failed("kubeadm: the discovery file names no server");
  if (asControlPlane && (!secrets || !document?.controlPlane))
    return failed("kubeadm: certificates are missing");
  const token = document?.discovery?.tlsBootstrapToken ?? document?.discovery?.bootstrapToken?.token ?? "";
  if (!(await nodes.hasToken(token)))
    return failed("kubeadm: error: the bootstrap token is not in the cluster");
  if (asControlPlane) {
    // etcd has the member before the API server of the machine is ready
    state.etcdId = etcdIdOf(configuration, script.machine);
    files.saveState(script.machine, state);
    await pause(configuration.milliseconds["join-control-plane"] ?? 0);
  }
  await nodes.register(registration, asControlPlane, indexOf(configuration, script.machine));
  if (asControlPlane) {
    becomeControlPlane(state, configuration, script.machine);
    state.encryptionKeys = secrets.replace("secrets with ", "").split(",");
  }
  state.member = true;
  if (parameter(script, "AGENT") !== "yes") return DONE;
  await nodeAgent({ script, state, files, configuration, nodes });
  return answer(AGENT_INSTALLED);
}

const etcdIdOf = (configuration: FleetConfiguration, machine: string): string =>
  String(8_000_000_000 + indexOf(configuration, machine));

function becomeControlPlane(state: MachineState, configuration: FleetConfiguration, machine: string): void {
  state.etcdId = etcdIdOf(configuration, machine);
  Object.assign(state, { member: true, controlPlane: true, apiServerRuns: true });
}

function etcdMembers({ files, configuration }: Setting): Result {
  const members = configuration.machines.flatMap(({ name }) => {
    const { etcdId } = files.state(name);
    const urls = { peerURLs: [`https://${name}:2380`], clientURLs: [`https://${name}:2379`] };
    return etcdId ? [{ ID: etcdId, name, ...urls }] : [];
  });
  const healthy = members.filter(({ name }) => !files.isOff(name) && files.state(name).controlPlane);
  const lines = healthy.map(({ clientURLs }) => `healthy ${clientURLs[0]}`);
  return answer([JSON.stringify({ members }), ...lines].join("\n"));
}

function etcdRemove({ script, state, files, configuration }: Setting): Result {
  const id = /^MEMBER_ID='(\d+)'$/m.exec(script.text)?.[1];
  const leaving = configuration.machines.find(({ name }) => files.state(name).etcdId === id);
  if (!id || !leaving) return NOTHING;
  if (leaving.name === script.machine) {
    delete state.etcdId;
    return DONE;
  }
  const { etcdId: _, ...others } = files.state(leaving.name);
  files.saveState(leaving.name, others);
  return DONE;
}

function indexOf(configuration: FleetConfiguration, machine: string): number {
  return configuration.machines.findIndex(({ name }) => name === machine);
}
