import { ANNOTATION_POLICY } from "../../../providers/kubeadm/plan/rollout/annotation-policy";
import { READER } from "../../../providers/kubeadm/plan/reader-account";
import { kubectl } from "./by-hand";
import { restores } from "./steps";
import type { StoryRun, Story } from "./story";

const SYSTEM = ["--namespace", "kube-system"];

const edited = (kind: string, name: string, patch: object, ...namespace: string[]): StoryRun => ({
  byHand: [kubectl("patch", kind, name, ...namespace, "--type", "merge", "--patch", JSON.stringify(patch))],
  preview: restores([kind, name]),
});

/** Objects in the cluster that people delete or change by hand. */
export const objectStories: readonly Story[] = [
  {
    title: "the policy for annotations is weakened by hand, and the reader's role widened",
    runs: [
      edited("ValidatingAdmissionPolicyBinding", ANNOTATION_POLICY, {
        spec: { validationActions: ["Warn"] },
      }),
      edited("ClusterRole", READER, { rules: [{ apiGroups: ["*"], resources: ["*"], verbs: ["*"] }] }),
    ],
  },
  {
    title: "another stack's name is written into the record of the owner",
    runs: [
      {
        byHand: [
          kubectl(
            ...["patch", "configmap", "foresail-owner", ...SYSTEM, "--type", "merge", "--patch"],
            '{"data":{"id":"0b0e8c52-9d2c-4a51-8d5b-2f4a5f7f6a11","stack":"other"}}',
          ),
        ],
        preview: /another stack|other/,
        then: [kubectl("delete", "configmap", "foresail-owner", ...SYSTEM)],
      },
      { preview: restores(["ConfigMap", "foresail-owner"]) },
    ],
  },
];
