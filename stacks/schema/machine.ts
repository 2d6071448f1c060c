import { API_SERVER_PORT } from "../../lib/validation/ports";
import { DEFAULT_POOL } from "../../providers/kubeadm/plan/cluster/defaults";
import { z } from "zod";
import { hostIssue, hostPortIssue, ipv4Issue } from "../../lib/validation/addresses";
import { hostKeyIssue } from "../../lib/validation/keys";
import { labelValueIssue, writtenDate } from "../../lib/validation/labels";
import { nodeLabelKeyIssue, taintKeyIssue } from "../../providers/kubeadm/plan/validation/machines";
import { nodeNameIssue, poolNameIssue, userNameIssue } from "../../lib/validation/names";
import { keyRule, port, rule, text } from "./rule";

/** Effects of a taint in Kubernetes. */
const TAINT_EFFECTS = ["NoSchedule", "PreferNoSchedule", "NoExecute"] as const;
const ROLES = ["control-plane", "worker"] as const;

/** Schema of a label value. Converts a timestamp, which YAML makes of an unquoted date, back to the date. */
const labelValue = () => rule(z.string().overwrite(writtenDate), labelValueIssue);

const MachineTaint = z.strictObject({
  key: text(taintKeyIssue).describe('Key of the taint, e.g. "example.com/gpu".'),
  value: labelValue().optional().describe("Value of the taint."),
  effect: z.enum(TAINT_EFFECTS).describe("What the taint does to pods that do not tolerate it."),
});

export const MachineRole = z.enum(ROLES, {
  error: ({ input }) =>
    typeof input === "string"
      ? `${JSON.stringify(input)} is not a role; write "control-plane" or "worker"`
      : undefined,
});

/** Schema of taints. Duplicates are checked in cross-rules.ts, because they also depend on the role. */
export const MachineTaints = z.array(MachineTaint);

export const MachineLabels = keyRule(z.record(z.string(), labelValue()), nodeLabelKeyIssue);

/** Schema of a machine as written; defaults depend on its address and on `cluster.ssh`. */
export const MachineInput = z.strictObject({
  name: text(nodeNameIssue).describe(
    "Name of the machine and its Node: a host name, such as w-1 or w-1.example.com, of at most 63 characters.",
  ),
  address: text(hostIssue).describe("Host name or IPv4 address at which SSH answers."),
  port: port().optional().describe("Port of SSH; when absent, `cluster.ssh.port`."),
  user: text(userNameIssue)
    .optional()
    .describe(
      "User that logs in: root, or one that may sudo without a password; when absent, `cluster.ssh.user`.",
    ),
  hostKey: text(hostKeyIssue)
    .optional()
    .describe('Public host key, "ssh-ed25519 AAAA…"; when absent, pinned at first contact.'),
  internalAddress: text(ipv4Issue)
    .optional()
    .describe("IPv4 address at which the machines reach each other; when absent, `address`."),
  apiServer: text(hostPortIssue)
    .optional()

    .describe(
      `Where the operator reaches the API of this control plane; when absent, "<address>:${API_SERVER_PORT}".`,
    ),
  role: MachineRole.describe("What the machine does in the cluster."),
  pool: text(poolNameIssue)
    .optional()
    .describe(`Pool that a worker belongs to; when absent, "${DEFAULT_POOL}". Not for control planes.`),
  labels: MachineLabels.default({}).describe("Labels of the Node."),
  taints: MachineTaints.default([]).describe("Taints of the Node."),
});
