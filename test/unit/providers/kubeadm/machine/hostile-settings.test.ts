import assert from "node:assert/strict";
import fc from "fast-check";
import { registryCredentialsToml } from "../../../../../providers/kubeadm/machine/parameters";
import {
  endpointScript,
  joinScript,
  nodeAgentScript,
  prepareScript,
} from "../../../../../providers/kubeadm/machine/steps";
import type { ClusterSpecification } from "../../../../../providers/kubeadm/plan/cluster/specification";
import { KubeadmCluster, type KubeadmClusterArgs } from "../../../../../package";
import { hostileText } from "../../../lib/text/hostile";
import { exampleMachine, exampleSpecification } from "./examples";

const LINE = "\nExecStartPre=/bin/x";
const packages = (repository: string) => ({ source: { packages: { repository } } });
const file = { path: "/etc/motd", content: "x", mode: "0644", owner: "root:root" };

/** What a program or a changed state could give to a machine: the change, and the field that the error names. */
const HOSTILE: readonly (readonly [Partial<ClusterSpecification>, string])[] = [
  [packages(`https://pkgs.example.com/${LINE}`), "source.packages.repository"],
  [packages("https://pkgs.example.com/ / [trusted=yes]"), "source.packages.repository"],
  [packages("file:///tmp/x"), "source.packages.repository"],
  [packages("http://pkgs.example.com/"), "source.packages.repository"],
  [packages("https://pkgs.example.com/"), "source.packages.keyFingerprint"],
  [
    { source: { packages: { repository: "https://pkgs.example.com/", keyFingerprint: "DE15" } } },
    "source.packages.keyFingerprint",
  ],
  [{ source: { bundle: { path: `/opt/x${LINE}` } } }, "source.bundle.path"],
  [{ source: { bundle: { path: "/opt/../etc" } } }, "source.bundle.path"],
  [
    { source: { bundle: { url: `https://a.example.com/x${LINE}`, sha256: "a".repeat(64) } } },
    "source.bundle.url",
  ],
  [{ source: { bundle: { url: "https://a.example.com/x", sha256: `a${LINE}` } } }, "source.bundle.sha256"],
  [{ files: [{ ...file, path: "etc/motd" }] }, "files[0].path"],
  [{ files: [{ ...file, path: "/tmp/../etc/shadow" }] }, "files[0].path"],
  [{ files: [{ ...file, path: `/etc/motd${LINE}` }] }, "files[0].path"],
  [{ files: [{ ...file, path: "/etc/kubernetes/pki/ca.key" }] }, "files[0].path"],
  [{ files: [{ ...file, mode: "0644; id" }] }, "files[0].mode"],
  [{ files: [{ ...file, owner: "root root" }] }, "files[0].owner"],
  [{ proxy: { http: 'http://a.example.com/";\nDir "/', noProxy: [] } }, "proxy.http"],
  [{ proxy: { https: "http://a.example.com/%n", noProxy: [] } }, "proxy.https"],
  [{ proxy: { noProxy: [`a"${LINE} "`] } }, "proxy.noProxy[0]"],
  [{ registryMirrors: { "../../x": ["https://a.example.com"] } }, 'registries.mirrors["../../x"]'],
  [
    { registryMirrors: { "docker.io": ["https://a.example.com/?b=c"] } },
    'registries.mirrors["docker.io"][0]',
  ],
  [
    { registryMirrors: { "docker.io": ['https://a.example.com"]\n[host."x'] } },
    'registries.mirrors["docker.io"][0]',
  ],
  [{ imageRepository: `r.example.com/k"${LINE}` }, "imageRepository"],
  [{ ignorePreflightErrors: [`Swap${LINE}`] }, "ignorePreflightErrors[0]"],
];

/** Checks that an error names a field, and no issue twice. */
const namesOnce =
  (field: string) =>
  ({ message }: Error) => {
    assert.ok(message.includes(`\n  ${field}: `), message);
    const lines = message.split("\n");
    assert.deepEqual([...new Set(lines)], lines);
    return true;
  };

describe("hostile settings of machines", () => {
  const staged = { kubernetes: ["1.36.3"], software: {} };
  for (const [over, field] of HOSTILE)
    it(`are refused by every step: ${JSON.stringify(over)}`, () => {
      const specification = exampleSpecification(over);
      for (const render of [
        () => prepareScript(specification, exampleMachine("w-1"), []),
        () => joinScript(specification, exampleMachine("w-1")),
        () =>
          nodeAgentScript(specification, exampleMachine("w-1"), {
            annotations: "alpha.node.caos.ch/[software]",
            staged,
          }),
      ])
        assert.throws(render, namesOnce(field));
    });

  for (const [over, field] of HOSTILE)
    it(`are refused by KubeadmCluster: ${JSON.stringify(over)}`, () => {
      const { registryMirrors: mirrors, ...others } = over;
      const machines = [{ name: "cp-1", role: "control-plane", address: "10.0.0.11" }];
      const args = {
        version: "1.36.3",
        machines,
        ...others,
        ...(mirrors ? { registries: { mirrors } } : {}),
      };
      assert.throws(() => new KubeadmCluster("demo", args as KubeadmClusterArgs), namesOnce(field));
    });

  it("are refused as a name or address of a machine, such as one that a cloud reports", () => {
    for (const backend of [
      { name: "cp-1", address: "10.0.0.11:6443\nlisten x" },
      { name: "cp-1 10.0.0.9:1 #", address: "10.0.0.11" },
    ])
      assert.throws(
        () => endpointScript("demo", "w-1", 8443, [backend]),
        /is not valid; nothing was written/,
      );
    const machine = { ...exampleMachine("w-1"), internalAddress: "10.0.0.1/32 dev x" };
    assert.throws(() => prepareScript(exampleSpecification(), machine, []), /nothing was written/);
    assert.throws(
      () => joinScript(exampleSpecification(), exampleMachine("w-1", { name: "w-1\nreboot" })),
      /nothing was written/,
    );
  });

  it("are refused as credentials of a registry, without a word of them", () => {
    const toml = (password: string) =>
      registryCredentialsToml({ "r.example.com": { username: "a", password } });
    assert.throws(
      () => toml("hunter2\n[plugins]"),
      (error: Error) => {
        assert.match(
          error.message,
          /registries\.credentials\["r\.example\.com"\]: contains a control character/,
        );
        return !error.message.includes("hunter2");
      },
    );
    assert.match(toml('a"b\\c'), /password = "a\\"b\\\\c"\n/);
  });

  it("put nothing but the settings' own lines into a script, for any text", () => {
    fc.assert(
      fc.property(hostileText, (text) => {
        const { registryMirrors, ...others } = exampleSpecification({
          ...packages(`https://a.example.com/${text}`),
          registryMirrors: { "docker.io": [`https://a.example.com/${text}`] },
        });
        let script: string;
        try {
          script = prepareScript({ ...others, registryMirrors }, exampleMachine("w-1"), []).text;
        } catch {
          return;
        }
        const line = /^REPOSITORY=.*$/m.exec(script)?.[0] ?? "";
        assert.match(line, /^REPOSITORY='https:\/\/a\.example\.com\/(?:[^\s"<>\p{Cc}]|'\\'')*'$/u);
      }),
    );
  });
});
