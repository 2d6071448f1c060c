import { isObject, ownValue } from "../../../../lib/json";
import { type JsonObject, mergeObjects } from "../../../../lib/merge";
import { quoted } from "../../../../lib/text/quote";
import { type ConfigurationPath, issueAt, valueAt } from "../../../../lib/validation/validation-issue";
import type { ValidationIssue } from "../../../../lib/validation/validation-issue";
import { AUTHENTICATION_ARGUMENT, withAuthentication } from "./authentication";
import { AUDIT_POLICY } from "./audit-policy";
import { kubeletUnit, SYSCTL_FILE, UNIT_FILE } from "./private-files";
import { parseVersion } from "../rollout/versions";
import type { Authentication, ClusterSpecification, ExtraFile } from "../cluster/specification";
import { weakenedChecks } from "./weakened";

/** Sets of settings that a cluster may choose. Their contents stay as they are: another one gets another name. */
export const PROFILES = ["cis"] as const;
export type Profile = (typeof PROFILES)[number];

/** Returns what is wrong with the name of a profile, or undefined. */
export const profileIssue = (name: string): string | undefined =>
  PROFILES.some((known) => known === name)
    ? undefined
    : `${quoted(name)} is not a profile; write ${PROFILES.join(" or ")}`;

const POLICY_FILE = "/etc/kubernetes/hardening/audit-policy.yaml";
const AUDIT_FOLDER = "/var/log/kube-apiserver";

const CIPHERS = [
  "TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256",
  "TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256",
  "TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384",
  "TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384",
];
const MIN_TLS = "VersionTLS12";

/** Arguments by component; every one exists in all supported versions of Kubernetes. */
const ARGUMENTS = {
  apiServer: {
    profiling: "false",
    "enable-admission-plugins": "NodeRestriction,DenyServiceExternalIPs",
    "audit-log-maxage": "30",
    "audit-log-maxbackup": "10",
    "audit-log-maxsize": "100",
    "service-account-lookup": "true",
    "service-account-extend-token-expiration": "false",
    "tls-min-version": MIN_TLS,
    "tls-cipher-suites": CIPHERS.join(","),
  },
  controllerManager: { profiling: "false", "terminated-pod-gc-threshold": "1000" },
  scheduler: { profiling: "false" },
} as const;

/** Arguments and settings of the profile that an adopted cluster may have with another meaning. */
export const PROFILE_ADMISSION = {
  name: "enable-admission-plugins",
  value: ARGUMENTS.apiServer["enable-admission-plugins"],
};
export const PROFILE_CIPHERS: readonly string[] = CIPHERS;

const KUBELET = {
  protectKernelDefaults: true,
  readOnlyPort: 0,
  streamingConnectionIdleTimeout: "5m0s",
  podPidsLimit: 4096,
  seccompDefault: true,
  tlsMinVersion: MIN_TLS,
  tlsCipherSuites: CIPHERS,
} as const satisfies JsonObject;

/** What a kubelet with protectKernelDefaults expects (kubernetes, setupKernelTunables); a dash skips a missing key. */
const SYSCTL = `vm.overcommit_memory = 1
vm.panic_on_oom = 0
kernel.panic = 10
kernel.panic_on_oops = 1
-kernel.keys.root_maxkeys = 1000000
-kernel.keys.root_maxbytes = 25000000
`;

const OWN_FILES = [SYSCTL_FILE, UNIT_FILE, POLICY_FILE];

/** Returns the files that machines get, unless the user has one at the same path. */
const filesFor = (specification: ClusterSpecification): ExtraFile[] => [
  { path: SYSCTL_FILE, content: SYSCTL, mode: "0600" },
  { path: UNIT_FILE, content: kubeletUnit(specification), mode: "0600" },
];

const AUDIT = {
  extraArgs: [
    { name: "audit-policy-file", value: POLICY_FILE },
    { name: "audit-log-path", value: `${AUDIT_FOLDER}/audit.log` },
  ],
  extraVolumes: [
    {
      name: "foresail-audit-policy",
      hostPath: POLICY_FILE,
      mountPath: POLICY_FILE,
      readOnly: true,
      pathType: "File",
    },
    {
      name: "foresail-audit-log",
      hostPath: AUDIT_FOLDER,
      mountPath: AUDIT_FOLDER,
      pathType: "DirectoryOrCreate",
    },
  ],
};

export const PROFILE_AUDIT_ARGUMENTS = AUDIT.extraArgs;
/** Arguments with which the API servers have an audit log of others. */
export const OWN_AUDIT = /^audit-(policy-file|log-path|webhook-config-file)$/;

type Kubeadm = ClusterSpecification["kubeadm"];
type Component = keyof typeof ARGUMENTS;

const pathOf = (component: Component, field: "extraArgs" | "extraVolumes") =>
  ["kubeadm", "clusterConfiguration", component, field] as const;

/** Returns the entries of a list that the user has for a component, as far as they are readable. */
function entriesOf(settings: { kubeadm?: Kubeadm }, path: ReturnType<typeof pathOf>) {
  const found = valueAt(settings, path);
  const list: unknown[] = Array.isArray(found) ? found : [];
  return list.map((one) => {
    const { name, value, mountPath } = isObject(one) ? one : {};
    return { name: typeof name === "string" ? name : "", value, mountPath };
  });
}

