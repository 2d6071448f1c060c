import * as pulumi from "@pulumi/pulumi";
import * as defaults from "../../providers/kubeadm/plan/cluster/defaults";
import { type BackupSettings, DEFAULT_KEEP } from "../../providers/kubeadm/plan/backup/backup";
import type { CertificateSettings } from "../../providers/kubeadm/plan/certificates/report";
import { keyGeneration } from "../../providers/kubeadm/plan/encryption/encryption";
import { withDerivedSettings } from "../../providers/kubeadm/plan/hardening/profile";
import type { Registries } from "../../providers/kubeadm/plan/configuration/registries";
import {
  COMMUNITY_REPOSITORY,
  type ClusterSpecification,
  type Endpoint,
  type ProxyCredentials,
  type SoftwareSource,
} from "../../providers/kubeadm/plan/cluster/specification";
import type { PodNetworkKind } from "../../providers/kubeadm/plan/endpoint/network-ports";
import { stagedVersions, type StagedVersions } from "../../providers/kubeadm/plan/rollout/node-agents";
import { DEFAULT_ANNOTATION_PATTERN } from "../../providers/kubeadm/plan/rollout/annotations";
import { furtherSoftware, type RolloutSettings } from "../../providers/kubeadm/plan/rollout/desired";
import type { DrainOptions, Timeouts } from "../../providers/kubeadm/resources/declarations";
import type { KubeadmClusterArgs, NetworkPlugin } from "./kubeadm-cluster-args";

const DEFAULT_SOURCE: SoftwareSource = { packages: { repository: COMMUNITY_REPOSITORY } };
const DEFAULT_PLUGIN: NetworkPlugin = { flannel: {} };

export function networkPlugin(args: Pick<KubeadmClusterArgs, "network">): NetworkPlugin {
  return args.network?.plugin ?? DEFAULT_PLUGIN;
}

/** Returns the kind of the pod network, which decides the ports that it needs. */
export function podNetworkKind(args: Pick<KubeadmClusterArgs, "network">): PodNetworkKind {
  const plugin = networkPlugin(args);
  return (["bridge", "cilium", "calico", "flannel"] as const).find((kind) => kind in plugin) ?? "other";
}

/** Returns the deadlines in the form that state has, with the defaults. */
export function timeouts(
  args: Pick<KubeadmClusterArgs, "timeouts" | "ssh" | "rollout">,
): Timeouts & { dial: number } {
  const seconds = { ...defaults.DEFAULT_TIMEOUTS, ...args.timeouts };
  const usual = defaults.DEFAULT_ROLLOUT.nodeTimeoutSeconds;
  const change = args.rollout?.nodeTimeoutSeconds ?? usual;
  return {
    ssh: seconds.sshSeconds,
    dial: args.ssh?.dialTimeoutSeconds ?? defaults.DEFAULT_SSH.dialTimeoutSeconds,
    prepare: seconds.prepareSeconds,
    init: seconds.initSeconds,
    join: seconds.joinSeconds,
    ready: seconds.readySeconds,
    // the default is left out, so that states of older releases need no update
    ...(change === usual ? {} : { change }),
  };
}

export function drainOptions(args: KubeadmClusterArgs): DrainOptions {
  return { ...defaults.DEFAULT_DRAIN, ...args.drain };
}

export function rolloutSettings(args: KubeadmClusterArgs): RolloutSettings {
  return {
    ...defaults.DEFAULT_ROLLOUT,
    annotations: DEFAULT_ANNOTATION_PATTERN,
    intermediateVersions: [],
    pools: {},
    pausedNodes: [],
    software: {},
    ...args.rollout,
  };
}

/** Returns where snapshots are kept, and when certificates are renewed, where the configuration says so. */
export function maintenanceSettings({
  backup,
  certificates,
}: Pick<KubeadmClusterArgs, "backup" | "certificates">): {
  backup?: BackupSettings;
  certificates?: CertificateSettings;
} {
  return {
    ...(backup === undefined ? {} : { backup: { ...backup, keep: backup.keep ?? DEFAULT_KEEP } }),
    ...(certificates === undefined ? {} : { certificates }),
  };
}

