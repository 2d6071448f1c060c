import assert from "node:assert/strict";
import { machinesInState } from "../../../cli/engine/machines-in-state";
import { parseDriftAnswer } from "../../../providers/kubeadm/machine/drift/drift-steps";

const TYPE = "pulumi-nodejs:dynamic/foresail:NodeAgents";
const ROLLOUT = "pulumi-nodejs:dynamic/foresail:NodeRollout";
const secret = (value: unknown) => ({
  "4dabf18193072939515e22adb298388d": "1b47061264138c4ac30d75fd1eb44270",
  plaintext: JSON.stringify(value),
});

describe("the machines in an exported state", () => {
  it("have the credentials of the last run, which are secret, the files that are, their owner and where snapshots are kept", () => {
    const inputs = {
      specification: { name: "prod" },
      machines: [{ name: "w-1", port: 22 }],
      credentials: secret({ privateKey: "KEY" }),
    };
    const backup = { folder: "backups", recipients: ["age1"], keep: 10 };
    const rollout = { type: ROLLOUT, inputs: { secretFiles: ["/etc/hidden"], backup } };
    const owner = { id: "2f1c9c6e-3d0a-4a58-9f3e-0c8f7a5d1b42", stack: "organization/foresail/prod" };
    const owned = { type: "pulumi-nodejs:dynamic/foresail:ClusterOwner", inputs: { owner } };
    const exported = { deployment: { resources: [owned, { type: TYPE, inputs }, rollout] } };
    assert.deepEqual(machinesInState(JSON.stringify(exported)), {
      cluster: "prod",
      machines: [{ name: "w-1", port: 22 }],
      credentials: { privateKey: "KEY" },
      owner,
      secretFiles: ["/etc/hidden"],
      backup,
    });
  });

  for (const system of ["azimuth:AzimuthCluster", "machine-pool:MachinePool"])
    it(`are none of foresail's in a stack of ${system}`, () => {
      const exported = { deployment: { resources: [{ type: `foresail:${system}` }] } };
      assert.equal(machinesInState(JSON.stringify(exported)), undefined);
    });

  it("are missed with a reason in a stack without a kubeadm cluster", () => {
    assert.throws(() => machinesInState("{}"), /the stack has no kubeadm cluster/);
  });
});

describe("a machine's answer about drift", () => {
  const encode = (text: string) => Buffer.from(text).toString("base64");

  it("is both states of each file; a file whose name says that it is secret is marked", () => {
    const answer = parseDriftAnswer(
      [
        `changed ${encode("/etc/motd")} 644,root:root ${encode("a")} 600,root:root ${encode("b")}`,
        `removed ${encode("/etc/tokens.csv")} 600,root:root ${encode("t")} - -`,
        "",
      ].join("\n"),
    );
    assert.deepEqual(answer, {
      files: [
        {
          kind: "changed",
          path: "/etc/motd",
          before: { content: "a", mode: "644 root:root" },
          after: { content: "b", mode: "600 root:root" },
        },
        {
          kind: "removed",
          path: "/etc/tokens.csv",
          before: { content: "t", mode: "600 root:root" },
          isSecret: true,
        },
      ],
    });
  });

  it("marks a file whose content the configuration keeps secret", () => {
    const line = `changed ${encode("/etc/hidden")} 600,root:root ${encode("a")} 600,root:root ${encode("b")}`;
    const answer = parseDriftAnswer(line, ["/etc/hidden"]);
    assert.equal("files" in answer && answer.files[0]?.isSecret, true);
  });

  it("may be that nothing is known", () => {
    assert.deepEqual(parseDriftAnswer("unsupported\n"), { unknown: "unsupported" });
    assert.deepEqual(parseDriftAnswer("at-work\n"), { unknown: "at work" });
  });

  it("is refused when it is anything else", () => {
    assert.throws(() => parseDriftAnswer("bash: no such file\n"), /can't be read/);
  });
});
