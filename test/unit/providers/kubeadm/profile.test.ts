import assert from "node:assert/strict";
import { AUTHENTICATION_FILE } from "../../../../providers/kubeadm/plan/hardening/authentication";
import {
  configurationChange,
  configurationVersions,
  drainsFor,
} from "../../../../providers/kubeadm/plan/configuration/configuration";
import { profileWarnings, withDerivedSettings } from "../../../../providers/kubeadm/plan/hardening/profile";
import type { ClusterSpecification } from "../../../../providers/kubeadm/plan/cluster/specification";
import { assertSettings } from "../../../../providers/kubeadm/plan/validation/settings";
import { formatPath } from "../../../../lib/validation/validation-issue";
import { exampleSpecification } from "./machine/examples";

const CIS = { profile: "cis" } as const;
type Kubeadm = ClusterSpecification["kubeadm"];
const withArguments = (...names: string[]): Kubeadm => ({
  clusterConfiguration: { apiServer: { extraArgs: names.map((name) => ({ name, value: "own" })) } },
});
const hardened = (over: Partial<ClusterSpecification> = {}) =>
  withDerivedSettings(exampleSpecification(over), CIS);
const apiServer = ({ kubeadm }: ClusterSpecification) =>
  kubeadm.clusterConfiguration?.["apiServer"] as {
    extraArgs: { name: string; value: string }[];
    extraVolumes: { name: string; mountPath: string }[];
  };
const argument = (specification: ClusterSpecification, name: string) =>
  apiServer(specification)
    .extraArgs.filter((one) => one.name === name)
    .map(({ value }) => value);
const pathsOf = ({ files }: ClusterSpecification) => files.map(({ path }) => path);
const POLICY = "/etc/kubernetes/hardening/audit-policy.yaml";

