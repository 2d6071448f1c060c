import assert from "node:assert/strict";
import { containerNodeSettings } from "../../../sandbox/nodes/container-node-settings";
import { killUpAt } from "../killed-engine";
import type { Desired } from "../test-cluster";
import { traces } from "../traces";
import type { FailingChange } from "./change";
import * as expected from "./expected";
import {
  allowLabel,
  BLOCKED,
  blockDrains,
  DENIED,
  denyLabel,
  pinFile,
  unblockDrains,
  unpinFile,
} from "./obstacles";

/** An address that is on no machine: a program that has to listen there ends, and no preview can know that. */
const NOWHERE = "192.0.2.1";
const NO_SUCH_ADDRESS = "cannot assign requested address";
const SCHEDULER = "/etc/kubernetes/manifests/kube-scheduler.yaml";
const SITE = "/run/systemd/system/containerd.service.d";
const AGENT = "foresail-node-agent";

/** What is left to do for the node on which a change failed: it went back by itself. */
const WENT_BACK: readonly RegExp[] = [];

const CONTROLLER_MANAGER = "kubeadm.clusterConfiguration.controllerManager";
const POLICY = "/etc/example/audit.yaml";
const AUDIT_WITH_WRONG_LEVEL = {
  files: [
    {
      path: POLICY,
      content: "apiVersion: audit.k8s.io/v1\nkind: Policy\nrules:\n  - level: Everything\n",
    },
  ],
  kubeadm: {
    clusterConfiguration: {
      ...containerNodeSettings.kubeadm.clusterConfiguration,
      apiServer: {
        extraArgs: [{ name: "audit-policy-file", value: POLICY }],
        extraVolumes: [{ name: "audit", hostPath: POLICY, mountPath: POLICY, pathType: "File" }],
      },
    },
  },
};

const withFields = (desired: Desired, fields: Record<string, unknown>): Desired => ({
  ...desired,
  fields: { ...desired.fields, ...fields },
});

const rotate = (desired: Desired): Desired => withFields(desired, { encryptionKeyGeneration: 2 });

const withArgument = (
  desired: Desired,
  component: "apiServer" | "controllerManager",
  extraArg: { name: string; value: string },
): Desired => {
  const { clusterConfiguration } = containerNodeSettings.kubeadm;
  return withFields(desired, {
    kubeadm: { clusterConfiguration: { ...clusterConfiguration, [component]: { extraArgs: [extraArg] } } },
  });
};