/** Returns the versions that a rollout to the desired versions may pass through. They are staged on each node. */
export function stagedFor(args: KubeadmClusterArgs): StagedVersions {
  const settings = rolloutSettings(args);
  return stagedVersions(args.version, settings.intermediateVersions, furtherSoftware(settings));
}

/** Returns the paths of the files whose content is secret, where there can be any. */
export function secretFiles({ files = [] }: KubeadmClusterArgs): {
  secretFiles?: pulumi.Input<string[] | undefined>;
} {
  const outputs = files.filter(({ content }) => typeof content !== "string");
  if (outputs.length === 0) return {};
  const secret = Promise.all(outputs.map(({ content }) => pulumi.isSecret(pulumi.output(content)))).then(
    (found) => {
      const paths = outputs.filter((_, index) => found[index]).map(({ path }) => path);
      return paths.length > 0 ? paths : undefined;
    },
  );
  return { secretFiles: pulumi.output(secret) };
}

function proxyOf(
  { http, https, noProxy = [] }: NonNullable<KubeadmClusterArgs["proxy"]>,
  credentials: ProxyCredentials | undefined,
): ClusterSpecification["proxy"] {
  return {
    noProxy,
    ...(http === undefined ? {} : { http }),
    ...(https === undefined ? {} : { https }),
    ...(credentials ? { credentials } : {}),
  };
}

function registriesOf({
  mirrors = {},
  servers = {},
  hosts = {},
}: KubeadmClusterArgs["registries"] = {}): Registries {
  return {
    registryMirrors: mirrors,
    // absent as in state of older releases
    ...(Object.keys(servers).length > 0 ? { registryServers: servers } : {}),
    ...(Object.keys(hosts).length > 0 ? { registryHosts: hosts } : {}),
  };
}

/** Returns the specification that every resource of the cluster takes, with the defaults filled in. */
export function specification(
  name: string,
  endpoint: pulumi.Output<Endpoint>,
  args: KubeadmClusterArgs,
): pulumi.Output<ClusterSpecification> {
  const files = (args.files ?? []).map((file) =>
    pulumi.output(file.content).apply((content) => ({ mode: defaults.DEFAULT_FILE_MODE, ...file, content })),
  );
  const { podSubnet, serviceSubnet, dnsDomain } = defaults.networkOf(args.network);
  const { credentials: login } = args.proxy ?? {};
  return pulumi
    .all([
      pulumi.all(files),
      args.caBundle,
      endpoint,
      pulumi.all(args.certificateNames ?? []),
      // whatever the program made of it; an input of a resource is secret if a part of it is
      login === undefined ? undefined : pulumi.secret(login),
    ])
    .apply(([resolved, caBundle, decided, certificateNames, credentials]) =>
      withDerivedSettings(
        {
          name,
          version: args.version,
          source: args.source ?? DEFAULT_SOURCE,
          endpoint: decided,
          network: {
            podCidr: podSubnet,
            serviceCidr: serviceSubnet,
            dnsDomain,
            bridge: "bridge" in networkPlugin(args),
            ...(args.network?.holdNodeAddress ? { holdNodeAddress: true } : {}),
          },
          kubeadm: args.kubeadm ?? {},
          kubelet: args.kubelet ?? {},
          kubeProxy: args.kubeProxy ?? {},
          files: resolved,
          ...(args.proxy ? { proxy: proxyOf(args.proxy, credentials) } : {}),
          ...registriesOf(args.registries),
          ...(certificateNames.length > 0 ? { certificateNames } : {}),
          ...(args.imageRepository ? { imageRepository: args.imageRepository } : {}),
          ...(caBundle ? { caBundle } : {}),
          encryptSecretsAtRest: args.encryptSecretsAtRest ?? true,
          // absent until the first rotation, as in state of older releases
          ...(keyGeneration(args) > 1 ? { encryptionKeyGeneration: keyGeneration(args) } : {}),
          ignorePreflightErrors: args.ignorePreflightErrors ?? [],
        },
        args,
      ),
    );
}
