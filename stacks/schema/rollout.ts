import { DEFAULT_ROLLOUT } from "../../providers/kubeadm/plan/cluster/defaults";
import { z } from "zod";
import { DEFAULT_ANNOTATION_PATTERN } from "../../providers/kubeadm/plan/rollout/annotations";
import { stopAfterIssue } from "../../providers/kubeadm/plan/rollout/stop-after";
import {
  annotationPatternIssue,
  maxUnavailableIssue,
  softwareVersionIssue,
  unreachableIssue,
} from "../../providers/kubeadm/plan/validation/rollout";
import { writtenDate } from "../../lib/validation/labels";
import { anyText, exactlyOne, flag, kubernetesVersion, rule, seconds, text, url } from "./rule";

/** Schema of a number or percentage of these. @param example a percentage for the message */
const count = (what: string, example: string, issueOf: (value: number | string) => string | undefined) =>
  rule(
    z.union([z.number(), z.string()], {
      error: `is neither a number of ${what} nor a percentage; write e.g. 2 or "${example}"`,
    }),
    issueOf,
  ) as unknown as z.ZodType<number | `${number}%`>;

const maxUnavailable = () => count("nodes", "25%", maxUnavailableIssue);
const unreachable = () => count("machines", "5%", unreachableIssue);

const PoolRollout = z.strictObject({
  maxUnavailable: maxUnavailable()
    .optional()
    .describe("As `rollout.maxUnavailable`, for this pool; not for the control planes."),
  paused: flag(false, "Leave the nodes of this pool at their versions."),
});

const Gate = exactlyOne(
  z.strictObject({
    url: url()
      .optional()
      .describe("A URL that answers 2xx when the next node may start, called from where Pulumi runs."),
    command: z
      .string()
      .min(1)
      .optional()
      .describe("A shell command that exits with 0 when the next node may start, run where Pulumi runs."),
  }),
);

const version = () => text(softwareVersionIssue).optional();

export const RolloutConfiguration = z.strictObject({
  maxUnavailable: maxUnavailable()
    .default(DEFAULT_ROLLOUT.maxUnavailable)
    .describe(
      'How many nodes of a worker pool may be unavailable at once: a number, or a percentage such as "25%", rounded down. Control planes change one at a time.',
    ),
  pools: z
    .record(z.string(), PoolRollout)
    .default({})
    .describe('By pool name; the control planes are "control-plane".'),
  pausedNodes: z.array(z.string()).default([]).describe("Names of machines that stay at their versions."),
  intermediateVersions: z
    .array(kubernetesVersion())
    .default([])
    .describe("Versions to stop at between minors; needed where `version` is more than one minor ahead."),
  unreachable: unreachable()
    .optional()
    .describe(
      'How many unreachable machines a run may leave out and still succeed: a number, or a percentage of all machines such as "5%", rounded down; the next run continues with them. Without it no machine: a rollout that leaves out a worker ends with an error.',
    ),
  soakSeconds: seconds(0)
    .default(DEFAULT_ROLLOUT.soakSeconds)
    .describe("Between the end of a node and the start of the next."),
  gate: Gate.optional().describe("Checked before each node starts, until it is open or the deadline passes."),
  stopAfter: text(stopAfterIssue)
    .optional()
    .describe(
      'A duration such as "2h", or a time of day such as "06:00": no node starts that would not finish by then; the next `up` continues.',
    ),
  nodeTimeoutSeconds: seconds()
    .default(DEFAULT_ROLLOUT.nodeTimeoutSeconds)
    .describe("Until a node is Ready with its new version, and until the gate is open."),
  onFailure: z
    .enum(["back", "stop"])
    .optional()
    .describe(
      "What happens to a node on which a change fails: `back` to what it had, which takes pods again, or `stop` as the failure left it, cordoned. Without it, nodes go back from another configuration or containerd, and stop at another version of Kubernetes; a node that can't be drained takes pods again.",
    ),
  drain: z
    .strictObject({
      patchReleases: flag(
        true,
        "Drain nodes for another patch version of Kubernetes. Without, they are cordoned and keep their pods, whose containers run on while the kubelet restarts.",
      ),
    })
    .optional()
    .describe("For what nodes are drained in a rollout."),
  software: z
    .strictObject({
      containerd: version().describe("Version of containerd, as its package has it."),
      osPackages: rule(anyText().pipe(z.string().overwrite(writtenDate)), softwareVersionIssue)
        .optional()
        .describe(
          "A date or another word for this round of updates, at most 63 letters, digits and .-+:~; a change updates the distribution's packages on every node.",
        ),
    })
    .prefault({})
    .describe("Software that rolls out besides Kubernetes; omitted software does not change."),
  osUpdates: z
    .strictObject({
      security: flag(
        true,
        "Install only updates from the distribution's archive of security updates; `false` for all.",
      ),
      reboot: z
        .enum(["whenRequired", "never"])
        .default("whenRequired")
        .describe("Whether a machine reboots that asks for it, before its node takes pods again."),
    })
    .optional()
    .describe(
      "Lists the pending updates of the machines' operating systems in each preview, and installs them node by node; packages on hold stay as they are.",
    ),
  annotations: text(annotationPatternIssue)
    .default(DEFAULT_ANNOTATION_PATTERN)
    .describe("Pattern of the annotations for rollouts and node agents."),
});