/** The edits of docs/recovery.md, in its order. */
export const FAILING_CHANGES: readonly FailingChange[] = [
  {
    name: "a setting of the kubelet",
    byDay: true,
    edit: (desired) =>
      withFields(desired, { kubelet: { ...containerNodeSettings.kubelet, address: NOWHERE } }),
    lists: ({ all }) => expected.configured("kubelet", all, { uploads: true }),
    says: new RegExp(`the kubelet ended three times .*bind: ${NO_SUCH_ADDRESS}`),
    refusedAt: expected.inJournal("kubelet", NO_SUCH_ADDRESS),
    returns: ({ all }) => expected.configured("kubelet", all, { uploads: true, back: WENT_BACK }),
  },
  {
    name: "an argument of the API server",
    edit: (desired) => withArgument(desired, "apiServer", { name: "goaway-chance", value: "0.9" }),
    says: /on cp-1, kube-apiserver does not start with the changed settings \(.*goaway-chance/,
    returns: () => [],
  },
  {
    name: "a file with which the API server does not start",
    byDay: true,
    edit: (desired) => withFields(desired, AUDIT_WITH_WRONG_LEVEL),
    says: /on cp-1, kube-apiserver does not start with the changed settings \(.*rules\[0\]\.level: Unsupported value: .*Everything/,
    returns: () => [],
  },
  {
    name: "an argument of the controller manager",
    edit: (desired) => withArgument(desired, "controllerManager", { name: "bind-address", value: NOWHERE }),
    lists: ({ controlPlane }) => expected.configured(CONTROLLER_MANAGER, [controlPlane], { uploads: true }),
    says: new RegExp(`kube-controller-manager ended three times .*${NO_SUCH_ADDRESS}`),
    refusedAt: expected.inPodLog("kube-controller-manager", NO_SUCH_ADDRESS),
    returns: ({ controlPlane }) =>
      expected.configured(CONTROLLER_MANAGER, [controlPlane], { uploads: true, back: WENT_BACK }),
  },
  {
    name: "a setting of kube-proxy",
    edit: (desired) =>
      withFields(desired, {
        kubeProxy: {
          ...containerNodeSettings.kubeProxy,
          bindAddressHardFail: true,
          metricsBindAddress: `${NOWHERE}:10249`,
        },
      }),
    lists: () => expected.KUBE_PROXY,
    says: new RegExp(`kube-proxy .*${NO_SUCH_ADDRESS}`),
    refusedAt: expected.inPodLog("kube-proxy", NO_SUCH_ADDRESS),
    returns: () => [
      /^cluster: write the configuration of kube-proxy again, and restart it on each node in turn, since an interrupted run left other settings there$/,
    ],
  },
  {
    name: "a version of containerd that no repository has",
    edit: (desired) => withFields(desired, { rollout: { software: { containerd: "9.9.9" } } }),
    says: /no apt repository of cp-1, w-1, w-2 has containerd 9\.9\.9; they have [0-9]/,
    returns: () => [],
  },
  {
    name: "a proxy with which containerd does not start",
    before: (cluster, { worker }) =>
      cluster.onMachine(
        worker,
        `mkdir -p ${SITE}; printf "[Service]\\nExecStartPre=/bin/sh -c '! env | grep -q HTTPS_PROXY'\\n" >${SITE}/site.conf
systemctl daemon-reload`,
      ),
    after: (cluster, { worker }) => cluster.onMachine(worker, `rm -r ${SITE}; systemctl daemon-reload`),
    edit: (desired) => withFields(desired, { proxy: { https: `http://${NOWHERE}:3128` } }),
    lists: ({ all }) => [...expected.restaged(all), ...expected.configured("proxy", all)],
    says: /systemd does not start containerd \(.*status=1\/FAILURE.*; this machine went back/,
    refusedAt: expected.inJournal("containerd", "status=1/FAILURE"),
    returns: ({ all }) => [
      ...expected.restaged(all),
      ...expected.configured("proxy", all, { back: WENT_BACK }),
    ],
  },
  {
    name: "a version of Kubernetes that no machine can get",
    edit: (desired) => withFields(desired, { version: "1.36.9" }),
    lists: ({ all }) => expected.upgraded("1.36.9", all),
    says: /1\.36\.9/,
    returns: () => [],
  },
  {
    name: "packages of the operating system whose lists can't be read",
    before: (cluster, { all }) =>
      Promise.all(
        all.map((machine) =>
          cluster.onMachine(
            machine,
            `echo 'APT::Update::Pre-Invoke { "echo the mirror of this site is closed >&2; exit 1"; };' >/etc/apt/apt.conf.d/99-site`,
          ),
        ),
      ),
    after: (cluster, { all }) =>
      Promise.all(all.map((machine) => cluster.onMachine(machine, "rm /etc/apt/apt.conf.d/99-site"))),
    // waiting may help, so it is tried again until its limit
    edit: (desired) =>
      withFields(desired, { rollout: { nodeTimeoutSeconds: 60, software: { osPackages: "2026-11" } } }),
    lists: ({ all }) => expected.software("os-packages", "2026-11", all),
    says: /waited .*os-packages 2026-11: .*\(try [0-9]+\)/,
    returns: ({ all }) => [expected.backTo(all, "os-packages")],
  },
  {
    name: "a file that can't be written",
    edit: (desired) =>
      withFields(desired, { files: [{ path: "/etc/hostname/limits.conf", content: "limits" }] }),
    lists: ({ all }) => expected.configured("files", all),
    says: /\/etc\/hostname is not a folder; this machine went back to its previous configuration/,
    refusedAt: expected.inJournal(AGENT, "is not a folder"),
    returns: ({ all }) => expected.configured("files", all, { back: WENT_BACK }),
  },
  {
    name: "another endpoint for the nodes",
    byDay: true,
    edit: (desired) => withFields(desired, { endpoint: { external: { host: NOWHERE, port: 6443 } } }),
    says: /cluster\.endpoint.*set it back/,
    returns: () => [],
  },
  {
    name: "a repair of a file that can't be replaced",
    before: (cluster, { controlPlane }) =>
      pinFile(cluster, controlPlane, SCHEDULER, "s/^    - kube-scheduler$/&\\n    - --v=3/"),
    after: (cluster, { controlPlane }) => unpinFile(cluster, controlPlane, SCHEDULER),
    edit: (desired) => withFields(desired, { drift: "repair" }),
    lists: ({ all, controlPlane }) => [
      ...all.map((machine) => new RegExp(`^${machine}: repair files that others change$`)),
      new RegExp(`^${controlPlane}: repair ${SCHEDULER} \\(put the files back, restart what reads them\\)$`),
    ],
    says: /busy/,
    returns: ({ all, controlPlane }) => [
      ...all.map((machine) => new RegExp(`^${machine}: report files that others change$`)),
      new RegExp(`^${controlPlane} \\S+ \\(begun by an earlier run: uncordon\\)$`),
    ],
  },
  {
    name: "a label that a policy of the cluster denies",
    byDay: true,
    before: (cluster, { worker }) => cluster.withApi((client) => denyLabel(client, worker)),
    after: (cluster) => cluster.withApi(allowLabel),
    edit: (desired, { worker }) => ({ ...desired, labels: { [worker]: { [DENIED.label]: DENIED.value } } }),
    lists: ({ worker }) => [new RegExp(`^${worker}: label ${DENIED.label}=${DENIED.value}$`)],
    says: new RegExp(DENIED.why),
    returns: () => [],
  },
  {
    name: "a join that was killed",
    edit: (desired, { spare }) => ({ ...desired, machines: [...desired.machines, spare] }),
    lists: ({ spare }) => expected.joined(spare),
    fails: async (cluster, { spare }) => {
      await killUpAt(cluster, { machine: spare, operation: "join-worker", victims: "all" });
      await cluster.reopen();
      return "";
    },
    returns: ({ spare }) => [
      new RegExp(
        `^${spare}: prepared by a run that was interrupted; cordon, drain, .*kubeadm reset, delete its Node`,
      ),
    ],
    after: async (cluster, { spare }) => assert.deepEqual(await traces(cluster, spare), []),
  },
  {
    name: "a removal that a disruption budget blocks",
    before: (cluster, { worker }) => blockDrains(cluster, worker),
    after: unblockDrains,
    edit: (desired, { worker }) =>
      withFields(
        { ...desired, machines: desired.machines.filter((name) => name !== worker) },
        { drain: { timeoutSeconds: 10 } },
      ),
    lists: ({ worker }) => [new RegExp(`^${worker}: cordon, drain, .*kubeadm reset, delete its Node`)],
    says: BLOCKED,
    returns: ({ worker }) => [
      new RegExp(`^${worker}: stays, although an earlier run began to remove it: uncordon$`),
    ],
  },
  {
    name: "a drain that a disruption budget blocks",
    before: (cluster, { worker }) => blockDrains(cluster, worker),
    after: unblockDrains,
    edit: (desired) =>
      withFields(desired, {
        drain: { timeoutSeconds: 10 },
        kubelet: { ...containerNodeSettings.kubelet, maxPods: 93 },
      }),
    lists: ({ all }) => expected.configured("kubelet", all, { uploads: true }),
    says: new RegExp(`${BLOCKED.source}.*; w-1 was not changed, and takes pods again`),
    returns: ({ all }) => expected.configured("kubelet", all, { uploads: true, back: WENT_BACK }),
  },
  // the last one: the cluster stays at its other key
  {
    name: "a rotation of the encryption key that was killed",
    edit: rotate,
    lists: ({ controlPlane }) => expected.rotated(controlPlane, "foresail-2"),
    fails: async (cluster, { controlPlane }) => {
      await killUpAt(cluster, { machine: controlPlane, operation: "encryption-keys", victims: "all" });
      await cluster.reopen();
      return "";
    },
    // the earlier key may be gone
    forward: {
      refused: /encryptionKeyGeneration: is 2 and can't become 1: .*write 2, which the next run completes/,
      edit: rotate,
    },
    returns: () => [],
  },
];
