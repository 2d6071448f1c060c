import { containerNodeSettings } from "../../../sandbox/nodes";
import { label } from "./by-hand";
import type { Story } from "./story";

const { kubelet, kubeadm } = containerNodeSettings;

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
];
