import assert from "node:assert/strict";
import fc from "fast-check";
import { parse } from "yaml";
import { KubeconfigRefused } from "../../../../lib/kubernetes";
import { acceptedContexts, FetchedKubeconfig } from "../../../../lib/kubernetes/fetched-kubeconfig";
import {
  contextChanges,
  contextNames,
  mergeKubeconfigs,
  type StackLogin,
} from "../../../../providers/collector/plan/kubeconfig";

const login = (server: string, token = "t") => ({
  cluster: { server, "certificate-authority-data": "QQ==" },
  user: { token },
});
const eu1: StackLogin = { stack: "organization/foresail/prod-eu1", login: login("https://192.0.2.1:6443") };
const us1: StackLogin = { stack: "organization/foresail/prod-us1", login: login("https://192.0.2.2:6443") };
const ap1: StackLogin = { stack: "organization/foresail/prod-ap1", login: "it has no output kubeconfig yet" };

const names: [what: string, stacks: string[], contexts: string[]][] = [
  ["the stack's name", ["o/p/eu1", "o/p/us1"], ["eu1", "us1"]],
  ["the project before it where two have it", ["o/p/eu1", "o/q/eu1", "o/q/us1"], ["p/eu1", "q/eu1", "us1"]],
  ["all three where two have both", ["o/p/eu1", "n/p/eu1"], ["o/p/eu1", "n/p/eu1"]],
];

const changes: [what: string, before: StackLogin[] | undefined, after: StackLogin[], said: string[]][] = [
  ["the first one", undefined, [eu1, us1], ["prod-eu1 added", "prod-us1 added"]],
  ["nothing", [eu1, us1, ap1], [eu1, us1], []],
  ["another order", [eu1, us1], [us1, eu1], []],
  [
    "a new login",
    [eu1, us1],
    [eu1, { ...us1, login: login("https://192.0.2.2:6443", "u") }],
    ["prod-us1 changed"],
  ],
  ["a stack that is gone", [eu1, us1], [us1], ["prod-eu1 removed"]],
];

describe("the collected kubeconfig", () => {
  for (const [what, stacks, contexts] of names)
    it(`has contexts with ${what}`, () => assert.deepEqual(contextNames(stacks), contexts));

  it("has different names of contexts for different stacks", () => {
    const part = fc.constantFrom("a", "b", "a-b");
    const stacks = fc.uniqueArray(fc.tuple(part, part, part).map((parts) => parts.join("/")));
    fc.assert(
      fc.property(stacks, (of) => {
        const found = contextNames(of);
        assert.equal(new Set(found).size, of.length);
        found.forEach((name, index) => assert.ok(`/${of[index]}`.endsWith(`/${name}`)));
      }),
    );
  });

  it("joins context, cluster and user of each stack by one name, and has no current context", () => {
    const { kubeconfig, contexts, missing } = mergeKubeconfigs([eu1, ap1, us1]);
    assert.deepEqual(contexts, ["prod-eu1", "prod-us1"]);
    assert.deepEqual(missing, [{ stack: ap1.stack, reason: "it has no output kubeconfig yet" }]);
    assert.deepEqual(parse(kubeconfig), {
      apiVersion: "v1",
      kind: "Config",
      clusters: [
        { name: "prod-eu1", cluster: login("https://192.0.2.1:6443").cluster },
        { name: "prod-us1", cluster: login("https://192.0.2.2:6443").cluster },
      ],
      users: [
        { name: "prod-eu1", user: { token: "t" } },
        { name: "prod-us1", user: { token: "t" } },
      ],
      contexts: ["prod-eu1", "prod-us1"].map((name) => ({ name, context: { cluster: name, user: name } })),
    });
    assert.deepEqual(mergeKubeconfigs([ap1]).contexts, []);
  });

  for (const [what, before, after, said] of changes)
    it(`names what an update changes: ${what}`, () =>
      assert.deepEqual(
        contextChanges(before && mergeKubeconfigs(before).kubeconfig, mergeKubeconfigs(after).kubeconfig).map(
          ({ kind, context }) => `${context} ${kind}`,
        ),
        said,
      ));

  it("compares with any text that was there before", () => {
    for (const before of ["", "a", "[]", "contexts: [1, {name: a}]", "{ not yaml"])
      assert.deepEqual(
        contextChanges(before, mergeKubeconfigs([eu1]).kubeconfig).filter(({ kind }) => kind === "added")
          .length,
        1,
      );
  });

  it("takes accepted fields alone, and refuses programs, files and unverified servers", () => {
    const kubeconfig = (cluster: object, user: object) =>
      new FetchedKubeconfig(
        "prod-eu1",
        JSON.stringify({
          clusters: [{ name: "c", cluster: { server: "https://192.0.2.1:6443", ...cluster } }],
          users: [{ name: "u", user: { token: "t", ...user } }],
          contexts: [{ name: "x", context: { cluster: "c", user: "u" } }],
        }),
      );
    assert.deepEqual(acceptedContexts(kubeconfig({ extensions: [] }, { other: 1 })), [
      { name: "x", cluster: { server: "https://192.0.2.1:6443" }, user: { token: "t" } },
    ]);
    for (const [cluster, user, issue] of [
      [{}, { exec: { command: "sh" } }, "users[0].user.exec would run a program on this machine"],
      [
        { "insecure-skip-tls-verify": true },
        {},
        "clusters[0].cluster.insecure-skip-tls-verify would trust any server",
      ],
      [{}, { "client-key": "/etc/key" }, "users[0].user.client-key would read a file of this machine"],
    ] as const)
      assert.throws(
        () => acceptedContexts(kubeconfig(cluster, user)),
        (error) => error instanceof KubeconfigRefused && error.issue === issue,
      );
  });
});
