import assert from "node:assert/strict";
import { type ConfigurationReader, loadConfiguration } from "../../../../stacks/schema";

const STACK = `# a stack of the site
encryptionsalt: v1:x
config:
  foresail:layer: prod
  foresail:sshPrivateKey:
    secure: v1:abc
  foresail:cluster:
    name: Test
    nmae: a
    machines:
      - name: cp-1
        address: 192.0.2.11
        role: control-plane
      - { name: w-1, address: 192.0.2.21, role: wrker, labels: { a: 010, b: 1e3, c: 12345678901234567890, d: 1.10 } }
    timeouts: { joinSeconds: 010, initSeconds: 1e9 }
`;
const LAYER = `config:
  foresail:cluster:
    version: "1.36.3"
    # octal in a stack file, decimal here
    timeouts: &limits
      initSeconds: 100
      readySeconds: 0100
`;

/** What the engine makes of the stack file. */
const CLUSTER = {
  name: "Test",
  nmae: "a",
  machines: [
    { name: "cp-1", address: "192.0.2.11", role: "control-plane" },
    {
      ...{ name: "w-1", address: "192.0.2.21", role: "wrker" },
      labels: { a: 8, b: 1000, c: 12345678901234567000, d: 1.1 },
    },
  ],
  timeouts: { joinSeconds: 8, initSeconds: 1e9 },
};

const failure = (cluster: object, stackFile: string | undefined = STACK): string => {
  const reader: ConfigurationReader = {
    project: "foresail",
    stack: "dev",
    values: {
      "foresail:cluster": JSON.stringify(cluster),
      "foresail:layer": "prod",
      "foresail:sshPrivateKey": "x",
    },
    isSecret: (key) => key === "foresail:sshPrivateKey",
    readLayer: (name) => ({ file: `layers/${name}.yaml`, text: LAYER }),
    ...(stackFile === undefined ? {} : { readStackFile: () => stackFile }),
  };
  try {
    loadConfiguration(reader);
  } catch (error) {
    return (error as Error).message;
  }
  return "";
};

/** The place of each issue: its path, and what is behind its message. */
const placesOf = (said: string) =>
  [...said.matchAll(/^ {2}(\S+): .*?( \(line [^)]*\))?$/gm)]
    .map(([, path, where = ""]) => path + where)
    .sort();

describe("configuration: lines", () => {
  it("are behind each issue, with what the file has for a number", () => {
    assert.deepEqual(placesOf(failure(CLUSTER)), [
      "cluster.machines[1].labels.a (line 14, written as 010)",
      "cluster.machines[1].labels.b (line 14, written as 1e3)",
      "cluster.machines[1].labels.c (line 14, written as 12345678901234567890)",
      "cluster.machines[1].labels.d (line 14, written as 1.10)",
      "cluster.machines[1].role (line 14)",
      "cluster.name (line 8)",
      "cluster.nmae (line 9)",
      "cluster.timeouts.initSeconds (line 15, written as 1e9)",
      "cluster.timeouts.joinSeconds (line 15, written as 010)",
      "cluster.timeouts.readySeconds (line 7, written as 0100)",
      "sshPrivateKey (line 5)",
    ]);
  });

  it("are those of the map in which a value is missing", () => {
    const { name: _, ...others } = CLUSTER;
    const without = STACK.replace("    name: Test\n", "");
    assert.ok(placesOf(failure(others, without)).includes("cluster.name (line 7)"));
  });

  it("are left out where the engine has another value than the file", () => {
    const places = placesOf(failure({ ...CLUSTER, name: "Other" }));
    assert.ok(places.includes("cluster.name"), places.join());
    assert.ok(placesOf(failure(CLUSTER, "a: [")).includes("cluster.name"));
  });

  it("refuse a number that YAML reads as octal, although its value is allowed", () => {
    assert.match(
      failure(CLUSTER),
      /timeouts\.joinSeconds: 010 is 8 for the YAML of stack files, which reads it as octal; write 8 or 10, or put it in quotes/,
    );
  });
});
