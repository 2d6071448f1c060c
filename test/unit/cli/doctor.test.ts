import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { doctor, type DoctorOptions } from "../../../cli/commands/doctor";
import { nodeFinding, toolFindings } from "../../../cli/engine/tools";
import { EXIT, UsageError } from "../../../cli/terminal/exit-codes";
import { answerSteps, TestSshServer } from "../../support/ssh-server";

const named = (facts: Readonly<Record<string, string>>) =>
  Object.entries(facts)
    .map(([name, text]) => `${name} ${Buffer.from(text).toString("base64")}`)
    .join("\n");

describe("foresail doctor", function () {
  this.timeout(60_000);
  const folder = mkdtempSync(path.join(tmpdir(), "foresail-doctor-"));
  const key = path.join(folder, "key");
  let facts: Record<string, string> = {};
  let server: TestSshServer;
  const operations: string[] = [];

  before(async () => {
    server = await new TestSshServer(
      answerSteps((operation) => {
        operations.push(operation);
        return named(facts);
      }),
    ).listen();
    writeFileSync(key, server.userKey.private, { mode: 0o600 });
  });
  after(async () => {
    await server.close();
    rmSync(folder, { recursive: true });
  });
  beforeEach(() => (facts = {}));

  async function run(
    over: Partial<DoctorOptions> = {},
    tools: Awaited<ReturnType<typeof toolFindings>> = [],
  ) {
    const printed: string[] = [];
    const options = {
      ssh: [`root@127.0.0.1:${server.port}`],
      worker: [],
      key,
      output: "text",
      ...over,
    } as const;
    const code = await doctor(
      options,
      (text) => void printed.push(text),
      () => Promise.resolve(tools),
    );
    return { code, text: printed.join("\n") };
  }

  it("is 0 for a machine that can become a node, and only reads it", async () => {
    const { code, text } = await run();
    assert.deepEqual([code, operations], [EXIT.done, ["machine-reading"]]);
    assert.match(text, /1 machine asked, 0 unread: 0 refusals, 0 warnings/);
  });

  it("is 5 for a machine that can't, with the words of the preview, as text and as data", async () => {
    facts = {
      distributions: "k3s",
      firewalld: "active",
      keeps: "the package containerd.io as its containerd",
    };
    const { code, text } = await run();
    assert.equal(code, EXIT.blocked);
    assert.match(text, /✗ cp-1: k3s runs on it/);
    assert.match(text, /! cp-1: firewalld is active/);
    assert.match(text, /cp-1: keeps the package containerd\.io/);
    const data = JSON.parse((await run({ output: "json" })).text) as {
      findings: { machine: string; level: string }[];
    };
    assert.deepEqual(
      data.findings.map(({ machine, level }) => [machine, level]),
      [
        ["cp-1", "refused"],
        ["cp-1", "warning"],
      ],
    );
  });

  it("is 0 for warnings alone, and 6 for a machine that does not answer", async () => {
    facts = { firewalld: "active" };
    assert.equal((await run()).code, EXIT.done);
    const closed = await new TestSshServer().listen();
    const { port } = closed;
    await closed.close();
    const { code, text } = await run({ worker: [`root@127.0.0.1:${port}`] });
    assert.equal(code, EXIT.unknown);
    assert.match(text, /\? w-1: could not be read: .*could not be reached/);
  });

  it("is 5 for a login that is refused", async () => {
    const other = await new TestSshServer().listen();
    const { code, text } = await run({ ssh: [`root@127.0.0.1:${other.port}`] });
    await other.close();
    assert.equal(code, EXIT.blocked);
    assert.match(text, /✗ .*refused to log in root/);
  });

  it("reads the machines of a list, and of a stack file with its user", async () => {
    const machine = { name: "m-1", role: "worker", address: "127.0.0.1", port: server.port };
    const list = path.join(folder, "list.yaml");
    writeFileSync(list, JSON.stringify([{ ...machine, user: "root" }]));
    facts = { machineId: "a", firewalld: "active" };
    assert.match((await run({ ssh: [], machines: list })).text, /! m-1: firewalld/);
    const stack = path.join(folder, "Pulumi.prod.yaml");
    const cluster = { ssh: { user: "root" }, machines: [machine, { ...machine, name: "m-2" }] };
    writeFileSync(stack, JSON.stringify({ config: { "foresail:cluster": cluster } }));
    const { code, text } = await run({ ssh: [], machines: stack });
    assert.equal(code, EXIT.blocked);
    assert.match(text, /✗ m-2: it has the machine-id of m-1/);
  });

  it("looks at the tools alone when no machine is named", async () => {
    const missing = { name: "Pulumi", level: "refused", sentence: "pulumi could not be run here" } as const;
    assert.equal((await run({ ssh: [] }, [missing])).code, EXIT.blocked);
    assert.equal((await run({ ssh: [] })).code, EXIT.done);
  });

  it("refuses what is not a machine", async () => {
    const file = path.join(folder, "other.yaml");
    writeFileSync(file, "a: 1");
    for (const over of [{ ssh: ["host"] }, { machines: file }, { to: "1.36" }])
      await assert.rejects(run(over), UsageError);
    writeFileSync(file, "- { name: x }");
    await assert.rejects(run({ machines: file }), /a machine has a name and an address/);
  });
});

describe("the tools that foresail needs", () => {
  it("are a Node.js that is new enough, pulumi and a backend that answers", async () => {
    assert.deepEqual([nodeFinding("20.19.0"), nodeFinding("24.1.0")], [[], []]);
    assert.match(nodeFinding("20.18.3")[0]?.sentence ?? "", /20\.18\.3, and foresail needs 20\.19/);
    assert.deepEqual(await toolFindings(() => Promise.resolve("")), []);
    const none = () => Promise.reject(new Error("spawn pulumi ENOENT"));
    assert.match((await toolFindings(none))[0]?.sentence ?? "", /pulumi could not be run here/);
    const loggedOut = (_program: string, command?: string) =>
      command === "whoami"
        ? Promise.reject(
            Object.assign(new Error("failed"), { stderr: "x\nerror: PULUMI_ACCESS_TOKEN must be set\n" }),
          )
        : Promise.resolve("v3.230.0");
    assert.match(
      (await toolFindings(loggedOut))[0]?.sentence ?? "",
      /PULUMI_ACCESS_TOKEN must be set\. Log in: pulumi login/,
    );
  });
});
