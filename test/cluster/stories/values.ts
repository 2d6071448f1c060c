import { containerNodeSettings } from "../../../sandbox/nodes";
import assert from "node:assert/strict";
import { askOverContext } from "../reachability";
import { kubectl, label, on } from "./by-hand";
import { configures } from "./steps";
import type { Action, Story } from "./story";

const { kubelet, kubeadm } = containerNodeSettings;

/** Asserts what the kubelet of a machine really uses. */
const effective =
  (machine: string, maxPods: number): Action =>
  async (cluster) => {
    const path = `/api/v1/nodes/${machine}/proxy/configz`;
    const { kubeletconfig } = JSON.parse(
      await askOverContext(cluster, undefined, ["get", "--raw", path]),
    ) as Record<"kubeletconfig", { maxPods: number }>;
    assert.equal(kubeletconfig.maxPods, maxPods, machine);
  };
const sysctlOf = (machine: string, value: number): Action =>
  on(machine, `test "$(sysctl --values net.ipv4.tcp_keepalive_time)" = ${value}`);
const gone = (machine: string, path: string): Action => on(machine, `test ! -e ${path}`);

/** An edit that a preview refuses, and that is taken back. */
const refused = (title: string, fields: Record<string, unknown>, words: RegExp): Story => ({
  title,
  runs: [{ edit: { fields }, preview: words }],
});

/** Values that are bad, and edits that are taken back. */
export const valueStories: readonly Story[] = [
  refused("the cluster is renamed", { name: "renamed" }, /renamed.*stories|stories.*renamed/),
  refused("a version below the cluster's is asked for", { version: "1.35.0" }, /1\.35\.0/),
  refused(
    "more memory is reserved than the nodes have",
    { kubelet: { ...kubelet, systemReserved: { memory: "900Gi" } } },
    /systemReserved/,
  ),
  refused(
    "anonymous requests are forbidden",
    {
      kubeadm: {
        clusterConfiguration: {
          ...kubeadm.clusterConfiguration,
          apiServer: { extraArgs: [{ name: "anonymous-auth", value: "false" }] },
        },
      },
    },
    /anonymous/,
  ),
  refused(
    "another pod network is asked for",
    { network: { podSubnet: "10.99.0.0/16" } },
    /network\.podSubnet/,
  ),
  refused(
    "another network of Services is asked for",
    { network: { serviceSubnet: "10.98.0.0/16" } },
    /network\.serviceSubnet/,
  ),
  refused(
    "a field of the kubelet is misspelt",
    { kubelet: { ...kubelet, maxPod: 90 } },
    /kubelet\.maxPod: is not known; did you mean "maxPods"\?/,
  ),
  refused("a minor version is skipped", { version: "1.38.0" }, /1\.38/),
  refused("Secrets are no longer to be encrypted", { encryptSecretsAtRest: false }, /encryptSecretsAtRest/),
  refused(
    "a file takes the place of the API server's manifest",
    { files: [{ path: "/etc/kubernetes/manifests/kube-apiserver.yaml", content: "none" }] },
    /kubeadm writes the control plane there/,
  ),
  refused("a drain gets a negative limit", { drain: { timeoutSeconds: -1 } }, /drain\.timeoutSeconds/),
  {
    title: "the control plane is left out",
    runs: [{ edit: { machines: ["w-1", "w-2"] }, preview: /there is no control plane/ }],
  },
  {
    title: "a worker is listed as lost while it is configured",
    runs: [{ edit: { lost: ["w-2"] }, preview: /w-2.* is still under cluster\.machines/ }],
  },
  {
    title: "a worker is to be a control plane under another name",
    runs: [
      {
        edit: {
          machines: ["cp-1", "cp-2", "w-1"],
          on: { "cp-2": "w-2" },
          fields: { allowEvenControlPlanes: true },
        },
        preview: /w-2/,
      },
    ],
  },
  {
    title: "a worker gets a label that follows from the role of others",
    runs: [
      {
        edit: { labels: { "w-2": { "node-role.kubernetes.io/control-plane": "" } } },
        preview: /follows from the role/,
      },
    ],
  },
  {
    title: "one pool gets settings of its own, and loses them",
    runs: [
      {
        edit: {
          fields: {
            pools: {
              workers: {
                kubelet: { maxPods: 42 },
                files: [
                  { path: "/etc/sysctl.d/60-pool.conf", content: "net.ipv4.tcp_keepalive_time = 301\n" },
                ],
              },
            },
          },
        },
        preview: configures("w-1", "w-2"),
        then: [effective("w-1", 42), effective("w-2", 42), effective("cp-1", 110), sysctlOf("w-1", 301)],
      },
      {
        preview: configures("w-1", "w-2"),
        then: [effective("w-1", 110), effective("w-2", 110), gone("w-1", "/etc/sysctl.d/60-pool.conf")],
      },
    ],
  },
  {
    title: "a worker gets a label, and loses it",
    runs: [
      {
        edit: { labels: { "w-2": { "example.org/team": "blue" } } },
        preview: [{ kind: "settings", machine: "w-2" }],
        then: [label("w-2", "example.org/team", "blue")],
      },
      { preview: [{ kind: "settings", machine: "w-2" }] },
    ],
  },
  {
    title: "a label that people set gets its configured value, and goes with it",
    runs: [
      {
        byHand: [kubectl("label", "node", "w-2", "example.org/team=red")],
        edit: { labels: { "w-2": { "example.org/team": "blue" } } },
        preview: [{ kind: "settings", machine: "w-2" }],
        then: [label("w-2", "example.org/team", "blue")],
      },
    ],
  },
  {
    title: "a configured label is changed by hand, and another one removed",
    runs: [
      {
        edit: { labels: { "w-1": { "example.org/rack": "1" }, "w-2": { "example.org/team": "blue" } } },
        preview: [
          { kind: "settings", machine: "w-1" },
          { kind: "settings", machine: "w-2" },
        ],
      },
      {
        byHand: [
          kubectl("label", "node", "w-1", "example.org/rack-"),
          kubectl("label", "node", "w-2", "example.org/team=red", "--overwrite"),
        ],
        edit: { labels: { "w-1": { "example.org/rack": "1" }, "w-2": { "example.org/team": "blue" } } },
        preview: [
          { kind: "settings", machine: "w-1" },
          { kind: "settings", machine: "w-2" },
        ],
        then: [label("w-1", "example.org/rack", "1"), label("w-2", "example.org/team", "blue")],
      },
    ],
  },
];
