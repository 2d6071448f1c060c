import assert from "node:assert/strict";
import {
  mergedObjects,
  originalObjects,
  parseWritten,
} from "../../../../../providers/kubeadm/plan/adoption/adopted-configuration";
import {
  type KubeProxyDaemonSet,
  kubeProxyIssues,
} from "../../../../../providers/kubeadm/plan/adoption/adopted-kube-proxy";
import { issueLines } from "../../../../../lib/validation/validation-issue";
import { exampleSpecification } from "../machine/examples";

const CHANGE = { paths: [], upload: false, kubeProxy: true };
const objects = { kubeProxy: { mode: "", oomScoreAdj: null } };

/** The DaemonSet of kubeadm, with other fields. */
const daemonSet = ({
  config = "/var/lib/kube-proxy/config.conf",
  configMap = "kube-proxy",
  strategy = "RollingUpdate",
} = {}): KubeProxyDaemonSet => ({
  spec: {
    updateStrategy: { type: strategy },
    template: {
      spec: {
        containers: [
          {
            command: ["/usr/local/bin/kube-proxy", `--config=${config}`, "--hostname-override=$(NODE_NAME)"],
            volumeMounts: [
              { name: "kube-proxy", mountPath: "/var/lib/kube-proxy" },
              { name: "lib-modules", mountPath: "/lib/modules" },
            ],
          },
        ],
        volumes: [{ name: "kube-proxy", configMap: { name: configMap } }, { name: "lib-modules" }],
      },
    },
  },
});
const issues = (found: Parameters<typeof kubeProxyIssues>[1], daemons?: KubeProxyDaemonSet) =>
  issueLines(kubeProxyIssues(CHANGE, found, daemons)).join("\n");

describe("other settings of kube-proxy in an adopted cluster", () => {
  it("are accepted for the kube-proxy of kubeadm", () => {
    assert.equal(issues(objects, daemonSet()), "");
    assert.deepEqual(kubeProxyIssues({ ...CHANGE, kubeProxy: false }, {}, undefined), []);
  });

  const cases: [string, Parameters<typeof kubeProxyIssues>[1], KubeProxyDaemonSet | undefined, RegExp][] = [
    ["no ConfigMap", {}, daemonSet(), /no ConfigMap kube-system\/kube-proxy with config\.conf/],
    ["no DaemonSet", objects, undefined, /no DaemonSet kube-system\/kube-proxy/],
    ["arguments only", objects, daemonSet({ config: "/etc/own.yaml" }), /does not read config\.conf/],
    ["another ConfigMap", objects, daemonSet({ configMap: "theirs" }), /does not read config\.conf/],
    ["a DaemonSet without pods", objects, {}, /does not read config\.conf/],
    ["pods that others restart", objects, daemonSet({ strategy: "OnDelete" }), /OnDelete/],
  ];
  for (const [what, found, daemons, expected] of cases)
    it(`are refused for ${what}, with the reason`, () => {
      assert.match(issues(found, daemons), /^kubeProxy: can't change: [^]*put the old value back$/);
      assert.match(issues(found, daemons), expected);
    });

  it("are merged into its configuration, which comes back without them", () => {
    const theirs = { mode: "iptables", conntrack: { maxPerCore: null, min: 1 }, nodePortAddresses: null };
    const kubeProxy = { mode: "nftables", conntrack: { maxPerCore: 9 }, nodePortAddresses: ["primary"] };
    const merged = mergedObjects({ kubeProxy: theirs }, {}, exampleSpecification({ kubeProxy })).kubeProxy!;
    assert.deepEqual(merged.object, { ...kubeProxy, conntrack: { maxPerCore: 9, min: 1 } });
    const written = parseWritten({ kubeProxy: JSON.stringify(merged.written) });
    assert.deepEqual(originalObjects({ kubeProxy: merged.object }, written), { kubeProxy: theirs });
    const again = mergedObjects({ kubeProxy: merged.object }, written, exampleSpecification()).kubeProxy;
    assert.deepEqual(again, { object: theirs, written: [] });
  });
});