const hasArgument = (settings: { kubeadm?: Kubeadm }, pattern: RegExp) =>
  entriesOf(settings, pathOf("apiServer", "extraArgs")).some(({ name }) => pattern.test(name));

/** Returns whether the user decides what is audited, or where to: then all of it is theirs. */
const hasOwnAudit = (settings: { kubeadm?: Kubeadm }) =>
  hasArgument(settings, OWN_AUDIT) ||
  entriesOf(settings, pathOf("apiServer", "extraVolumes")).some(
    ({ mountPath }) => mountPath === AUDIT_FOLDER,
  );

const argumentsOf = (component: Component): JsonObject => ({
  extraArgs: Object.entries(ARGUMENTS[component]).map(([name, value]) => ({ name, value })),
});

/**
 * Paths of the API that need no credentials: probes of the kubelet, kubeadm and load balancers, and what a machine reads
 * before it has any.
 */
const ANONYMOUS_PATHS = [
  ...["/livez", "/readyz", "/healthz"],
  "/api/v1/namespaces/kube-public/configmaps/cluster-info",
];

/** Arguments with which the API server takes no rule for anonymous requests from a file of foresail. */
const OWN_AUTHENTICATION = new RegExp(`^(anonymous-auth|oidc-.*|${AUTHENTICATION_ARGUMENT})$`);

/** Returns the paths that anonymous requests may read; undefined when the user's own arguments decide about them. */
function anonymousPaths(specification: ClusterSpecification): readonly string[] | undefined {
  const isOwn = hasArgument(specification, OWN_AUTHENTICATION);
  // a gate in alpha before
  return isOwn || (parseVersion(specification.version)?.minor ?? 0) < 32 ? undefined : ANONYMOUS_PATHS;
}

/** Returns a specification with the settings of a profile; a value of the user replaces that of the profile. */
function withProfile(specification: ClusterSpecification, profile: Profile): ClusterSpecification {
  const isOwn = hasOwnAudit(specification);
  const apiServer = mergeObjects(isOwn ? {} : AUDIT, argumentsOf("apiServer"));
  const clusterConfiguration = {
    apiServer,
    controllerManager: argumentsOf("controllerManager"),
    scheduler: argumentsOf("scheduler"),
  };
  const policy: ExtraFile = { path: POLICY_FILE, content: AUDIT_POLICY, mode: "0600", role: "control-plane" };
  const { files, kubeadm, kubelet } = specification;
  const added = [...filesFor(specification), ...(isOwn ? [] : [policy])].filter(
    ({ path }) => !files.some((file) => file.path === path),
  );
  return {
    ...specification,
    profile,
    files: [...files, ...added],
    kubelet: { ...KUBELET, ...kubelet },
    kubeadm: {
      ...kubeadm,
      clusterConfiguration: mergeObjects(clusterConfiguration, kubeadm.clusterConfiguration),
    },
  };
}

/**
 * Returns a specification with what its profile and its issuers of tokens stand for: files, arguments and settings of the
 * kubelet. Without both it is unchanged.
 */
export function withDerivedSettings(
  specification: ClusterSpecification,
  { authentication = {}, profile }: { authentication?: Authentication; profile?: Profile },
): ClusterSpecification {
  if (profile === undefined) return withAuthentication(specification, authentication);
  const hardened = withProfile(specification, profile);
  return withAuthentication(hardened, authentication, anonymousPaths(specification));
}

/** The profile, and settings that may replace its own. */
export interface ProfileSettings {
  profile?: Profile;
  kubeadm?: Kubeadm;
  kubelet?: JsonObject;
  kubeProxy?: JsonObject;
  files?: readonly { path: string }[];
  encryptSecretsAtRest?: boolean;
}

/** Returns a warning for each value of the user that replaces another one of the profile, or defeats it. */
export function profileWarnings(settings: ProfileSettings): ValidationIssue[] {
  const { profile, kubelet = {}, files = [] } = settings;
  if (profile === undefined) return [];
  const replaces = (path: ConfigurationPath, own: unknown) =>
    issueAt(path, `replaces ${JSON.stringify(own)} of the profile ${profile}`);
  return [
    ...Object.entries(KUBELET).flatMap(([field, own]) =>
      kubelet[field] === undefined || JSON.stringify(kubelet[field]) === JSON.stringify(own)
        ? []
        : replaces(["kubelet", field], own),
    ),
    ...(Object.keys(ARGUMENTS) as Component[]).flatMap((component) => {
      const path = pathOf(component, "extraArgs");
      const own: Readonly<Record<string, string>> = ARGUMENTS[component];
      return entriesOf(settings, path).flatMap(({ name, value }, index) => {
        const expected = ownValue(own, name);
        if (component === "apiServer" && OWN_AUTHENTICATION.test(name) && value !== "false")
          return issueAt([...path, index], `keeps the profile ${profile} from limiting anonymous requests`);
        return expected === undefined || value === expected ? [] : replaces([...path, index], expected);
      });
    }),
    ...files.flatMap(({ path }, index) =>
      OWN_FILES.includes(path)
        ? issueAt(["files", index], `replaces the file ${path} of the profile ${profile}`)
        : [],
    ),
    ...weakenedChecks(settings),
  ];
}