describe("the profile cis", () => {
  it("is files, arguments and settings that pass the rules for those of users", () => {
    const specification = hardened();
    assertSettings(specification);
    assert.deepEqual(pathsOf(specification), [
      "/etc/kubernetes/hardening/sysctl.conf",
      "/etc/systemd/system/kubelet.service.d/foresail-hardening.conf",
      POLICY,
      AUTHENTICATION_FILE,
    ]);
    assert.deepEqual(argument(specification, "profiling"), ["false"]);
    assert.deepEqual(argument(specification, "audit-policy-file"), [POLICY]);
    assert.equal(specification.kubelet["protectKernelDefaults"], true);
    for (const { path, mode } of specification.files) assert.equal(mode, "0600", path);
  });

  it("mounts each file that an argument of the API server names", () => {
    const { extraArgs, extraVolumes } = apiServer(hardened());
    for (const { name, value } of extraArgs.filter((one) => one.value.startsWith("/")))
      assert.ok(
        extraVolumes.some(({ mountPath }) => value === mountPath || value.startsWith(`${mountPath}/`)),
        name,
      );
  });

  it("changes all parts of every node's version, named by its field first, and drains", () => {
    const before = exampleSpecification();
    const [olds, news] = [configurationVersions(before), configurationVersions(hardened())];
    for (const role of ["worker", "control-plane"] as const) {
      const parts = olds[role].split(".");
      assert.deepEqual(
        news[role].split(".").filter((part, index) => part === parts[index]),
        [],
        role,
      );
      assert.equal(drainsFor(olds[role], news[role]), true);
    }
    assert.equal(formatPath(configurationChange(before, hardened())?.paths[0] ?? []), "profile");
  });

  it("keeps values of the user, with a warning for each that replaces another one", () => {
    const kubelet = { podPidsLimit: 100, readOnlyPort: 0, maxPods: 50, tlsCipherSuites: ["own"] };
    const kubeadm = withArguments("v", "profiling");
    const specification = hardened({ kubelet, kubeadm });
    for (const [field, value] of Object.entries(kubelet))
      assert.deepEqual(specification.kubelet[field], value, field);
    assert.deepEqual(argument(specification, "profiling"), ["own"]);
    assert.deepEqual(
      profileWarnings({ ...CIS, kubelet, kubeadm }).map(
        ({ path, message }) => `${formatPath(path)}: ${message.slice(0, 30)}`,
      ),
      [
        "kubelet.podPidsLimit: replaces 4096 of the profile c",
        'kubelet.tlsCipherSuites: replaces ["TLS_ECDHE_ECDSA_WIT',
        'kubeadm.clusterConfiguration.apiServer.extraArgs[1]: replaces "false" of the profil',
      ],
    );
    assert.deepEqual(profileWarnings({ kubelet, kubeadm }), []);
  });

  it("warns of values with which a check fails that is met without them", () => {
    const extraArgs = (...list: [string, string][]) => ({
      extraArgs: list.map(([name, value]) => ({ name, value })),
    });
    const settings = {
      ...CIS,
      encryptSecretsAtRest: false,
      files: [{ path: "/opt/a" }, { path: POLICY }],
      kubeadm: {
        clusterConfiguration: {
          apiServer: extraArgs(["authorization-mode", "Node,RBAC,Webhook"], ["authorization-mode", "RBAC"]),
          controllerManager: extraArgs(
            ["bind-address", "127.0.0.1"],
            ["use-service-account-credentials", "F"],
          ),
          scheduler: extraArgs(["bind-address", "0.0.0.0"]),
          etcd: { local: extraArgs(["auto-tls", "true"], ["client-cert-auth", "true"]) },
        },
        joinConfiguration: {
          nodeRegistration: { kubeletExtraArgs: extraArgs(["read-only-port", "10255"]).extraArgs },
        },
      },
      kubelet: { authentication: { anonymous: { enabled: true } }, eventRecordQPS: 0 },
      kubeProxy: { metricsBindAddress: "0.0.0.0:10249" },
    };
    assert.deepEqual(
      profileWarnings(settings).map(({ path, message }) =>
        `${formatPath(path)}: ${message}`.replace(/weakens.*\(/, "("),
      ),
      [
        "files[1]: replaces the file /etc/kubernetes/hardening/audit-policy.yaml of the profile cis",
        "kubeadm.clusterConfiguration.apiServer.extraArgs[1]: (check 1.2.6)",
        "kubeadm.clusterConfiguration.controllerManager.extraArgs[1]: (check 1.3.3)",
        "kubeadm.clusterConfiguration.scheduler.extraArgs[0]: (check 1.4.2)",
        "kubeadm.clusterConfiguration.etcd.local.extraArgs[0]: (check 2.3)",
        "kubeadm.joinConfiguration.nodeRegistration.kubeletExtraArgs[0]: (check 4.2.4)",
        "encryptSecretsAtRest: (check 1.2.27)",
        "kubelet.authentication.anonymous.enabled: (check 4.2.1)",
        "kubelet.eventRecordQPS: (check 4.2.8)",
        "kubeProxy.metricsBindAddress: (check 4.3.1)",
      ],
    );
    assert.deepEqual(profileWarnings({ ...settings, profile: undefined }), []);
  });

  it("leaves the audit to a user with a policy, log or webhook, and keeps the rotation", () => {
    for (const name of ["audit-policy-file", "audit-log-path", "audit-webhook-config-file"]) {
      const specification = hardened({ kubeadm: withArguments(name) });
      assert.ok(!pathsOf(specification).includes(POLICY), name);
      assert.ok(!apiServer(specification).extraVolumes.some((one) => one.name.includes("audit")), name);
      assert.deepEqual(argument(specification, "audit-log-maxage"), ["30"], name);
    }
    const own = { path: "/etc/kubernetes/hardening/sysctl.conf", content: "own", mode: "0600" };
    assert.deepEqual(
      hardened({ files: [own] }).files.filter(({ path }) => path === own.path),
      [own],
    );
  });

  it("limits anonymous requests from 1.32 on, unless the user's arguments decide about them", () => {
    for (const [version, names, isLimited] of [
      ["1.31.14", [], false],
      ["1.32.13", [], true],
      ["1.36.3", ["v"], true],
      ["1.36.3", ["anonymous-auth"], false],
      ["1.36.3", ["oidc-issuer-url"], false],
      ["1.36.3", ["authentication-config"], false],
    ] as const) {
      const kubeadm = withArguments(...names);
      const file = hardened({ version, kubeadm }).files.find(({ path }) => path === AUTHENTICATION_FILE);
      assert.equal(file !== undefined, isLimited, `${version} ${names.join()}`);
      if (file) assert.match(file.content, /"path": "\/readyz"/);
      const warned = profileWarnings({ ...CIS, kubeadm }).map(({ message }) => message);
      const isWarned = version === "1.36.3" && !isLimited;
      assert.deepEqual(warned, isWarned ? ["keeps the profile cis from limiting anonymous requests"] : []);
    }
  });

  it("has one file of authentication with the user's issuers", () => {
    const issuer = { url: "https://id.example.com", audiences: ["a"] };
    const claimMappings = { username: { claim: "sub", prefix: "" } };
    const specification = withDerivedSettings(exampleSpecification(), {
      ...CIS,
      authentication: { oidc: [{ issuer, claimMappings }] },
    });
    const [file, ...others] = specification.files.filter(({ path }) => path === AUTHENTICATION_FILE);
    assert.deepEqual(others, []);
    assert.deepEqual(Object.keys(JSON.parse(file?.content ?? "{}") as object), [
      ...["apiVersion", "kind", "anonymous", "jwt"],
    ]);
  });

  it("keeps etcd's folder private, also where the user has another one", () => {
    for (const [dataDir, folder] of [
      [undefined, "/var/lib/etcd"],
      ["/mnt/etcd", "/mnt/etcd"],
      ["/mnt/a b", "/var/lib/etcd"],
    ] as const) {
      const kubeadm = dataDir ? { clusterConfiguration: { etcd: { local: { dataDir } } } } : {};
      const unit = hardened({ kubeadm }).files.find(({ path }) => path.endsWith("foresail-hardening.conf"));
      assert.match(unit?.content ?? "", new RegExp(`find ${folder} -maxdepth 0 `));
    }
  });

  it("changes nothing of a cluster without it", () => {
    const specification = exampleSpecification();
    assert.equal(withDerivedSettings(specification, {}), specification);
  });
});
