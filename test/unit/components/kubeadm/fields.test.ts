import assert from "node:assert/strict";
import fc from "fast-check";
import { differingPaths } from "../../../../lib/differences";
import { clusterJsonSchema, type JsonSchema } from "../../../../scripts/configuration-schema";
import { type Args, cluster, type Edit, EDITS } from "./edits";

/** What a changed field does where machines have joined. The edits are tried by edit-truth.test.ts. */
type Effect =
  /** Each machine that it concerns gets it, or the cluster's own objects do. */
  | "rolls out"
  /** The check refuses the change with a reason. */
  | "refused"
  /** Membership, labels, agents: the preview lists a step for each machine. */
  | "listed"
  /** How machines are reached: nothing changes on them, and the preview says that it is recorded. */
  | "recorded"
  /** It only decides how this run and later ones go. */
  | "of the run"
  /** Kubernetes objects and commands that the engine compares and shows by itself, or as the comment says. */
  | "elsewhere";

/** The effect of every field of `foresail:cluster`, and the edit that shows it. */
const FIELDS: Readonly<Record<string, readonly [Effect, string?]>> = {
  // refused by the stack's identity, and by the marks of its machines: test/engine/ownership.test.ts
  name: ["elsewhere"],
  version: ["listed", "the version"],
  "source.packages.repository": ["listed", "the source"],
  "source.packages.keyFingerprint": ["listed", "the source"],
  "source.bundle.path": ["listed", "the source"],
  "source.bundle.url": ["listed", "a bundle's URL"],
  "source.bundle.sha256": ["listed", "a bundle's URL"],
  "machines[].name": ["listed", "another worker"],
  "machines[].address": ["recorded", "an address"],
  "machines[].port": ["recorded", "a port"],
  "machines[].user": ["recorded", "a user"],
  "machines[].hostKey": ["recorded", "a host key"],
  "machines[].internalAddress": ["listed", "an internal address"],
  "machines[].apiServer": ["recorded", "an API server's address"],
  "machines[].role": ["listed", "another control plane"],
  "machines[].pool": ["listed", "another pool"],
  "machines[].labels.*": ["listed", "a label"],
  "machines[].taints[].key": ["listed", "a taint"],
  "machines[].taints[].value": ["listed", "a taint"],
  "machines[].taints[].effect": ["listed", "a taint"],
  // the stack's program gives each machine its own
  "ssh.user": ["recorded", "a user"],
  "ssh.port": ["recorded", "a port"],
  "ssh.jumpHost.address": ["recorded", "a jump host"],
  "ssh.jumpHost.port": ["recorded", "a jump host"],
  "ssh.jumpHost.user": ["recorded", "a jump host"],
  "ssh.jumpHost.hostKey": ["recorded", "a jump host"],
  "ssh.dialTimeoutSeconds": ["of the run", "how long a connection may take"],
  "ssh.requireHostKeys": ["of the run", "whether host keys are required"],
  adopt: ["refused", "the adoption"],
  // only of an adopted cluster: test/unit/providers/kubeadm/adoption/decisions.test.ts
  resetOnDestroy: ["elsewhere"],
  // compared with the marks of machines: test/engine/ownership.test.ts
  takeOver: ["elsewhere"],
  deletionProtection: ["of the run", "the protection"],
  "lost[]": ["of the run", "a name under lost"],
  allowEvenControlPlanes: ["of the run", "an even number of control planes"],
  "endpoint.loopback.port": ["refused", "the loopback port"],
  // from an external one to another it rolls out: test/unit/providers/kubeadm/moved-endpoint.test.ts
  "endpoint.external.host": ["refused", "the endpoint"],
  "endpoint.external.port": ["refused", "the endpoint"],
  "network.podSubnet": ["refused", "the pod network's block"],
  "network.serviceSubnet": ["refused", "the Services' block"],
  "network.dnsDomain": ["refused", "the DNS domain"],
  // away from the bridge it is refused: test/unit/providers/kubeadm/configuration.test.ts
  "network.plugin.bridge": ["elsewhere"],
  "network.plugin.none": ["elsewhere"],
  ...Object.fromEntries(
    ["cilium", "calico", "flannel"].flatMap((name) =>
      ["version", "digest", "values"].map((field) => [`network.plugin.${name}.${field}`, ["elsewhere"]]),
    ),
  ),
  ...Object.fromEntries(
    ["path", "url", "digest"].map((field) => [`network.plugin.manifest.${field}`, ["elsewhere"]]),
  ),
  ...Object.fromEntries(
    ["chart", "repository", "version", "digest", "namespace", "values"].map((field) => [
      `network.plugin.chart.${field}`,
      ["elsewhere"],
    ]),
  ),
  profile: ["rolls out", "the profile"],
  "authentication.oidc[].issuer.url": ["rolls out", "authentication"],
  "authentication.oidc[].issuer.audiences[]": ["rolls out", "authentication"],
  "authentication.oidc[].issuer.certificateAuthority": ["rolls out", "authentication"],
  "authentication.oidc[].claimMappings.username.claim": ["rolls out", "authentication"],
  "authentication.oidc[].claimMappings.username.prefix": ["rolls out", "authentication"],
  "authentication.oidc[].claimMappings.groups.claim": ["rolls out", "authentication"],
  "authentication.oidc[].claimMappings.groups.prefix": ["rolls out", "authentication"],
  "authentication.oidc[].claimValidationRules[].claim": ["rolls out", "authentication"],
  "authentication.oidc[].claimValidationRules[].requiredValue": ["rolls out", "authentication"],
  // which of its fields roll out, and which are refused: test/unit/providers/kubeadm/configuration.test.ts
  "kubeadm.clusterConfiguration": ["rolls out", "ClusterConfiguration"],
  "kubeadm.initConfiguration": ["refused", "InitConfiguration"],
  "kubeadm.joinConfiguration": ["listed", "JoinConfiguration"],
  kubelet: ["rolls out", "kubelet"],
  kubeProxy: ["rolls out", "kube-proxy"],
  "files[].path": ["rolls out", "a file"],
  "files[].content": ["rolls out", "a file"],
  "files[].mode": ["rolls out", "a file's mode and owner"],
  "files[].owner": ["rolls out", "a file's mode and owner"],
  "proxy.http": ["rolls out", "the proxy"],
  "proxy.https": ["rolls out", "the proxy"],
  "proxy.noProxy[]": ["rolls out", "hosts without a proxy"],
  "registries.mirrors.*[]": ["rolls out", "a mirror"],
  "registries.servers.*": ["rolls out", "a registry's server"],
  "registries.hosts.*.overridePath": ["rolls out", "how a mirror is asked"],
  "registries.hosts.*.skipVerify": ["rolls out", "how a mirror is asked"],
  "registries.hosts.*.ca[]": ["rolls out", "how a mirror is asked"],
  "registries.hosts.*.header.*": ["rolls out", "how a mirror is asked"],
  "registries.hosts.*.capabilities[]": ["rolls out", "how a mirror is asked"],
  ...Object.fromEntries(
    [
      ...["kubelet", "files[].path", "files[].content", "files[].mode", "files[].owner"],
      ...["registries.mirrors.*[]", "registries.servers.*"],
      ...["overridePath", "skipVerify", "ca[]", "header.*", "capabilities[]"].map(
        (field) => `registries.hosts.*.${field}`,
      ),
    ].map((field) => [`pools.*.${field}`, ["rolls out", "the settings of a pool"]]),
  ),
  imageRepository: ["refused", "the image repository"],
  caBundle: ["rolls out", "the certificates"],
  encryptSecretsAtRest: ["refused", "encryption at rest"],
  encryptionKeyGeneration: ["listed", "the encryption key"],
  "ignorePreflightErrors[]": ["listed", "ignored errors"],
  ...Object.fromEntries(
    ["folder", "recipients[]", "keep", "keepDays"].map((field) => [
      `backup.${field}`,
      ["of the run", "the snapshots"],
    ]),
  ),
  "certificates.renewBeforeDays": ["of the run", "when certificates are renewed"],
  "drain.timeoutSeconds": ["of the run", "how nodes are drained"],
  "drain.volumeDetachSeconds": ["of the run", "how nodes are drained"],
  "drain.deleteEmptyDirData": ["of the run", "how nodes are drained"],
  "drain.force": ["of the run", "how nodes are drained"],
  drift: ["listed", "what is done about drift"],
  "rollout.maxUnavailable": ["of the run", "the rollout's settings"],
  "rollout.pools.*.maxUnavailable": ["of the run", "the rollout's settings"],
  "rollout.pools.*.paused": ["of the run", "the rollout's settings"],
  "rollout.pausedNodes[]": ["of the run", "the rollout's settings"],
  "rollout.intermediateVersions[]": ["listed", "another version to stop at"],
  "rollout.unreachable": ["of the run", "how many machines may be unreachable"],
  "rollout.soakSeconds": ["of the run", "the rollout's settings"],
  "rollout.gate.url": ["of the run", "the rollout's settings"],
  "rollout.gate.command": ["of the run", "the rollout's settings"],
  "rollout.stopAfter": ["of the run", "the rollout's settings"],
  "rollout.onFailure": ["of the run", "the rollout's settings"],
  "rollout.drain.patchReleases": ["of the run", "the rollout's settings"],
  "rollout.nodeTimeoutSeconds": ["of the run", "the rollout's settings"],
  "rollout.software.containerd": ["listed", "another containerd"],
  "rollout.software.osPackages": ["listed", "updates of packages"],
  "rollout.osUpdates.security": ["listed", "updates of the operating system"],
  "rollout.osUpdates.reboot": ["listed", "updates of the operating system"],
  "rollout.annotations": ["listed", "the agents' annotations"],
  "timeouts.sshSeconds": ["of the run", "deadlines"],
  "timeouts.prepareSeconds": ["of the run", "deadlines"],
  "timeouts.initSeconds": ["of the run", "deadlines"],
  "timeouts.joinSeconds": ["of the run", "deadlines"],
  "timeouts.readySeconds": ["of the run", "deadlines"],
  // the commands that prepare machines do nothing on one that has joined
  bootstrapRevision: ["elsewhere"],
};

