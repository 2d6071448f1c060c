import { CLUSTER_HISTORY, CLUSTER_LEASE } from "../../../lib/kubernetes/own-objects";
import { ANNOTATION_POLICY } from "../../../providers/kubeadm/plan/rollout/annotation-policy";
import { READER } from "../../../providers/kubeadm/plan/cluster/reader-account";
import { kubectl } from "./by-hand";
import { restores } from "./steps";
import type { StoryRun, Story } from "./story";

const SYSTEM = ["--namespace", "kube-system"];

const edited = (kind: string, name: string, patch: object, ...namespace: string[]): StoryRun => ({
  byHand: [kubectl("patch", kind, name, ...namespace, "--type", "merge", "--patch", JSON.stringify(patch))],
  preview: restores([kind, name]),
});

/** Objects that one person deletes, each by itself. */
const deleted = (title: string, kind: string, name: string, ...namespace: string[]): Story => ({
  title,
  runs: [{ byHand: [kubectl("delete", kind, name, ...namespace)], preview: restores([kind, name]) }],
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
  deleted("the reader's account is deleted by hand", "ServiceAccount", READER, ...SYSTEM),
  deleted("the reader's role is deleted by hand", "ClusterRole", READER),
  deleted("the binding of the reader's role is deleted by hand", "RoleBinding", READER, ...SYSTEM),
  deleted("the policy for annotations is deleted by hand", "ValidatingAdmissionPolicy", ANNOTATION_POLICY),
  deleted("the Lease of runs is deleted by hand", "Lease", CLUSTER_LEASE.name, ...SYSTEM),
  deleted("the history of changes is deleted by hand", "ConfigMap", CLUSTER_HISTORY.name, ...SYSTEM),
  deleted("the record of the owner is deleted by hand", "ConfigMap", "foresail-owner", ...SYSTEM),
  {
    title: "every object of foresail is deleted by hand",
    runs: [
      {
        byHand: [
          kubectl("delete", "ClusterRole,ClusterRoleBinding", READER),
          kubectl("delete", "ServiceAccount,Role,RoleBinding", READER, ...SYSTEM),
          kubectl("delete", "ValidatingAdmissionPolicy,ValidatingAdmissionPolicyBinding", ANNOTATION_POLICY),
        ],
        preview: restores(
          ["ServiceAccount", READER],
          ["ClusterRole", READER],
          ["ClusterRoleBinding", READER],
          ["Role", READER],
          ["RoleBinding", READER],
          ["ValidatingAdmissionPolicy", ANNOTATION_POLICY],
          ["ValidatingAdmissionPolicyBinding", ANNOTATION_POLICY],
        ),
      },
    ],
  },
  {
    title: "a binding of the reader is made wider by hand",
    runs: [
      edited("ClusterRoleBinding", READER, {
        subjects: [{ kind: "Group", name: "system:authenticated", apiGroup: "rbac.authorization.k8s.io" }],
      }),
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
