import assert from "node:assert/strict";
import fc from "fast-check";
import {
  changesEndpoint,
  changesKubeadm,
  completedVersion,
  configurationChange,
  configurationVersions,
  drainsFor,
} from "../../../../providers/kubeadm/plan/configuration/configuration";
import {
  type RolledConfiguration,
  rolledConfiguration,
} from "../../../../providers/kubeadm/plan/configuration/rolled-configuration";
import { refuseSpecificationChange } from "../../../../providers/kubeadm/plan/configuration/immutables";
import {
  type EndpointFacts,
  movedEndpointIssues,
} from "../../../../providers/kubeadm/plan/endpoint/moved-endpoint";
import { withConfiguration } from "../../../../providers/kubeadm/plan/rollout/node-agents";
import { formatPath } from "../../../../lib/validation/validation-issue";
import { exampleSpecification } from "./machine/examples";

const at = (host: string, port = 6443) => exampleSpecification({ endpoint: { external: { host, port } } });
const [olds, news] = [at("lb-1"), at("lb-2")];
const loopback = exampleSpecification({ endpoint: { loopback: { port: 7445 } } });
const ROLES = ["control-plane", "worker"] as const;

describe("another endpoint of the API servers", () => {
  it("is accepted from one external endpoint to another, and refused to and from a loopback", () => {
    for (const to of [news, at("lb-1", 8443)]) assert.deepEqual(refuseSpecificationChange(olds, to), []);
    for (const [from, to] of [
      [olds, loopback],
      [loopback, news],
      [loopback, exampleSpecification({ endpoint: { loopback: { port: 7446 } } })],
    ] as const) {
      const [refusal] = refuseSpecificationChange(from, to);
      assert.equal(refusal?.property, "cluster.endpoint");
    }
  });

  it("is a change by its path, which writes no settings of kubeadm's", () => {
    const change = configurationChange(olds, news);
    assert.deepEqual(change?.paths.map(formatPath), ["endpoint.external.host"]);
    const { upload, kubeProxy, endpoint } = change;
    assert.deepEqual([upload, kubeProxy, endpoint], [false, false, "lb-2:6443"]);
    assert.equal(configurationChange(olds, at("lb-1", 8443))?.endpoint, "lb-1:8443");
    assert.equal("endpoint" in configurationChange(olds, { ...olds, caBundle: "PEM" })!, false);
  });

  it("is the last part of a version of each role, from its first change on, and drains nothing", () => {
    const rolled = rolledConfiguration({ specification: olds }, news)!;
    const versions = configurationVersions(news, rolled);
    for (const [role, parts] of [
      ["control-plane", 6],
      ["worker", 3],
    ] as const) {
      const [before, after] = [rolled.baseline[role].split("."), versions[role].split(".")];
      assert.deepEqual([before.length, after.length], [parts, parts]);
      assert.deepEqual(before.slice(0, -1), after.slice(0, -1));
      assert.equal(changesEndpoint(role, before.join("."), after.join(".")), true);
      assert.equal(drainsFor(before.join("."), after.join(".")), false);
      const reported = configurationVersions(olds)[role];
      assert.equal(completedVersion(reported, rolled.baseline[role]), rolled.baseline[role]);
    }
    assert.equal(changesEndpoint("worker", "a.b", "x.b"), false);
    assert.equal(changesEndpoint("control-plane", "a.b.c.d", "a.b.c.e"), false);
    assert.equal(changesKubeadm("a.b", "x.b"), false);
  });

  it("leaves the versions of clusters alone that change other settings", () => {
    const rolled = rolledConfiguration({ specification: olds }, { ...olds, caBundle: "PEM" });
    assert.deepEqual(rolled, { baseline: configurationVersions(olds), removed: [] });
  });

  it("is staged with the endpoints that nodes may still have", () => {
    const staged = { kubernetes: ["1.36.3"], software: {} };
    const rolled = rolledConfiguration({ specification: olds }, news);
    assert.deepEqual(withConfiguration(staged, rolled, news).configuration?.formerEndpoints, ["lb-1:6443"]);
    const others = rolledConfiguration({ specification: olds }, { ...olds, caBundle: "PEM" });
    assert.equal("formerEndpoints" in withConfiguration(staged, others, olds).configuration!, false);
  });

  it("remembers every endpoint before it, wherever it moves", () => {
    const hosts = fc.array(fc.constantFrom("a", "b", "c", "d"), { minLength: 2, maxLength: 8 });
    fc.assert(
      fc.property(hosts, (path) => {
        let configuration: RolledConfiguration | undefined;
        for (const [index, host] of path.slice(1).entries()) {
          const recorded = { specification: at(path[index]!), ...(configuration ? { configuration } : {}) };
          configuration = rolledConfiguration(recorded, at(host));
          const former = new Set(path.slice(0, index + 2).filter((each) => each !== host));
          assert.deepEqual(
            configuration?.formerEndpoints ?? [],
            [...former].sort().map((each) => `${each}:6443`),
          );
        }
        const first = path[0]!;
        if (!configuration) return;
        for (const role of ROLES)
          assert.equal(
            configurationVersions(at(first), configuration)[role],
            configuration.baseline[role],
            "back at the first one, nodes have what they began with",
          );
      }),
    );
  });

  describe("to which machines can't move", () => {
    const cases: [string, Record<string, EndpointFacts>, [string, RegExp][]][] = [
      ["all can", { "cp-1": { hasKubeProxy: true }, "w-1": {} }, []],
      [
        "one does not reach it",
        { "cp-1": {}, "w-1": { unreached: "curl: (7) refused\u001b[31m" } },
        [["endpoint.external", /^w-1 does not reach .* at lb-2:6443 \(curl: \(7\) refused[ -~]*\); /]],
      ],
      [
        "certificates lack the name, which every machine then finds",
        { "cp-1": { unnamed: "no name", unreached: "no name" }, "cp-2": {}, "w-1": { unreached: "no name" } },
        [
          [
            "endpoint.external.host",
            /^cp-1: the certificate .* "lb-2" \(no name\); .*certSANs, run `up`, then/,
          ],
        ],
      ],
    ];
    for (const [what, facts, issues] of cases)
      it(`is refused by machine: ${what}`, () => {
        const found = movedEndpointIssues(news, new Map(Object.entries(facts)));
        assert.deepEqual(
          found.map(({ path }) => formatPath(path)),
          issues.map(([path]) => path),
        );
        for (const [index, [, message]] of issues.entries()) assert.match(found[index]!.message, message);
      });
  });
});