/** Fields that an edit changes through another one: the defaults of each machine. */
const THROUGH: Readonly<Record<string, string>> = { "ssh.user": "machines", "ssh.port": "machines" };

/** The paths of all fields of a schema that have no fields themselves. */
function leavesOf(schema: JsonSchema, path = ""): string[] {
  const all = [schema, ...(schema.allOf ?? []), ...((schema["anyOf"] as JsonSchema[] | undefined) ?? [])];
  const fields = all
    .flatMap(({ properties = {} }) => Object.entries(properties))
    .filter(([, { deprecated }]) => !deprecated);
  if (fields.length > 0)
    return fields.flatMap(([name, field]) => leavesOf(field, path === "" ? name : `${path}.${name}`));
  const items = all.find((each) => each.items)?.items;
  if (items) return leavesOf(items, `${path}[]`);
  const values = all.map(({ additionalProperties: any }) => any).find((any) => typeof any === "object");
  return values && Object.keys(values).length > 0 ? leavesOf(values, `${path}.*`) : [path];
}

const isOf: Readonly<Record<Exclude<Effect, "elsewhere">, (edit: Edit) => boolean>> = {
  "rolls out": ({ accepted }) => accepted === true,
  refused: ({ refused }) => refused !== undefined,
  listed: ({ accepted, refused, later, isRecorded }) => !accepted && !refused && !later && !isRecorded,
  recorded: ({ isRecorded }) => isRecorded === true,
  "of the run": ({ later }) => later === true,
};

describe("the fields of a cluster", () => {
  it("each have an effect on machines that have joined, or a reason why they have none", () =>
    assert.deepEqual(leavesOf(clusterJsonSchema()).sort(), Object.keys(FIELDS).sort()));

  const bases: Args[] = fc.sample(cluster, { numRuns: 20, seed: 1 });
  for (const [field, [effect, what]] of Object.entries(FIELDS)) {
    if (effect === "elsewhere") continue;
    it(`${field}: ${effect}`, () => {
      const edit = EDITS.find((each) => each.what === what);
      assert.ok(edit, `no edit is called ${what}`);
      assert.ok(isOf[effect](edit), `the edit of ${what} expects another effect`);
      const [name = ""] = field.split(/[.[]/);
      const changed = bases.flatMap((base) => differingPaths(base, edit.apply(base)).map(([first]) => first));
      assert.ok(changed.includes(THROUGH[field] ?? name), `the edit changes ${changed.join()}`);
    });
  }
});
